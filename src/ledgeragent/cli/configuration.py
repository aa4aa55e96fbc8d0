"""Options from elsewhere than the command line: a TOML file, and variables of the environment.

Each is read as the words that would stand on the command line, so that all three say the same in the same
way: `max_body = 1000` in a file, `LEDGERAGENT_MAX_BODY=1000` around it, `--max-body 1000` behind it. The
last of these three counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.compiler.problems import suggestion
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.reading import read_text
from ledgeragent.files.toml import parse_toml

PREFIX = "LEDGERAGENT_"

_NO = frozenset({"", "0", "false", "no", "off"})


def words_of_environment(
    parser: argparse.ArgumentParser, environment: Mapping[str, str] = os.environ
) -> list[str]:
    """What the environment says of a verb's options. Of several values each is a word, as in a shell."""
    words: list[str] = []
    for action in parser._actions:
        option = _long(action)
        variable = PREFIX + option[2:].replace("-", "_").upper()
        if not option or option == "--help" or variable not in environment:
            continue
        if variable == DATA_DIR:  # it says where data can be had, not that all of it is meant
            continue
        value = environment[variable]
        if action.nargs == 0:
            words += [] if value.strip().lower() in _NO else [option]
        else:
            values = shlex.split(value) if isinstance(action, argparse._AppendAction) else [value]
            words += (f"{option}={one}" for one in values)
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationFile:
    """A TOML file: `shared` are the words for all routes, `routes` those of each, with their paths."""

    shared: tuple[str, ...]
    routes: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def read(
        cls, file: str, parser: argparse.ArgumentParser, apart: Collection[str]
    ) -> ConfigurationFile:
        """The file; `apart` are options that concern all routes. DataError for what is none, by name."""
        try:
            data = parse_toml(read_text(file))
        except ValueError as problem:
            raise DataError(f"not TOML: {problem}", file=file) from None
        options = {_key(action): action for action in parser._actions if _long(action)}
        reader = _Reader(file, options)
        tables = data.pop("routes", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise DataError("routes: write each as [[routes]]", file=file)
        shared = tuple(reader.words(data, "", ()))
        routes = [
            (reader.path(table, n), tuple(reader.words(table, f"routes[{n}].", apart)))
            for n, table in enumerate(tables)
        ]
        paths = [path for path, _ in routes]
        for path in {path for path in paths if paths.count(path) > 1}:
            raise DataError(f"two routes have the path {path or '/'}", file=file)
        return cls(shared=shared, routes=tuple(routes) or (("", ()),))


@dataclass(frozen=True, slots=True)
class _Reader:
    file: str
    options: Mapping[str, argparse.Action]

    def path(self, table: dict[str, Any], number: int) -> str:
        """Where a route stands, without the slash at its end."""
        path = table.pop("path", "")
        if not isinstance(path, str) or (path and not path.startswith("/")):
            raise DataError(f"routes[{number}].path: should begin with /", file=self.file)
        return path.rstrip("/")

    def words(self, table: Mapping[str, Any], where: str, apart: Collection[str]) -> Iterator[str]:
        for key, value in table.items():
            action = self.options.get(key)
            if action is None or key in ("config", "help"):
                problem = f"{where}{key}: there is no such option"
                raise DataError(f"{problem}{suggestion(key, self.options)}", file=self.file)
            if key in apart:
                raise DataError(
                    f"{where}{key}: it is for all routes; set it at the top", file=self.file
                )
            yield from self._option(action, value, f"{where}{key}")

    def _option(self, action: argparse.Action, value: Any, where: str) -> Iterator[str]:
        option, repeats = _long(action), isinstance(action, argparse._AppendAction)
        if action.nargs == 0:
            if not isinstance(value, bool):
                raise DataError(f"{where}: should be true or false", file=self.file)
            yield from [option] if value else []
        elif repeats and isinstance(value, dict):
            yield from (f"{option}={name}={self._value(v, where)}" for name, v in value.items())
        elif repeats and isinstance(value, list):
            yield from (f"{option}={self._text(one, where)}" for one in value)
        elif isinstance(value, list):
            yield f"{option}={','.join(self._text(one, where) for one in value)}"
        else:
            yield f"{option}={self._text(value, where)}"

    def _value(self, value: Any, where: str) -> str:
        """A value of a table, which may be anything that JSON has."""
        return value if isinstance(value, str) else json.dumps(value, default=str)

    def _text(self, value: Any, where: str) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise DataError(f"{where}: should be text or a number", file=self.file)
        return str(value)


class ExplainingParser(argparse.ArgumentParser):
    """A parser whose complaints are UsageErrors, so that a file is named that they come from."""

    def error(self, message: str) -> NoReturn:
        """Raises it."""
        raise UsageError(message)


def _long(action: argparse.Action) -> str:
    return next((name for name in action.option_strings if name.startswith("--")), "")


def _key(action: argparse.Action) -> str:
    return _long(action)[2:].replace("-", "_")
