"""Values that were given for parameters, as they were written on a command line or in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ledgeragent.compiler.source.textfile import read_text
from ledgeragent.errors import DataError
from ledgeragent.files.toml import parse_toml
from ledgeragent.types import Json, canonical


class ParameterText(NamedTuple):
    """A value as it was written: text of its type, or JSON where that is `exact`."""

    name: str
    text: str
    exact: bool = False


def read_givens(file: Path) -> Iterator[ParameterText]:
    """The values in a TOML, JSON or YAML file: a mapping of names. Raises DataError for what is none."""
    values = _mapping(file)
    if not isinstance(values, dict):
        raise DataError("it should map the names of parameters to values", file=str(file))
    for name, value in values.items():
        plain = value if isinstance(value, bool | int | float | str | list | dict) else str(value)
        yield ParameterText(str(name), canonical(plain), exact=True)


def _mapping(file: Path) -> Json:
    if file.suffix in (".yaml", ".yml"):
        from ledgeragent.compiler.source.yamlfile import read_yaml

        return read_yaml(file).plain
    text = read_text(file)
    try:
        return json.loads(text) if file.suffix == ".json" else parse_toml(text)
    except (ValueError, RecursionError) as problem:
        form = "JSON" if file.suffix == ".json" else "TOML"
        raise DataError(f"not {form}: {problem}", file=str(file)) from None
