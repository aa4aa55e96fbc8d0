"""The corpus: for each reader, files that are right and the commands that read one of that kind."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ledgeragent.journal import Journal
from ledgeragent.types import Json
from tests.bench.results.runs import CANCEL, READ, simulation
from tests.cli.command import BOOK, MEMBER, ROOT, lend
from tests.journal.test_journal import BANK, play
from tests.offline.forms import records
from tests.offline.test_cases import LEND, LONG, case

BANK_NAME = "tests.journal.test_journal:BANK"
NAME = "tests.lending.domain:LIBRARY"
LENDING = "lending"
FILE = "FILE"
"""Stands for the file in a command."""

PAGE = "PAGE"
"""Stands for a file to be written in a command."""

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A kind of file: how its name ends, some that are right, and what reads them."""

    name: str
    suffix: str
    seeds: tuple[bytes, ...]
    commands: tuple[Command, ...]


RUN = {
    "id": "r1",
    "task_id": "t1",
    "reward": 1.0,
    "messages": [{"role": "user", "content": "Lend me Ferns"}, *BOOK, *MEMBER, *lend(99)],
}
RESULTS = {
    "info": {
        "agent_info": {"implementation": "llm_agent", "llm": "m"},
        "environment_info": {"domain_name": "retail"},
    },
    "tasks": [{"id": "1", "evaluation_criteria": {"actions": [READ]}}],
    "simulations": [simulation("1", 0, 1.0, [READ, CANCEL]), simulation("1", 1, 0.0, [READ])],
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_book",
            "description": "Reads a book.",
            "parameters": {
                "type": "object",
                "properties": {"book_id": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["book_id"],
            },
        },
    }
]
OPENAPI = {
    "openapi": "3.0.0",
    "paths": {
        "/books/{id}": {
            "get": {"operationId": "get_book", "parameters": [{"name": "id", "in": "path"}]},
            "post": {"operationId": "lend_book", "requestBody": {"content": {}}},
        }
    },
}
CONFIGURATION = b"""
max_body = 1000
journal = "never-opened.jsonl"
redact = ["users.*.email"]

[[routes]]
path = "/a"
domain = "shop"
"""
PARAMETERS = {
    ".toml": b'today = "2025-03-10"\nrenewal_days = 60\nlargest_waiver = 80.0\n',
    ".json": b'{"today": "2025-03-10", "renewal_days": 60, "largest_waiver": 80.0}',
    ".yaml": b'today: "2025-03-10"\nrenewal_days: 60\nlargest_waiver: 80.0\n',
}


def _text(value: Json) -> bytes:
    return json.dumps(value).encode()


def _lines(*values: Json) -> bytes:
    return b"".join(_text(value) + b"\n" for value in values)


_PARTS = ("BOOK", "LEND", "LOOK")


def _recorded() -> tuple[bytes, ...]:
    """One conversation in every form of which the tests have a record, and packed."""
    forms = {n: v for n, v in vars(records).items() if n.isupper() and isinstance(v, dict | list)}
    texts = [_text(form) for name, form in forms.items() if form and name not in _PARTS]
    runs = _lines(RUN, {**RUN, "id": "r2"})
    return (runs, _text([RUN]), gzip.compress(runs, mtime=0), _archive(), _sessions(), *texts)


def _archive() -> bytes:
    """A log of inspect_ai."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(zipfile.ZipInfo("header.json"), _text({"eval": {"task": "lend"}}))
        archive.writestr(zipfile.ZipInfo("samples/1.json"), _text(RUN))
    return content.getvalue()


def _sessions() -> bytes:
    """A database with a session of the OpenAI Agents SDK."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE agent_messages (id INTEGER, session_id TEXT, message_data TEXT)")
    said = {"role": "user", "content": "Lend me Ferns"}
    call = {"type": "function_call", "call_id": "c", "name": "get_book", "arguments": "{}"}
    for number, item in enumerate((said, call)):
        base.execute("INSERT INTO agent_messages VALUES (?, 's', ?)", (number, json.dumps(item)))
    base.commit()
    content = base.serialize()
    base.close()
    return content


@lru_cache
def _journal(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        with Journal.open(file, BANK) as journal:
            play(journal)
            play(journal, "s2")
        if file.suffix == ".db":
            base = sqlite3.connect(file)
            base.execute("PRAGMA journal_mode=DELETE")
            base.close()
        return file.read_bytes()


def _pack(place: str) -> bytes:
    return (ROOT / place).read_bytes()


def _baseline() -> bytes:
    finding = {
        "predicate": "lending/days",
        "clause": "lending/days",
        "kind": "violation",
        "decision": "revise",
        "enforcement": "enforce",
        "reason": "too long",
    }
    call = {
        "message": 6,
        "call": {"name": "lend_book", "arguments": {"book_id": "B1"}},
        "outcome": "revise",
        "findings": [finding],
    }
    return _text({"ledgeragent": "baseline/1", "domain": LENDING, "runs": {"r1": [call]}})


def _judging(verb: str, *more: str) -> Sequence[Command]:
    formats = ("text", "json", "junit")
    return [(verb, FILE, "--domain", NAME, *more, "--format", form) for form in formats]


def readers() -> tuple[Reader, ...]:
    """Every kind of file that the command reads."""
    recorded = (
        *_judging("replay"),
        *_judging("diff", "--against", NAME),
        ("traces", FILE),
        ("traces", FILE, "--domain", NAME, "--format", "json"),
        ("view", FILE, "--domain", NAME, "-o", PAGE),
        ("explain", f"{FILE}#r1:1", "--domain", NAME),
        ("explain", f"{FILE}#r1:1", "--domain", NAME, "--format", "json"),
        ("replay", FILE, "--domain", NAME, "--write", PAGE),
        ("mine", FILE, "--check", NAME, "--format", "json"),
        ("mine", FILE, "--domain", "mined", "-o", PAGE),
    )
    journal = (
        ("journal", "verify", FILE),
        ("journal", "show", FILE),
        ("journal", "export", FILE),
        ("view", FILE, "--domain", BANK_NAME, "-o", PAGE),
    )
    pack = (
        *(("check", FILE, "--format", form) for form in ("text", "json", "sarif")),
        *(("coverage", FILE, "--format", form) for form in ("text", "json", "markdown")),
        ("test", "--domain", FILE),
    )
    cases = [("test", "--domain", NAME, "--cases", FILE, "--format", f) for f in ("text", "json")]
    kept = {"task_id": "1", "domain": "shop", "arm": "fc", "model": "m", "reward": 1.0}
    results = (_text(RESULTS), _lines(kept, RUN))
    report = [("bench", "report", FILE, "--format", f) for f in ("markdown", "json", "csv")]
    parking = str(ROOT / "examples" / "parking" / "pack.yaml")
    parameters: tuple[Command, ...] = (
        ("check", parking, "--params", FILE, "--format", "json"),
        ("coverage", parking, "--params", FILE),
    )
    tools: tuple[Command, ...] = (
        ("init", "fuzzed", "--tools", FILE, "--out", PAGE),
        ("replay", "-", "--domain", NAME, "--tools", FILE),
    )
    packs = (_pack("examples/parking/pack.yaml"), _pack("tests/planted/library.yaml"))
    rows = _lines(case(LEND, BOOK, MEMBER, id="a"), case(LONG, BOOK, MEMBER, id="b"))
    return (
        Reader(name="recorded", suffix=".jsonl", seeds=_recorded(), commands=recorded),
        Reader(name="journal", suffix=".jsonl", seeds=(_journal("j.jsonl"),), commands=journal),
        Reader(name="database", suffix=".db", seeds=(_journal("j.db"),), commands=journal),
        Reader(name="pack", suffix=".yaml", seeds=packs, commands=pack),
        Reader(name="cases", suffix=".jsonl", seeds=(rows,), commands=tuple(cases)),
        Reader(name="results", suffix=".json", seeds=results, commands=tuple(report)),
        Reader(name="tools", suffix=".json", seeds=(_text(TOOLS), _text(OPENAPI)), commands=tools),
        *(
            Reader(name=f"parameters{suffix}", suffix=suffix, seeds=(seed,), commands=parameters)
            for suffix, seed in PARAMETERS.items()
        ),
        Reader(
            name="baseline",
            suffix=".json",
            seeds=(_baseline(),),
            commands=(("diff", "-", "--domain", NAME, "--baseline", FILE, "--format", "json"),),
        ),
        Reader(
            name="configuration",
            suffix=".toml",
            seeds=(CONFIGURATION,),
            commands=(("gateway", "check", FILE, "--upstream", "http://127.0.0.1:9"),),
        ),
    )


STANDARD_INPUT = _lines(RUN)
"""What `-` is in these commands."""
