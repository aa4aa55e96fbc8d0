"""`ledgeragent journal`: is a journal whole, what does it say, and its conversations for `replay`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ledgeragent.errors import DataError
from ledgeragent.journal import Event, Store, open_store, read, verify
from ledgeragent.journal.transcripts import exported
from ledgeragent.report.parts import SENTENCE, shorten

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "journal",
        help="verify, show or export a journal",
        description="verify recomputes the hash chain; show prints one line an event, cut "
        "where it is long; export prints each conversation as an OpenAI message list, one a line, for "
        "`replay -`.",
        epilog="verify exits 1 if a record was changed, removed from the middle, reordered or torn. "
        "That the last records are gone it cannot see: compare the head it prints with one that was "
        "noted elsewhere.",
    )
    parser.add_argument("action", choices=("verify", "show", "export"))
    parser.add_argument(
        "file", metavar="FILE", help="a journal: JSON Lines, or SQLite (.db, .sqlite)"
    )
    parser.add_argument("--session", metavar="ID", help="only this conversation")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carries the action out; 1 where `verify` finds something."""
    store = open_store(args.file)
    try:
        if args.action == "verify":
            return _verify(store, args.file)
        records = _records(store, args.session, args.file)
        lines = map(_line, records) if args.action == "show" else map(_json, exported(records))
        for line in lines:
            print(line)
        return 0
    finally:
        store.close()


def _verify(store: Store, file: str) -> int:
    chain = verify(store)
    if chain.problem is not None:
        print(f"{file}: {chain.problem}; the {chain.records} before it are intact")
        return 1
    if chain.torn:
        print(f"{file}: {chain.records} records intact, then {chain.torn} bytes of a torn one")
        return 1
    print(f"{file}: {chain.records} records intact, head {chain.head}")
    return 0


def _records(store: Store, session: str | None, file: str) -> Iterable[Event]:
    chain = verify(store)
    if not chain.intact:
        print(f"ledgeragent: warning: {file}: {chain.problem}", file=sys.stderr)
    try:
        yield from (r for r in read(store) if session in (None, r.get("session")))
    except ValueError as problem:
        raise DataError(f"not a journal: {problem}", file=file) from None


def _line(record: Event) -> str:
    session = shorten(record["session"] or "-")
    who = f"{record['seq']:>6} {record['time']} {session} {record['event']}"
    return shorten(f"{who}  {_told(record)}", SENTENCE)


def _told(record: Event) -> str:
    match record["event"]:
        case "heard":
            return _json(record["text"])
        case "proposed":
            names = ", ".join(call["name"] for call in record["calls"])
            return names or _json(record["text"])
        case "judged":
            mark = " (shadow)" if record["shadow"] else ""
            words = (
                f"{v['call']['name']}={v.get('word', v['decision'])}" for v in record["verdicts"]
            )
            return ", ".join(words) + mark
        case "observed" | "executed":
            return f"{record['call']['name']} -> {', '.join(record['stored']) or record['skipped']}"
        case _:
            return ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
