"""The fuzzing of every reader: `python -m tests.fuzz.run --inputs 20000`.

Each file is read by one command, in this process. A fault is what no file may cause: a traceback,
another exit code than 0, 1 and 2, a failure without a word, JSON that is none, an escape sequence.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch
from xml.etree import ElementTree

from ledgeragent.cli.main import main as ledgeragent
from ledgeragent.types import parse_json
from tests.fuzz.corpus import FILE, PAGE, STANDARD_INPUT, Command, Reader, readers
from tests.fuzz.mutation import mutated

RESULT = Path(__file__).parents[2] / "benchmarks" / "results" / "fuzz.json"
_DATA = re.compile(r"<script[^>]*application/json[^>]*>(.*?)</script>", re.DOTALL)
_ESCAPES = ("\x1b", "\x00", "\x9b", "\u202e", "\x07")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command did with a file. `fault` is what it must not do, "" where nothing is."""

    reader: str
    number: int
    command: Command
    code: int
    fault: str


def answers(reader: Reader) -> Iterator[tuple[Command, int, int]]:
    """For each command the exit code on each file that is right, by its number."""
    with tempfile.TemporaryDirectory() as folder:
        for command in reader.commands:
            for number, seed in enumerate(reader.seeds):
                outcome = _outcome(reader, number, (seed, command), Path(folder))
                yield command, number, outcome.code


def outcomes(inputs: int, seed: int = 0, only: str = "") -> Iterator[Outcome]:
    """What became of so many files, the kinds in turn; the same files for the same `seed`."""
    kinds = [reader for reader in readers() if only in ("", reader.name)]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(inputs):
            reader = kinds[number % len(kinds)]
            yield _outcome(reader, number, file_of(reader, number, seed), Path(folder))


def file_of(reader: Reader, number: int, seed: int) -> tuple[bytes, Command]:
    """The file of a number, and the command that is to read it."""
    random = Random(f"{seed} {reader.name} {number}")
    content = mutated(random.choice(reader.seeds), random)
    return content, random.choice(reader.commands)


def _outcome(reader: Reader, number: int, fuzzed: tuple[bytes, Command], folder: Path) -> Outcome:
    content, command = fuzzed
    file, page = folder / f"fuzzed{reader.suffix}", folder / "page.html"
    file.write_bytes(content)
    words = [word.replace(FILE, str(file)).replace(PAGE, str(page)) for word in command]
    out, err = io.StringIO(), io.StringIO()
    code, fault = -1, ""
    stdin = io.TextIOWrapper(io.BytesIO(STANDARD_INPUT))
    streams = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
    with streams[0], streams[1], patch("sys.stdin", stdin):
        try:
            code = ledgeragent(words)
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            fault = traceback.format_exc(limit=-4)
    fault = fault or _fault(code, command, out.getvalue(), err.getvalue()) or _page_fault(page)
    for made in folder.iterdir():
        shutil.rmtree(made) if made.is_dir() else made.unlink()
    return Outcome(reader=reader.name, number=number, command=command, code=code, fault=fault)


def _fault(code: int, command: Command, out: str, err: str) -> str:
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if code == 2 and not (err + out).strip():
        return "unusable, and nothing says why"
    if "Traceback" in err:
        return err
    if any(escape in out + err for escape in _ESCAPES):
        return f"a control character: {(out + err)!r:.400}"
    if code == 2 or not out.strip():
        return ""
    if command[-1] in ("json", "sarif"):
        try:
            parse_json(out)
        except ValueError as problem:
            return f"its JSON is none: {problem}"
    if command[-1] == "junit":
        try:
            ElementTree.fromstring(out)
        except ElementTree.ParseError as problem:
            return f"its XML is none: {problem}"
    return ""


def _page_fault(page: Path) -> str:
    """What is wrong with the data in a page, "" where nothing is or there is no page."""
    text = page.read_text(errors="replace") if page.is_file() else ""
    data = _DATA.search(text)
    if data is None:
        return ""
    try:
        parse_json(data[1])
    except ValueError as problem:
        return f"the data of its page are no JSON: {problem}"
    return ""


def main() -> int:
    """Prints how many files were read and what each kind came to; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", default="")
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {RESULT.name}")
    args = parser.parse_args()
    codes: Counter[tuple[str, int]] = Counter()
    faults = 0
    for outcome in outcomes(args.inputs, args.seed, args.reader):
        codes[outcome.reader, outcome.code] += 1
        if outcome.fault:
            faults += 1
            words = " ".join(outcome.command)
            print(f"{outcome.reader} {outcome.number}: {words}\n{outcome.fault}", file=sys.stderr)
    names = sorted({name for name, _ in codes})
    table = {name: {str(code): codes[name, code] for code in (0, 1, 2)} for name in names}
    figures = {"inputs": args.inputs, "seed": args.seed, "faults": faults, "exit_codes": table}
    text = json.dumps(figures, indent=1) + "\n"
    print(text, end="")
    if args.write:
        RESULT.write_text(text)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
