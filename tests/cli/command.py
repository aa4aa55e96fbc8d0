"""The command as users run it, and recorded conversations of the lending library to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ledgeragent.types import Json
from tests.cli.forks import ROOT, forks
from tests.lending.domain import ADA, BOOK_IN


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)


def ledgeragent(
    *arguments: str | Path, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> Done:
    """Runs the command in a process of its own, with these variables beside ours."""
    words, around = [*map(str, arguments)], {**os.environ, **(env or {})}
    if (near := forks()) is not None and near.fits(around):
        code, out, err = near.run(words, stdin, around)
        return Done(code, out.decode(), err.decode())
    command = [sys.executable, "-m", "ledgeragent", *words]
    done = subprocess.run(
        command, input=stdin, capture_output=True, check=False, cwd=ROOT, env=around
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def said(text: str) -> Json:
    return {"role": "user", "content": text}


def called(name: str, arguments: Json, content: Json, **extra: Json) -> list[Json]:
    """A call and what came back. Arguments and content that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    answer = content if isinstance(content, str) else json.dumps(content)
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": text}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": name, "content": answer, **extra},
    ]


BOOK = called("get_book", {"book_id": "B1"}, BOOK_IN)
MEMBER = called("get_member", {"member_id": "M1"}, ADA)
OWES = called("get_member", {"member_id": "M1"}, {**ADA, "fines": 2.5})


def lend(days: Json = 5, content: Json = "lent") -> list[Json]:
    return called("lend_book", {"member_id": "M1", "book_id": "B1", "days": days}, content)


def run(id: str, *steps: list[Json], **known: Json) -> Json:
    """A record in our own form."""
    messages = [said("Lend me Ferns"), *(message for step in steps for message in step)]
    return {"id": id, "benchmark": "tau2", "domain": "lending", "messages": messages, **known}


RUNS: list[Json] = [
    run("good", BOOK, MEMBER, lend(), task_id="1", reward=1.0),
    run("long", BOOK, lend(99), task_id="2", reward=0.0),
    run("owes", BOOK, OWES, lend(), task_id="3", reward=1.0),
    run("asked", BOOK, lend(5, "Error: who is it?"), MEMBER, lend(), task_id="4", reward=1),
    run("unread", called("move_member", {"member_id": "M1", "city": "Delft"}, "moved")),
    run("strange", BOOK, nonstandard_tools=["burn_book"], reward=1),
    run("shop", BOOK, domain="shop"),
    run("old", BOOK, lend(), benchmark="tau", task_id="5", reward=0.0),
    run("odd", called("lend_book", '{"member_id": ', "lent"), reward=0.0),
    run("fails", called("shelve_book", {"book_id": "B1"}, "shelved"), reward=0.0),
]


def jsonl(*records: Json) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)
