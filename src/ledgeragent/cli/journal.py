"""`ledgeragent journal`: is a journal whole, what does it say, and its conversations for `replay`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.cli.journalproof import print_proof
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.keys import shown_address
from ledgeragent.journal import (
    Checkpoints,
    Event,
    Head,
    JsonlStore,
    SqliteStore,
    Store,
    open_store,
    verify,
)
from ledgeragent.journal.chainwriter import utc_now
from ledgeragent.journal.checkpoints import CheckpointPlan, is_address, signer_of
from ledgeragent.journal.erasure import erase
from ledgeragent.journal.places import head_place
from ledgeragent.journal.proof import prove
from ledgeragent.journal.records import sound_records
from ledgeragent.journal.signing import make_keys
from ledgeragent.journal.stores import SeveralChains
from ledgeragent.journal.transcripts import exported
from ledgeragent.report.parts import SENTENCE, shorten

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


_ACTIONS = ("verify", "show", "export", "head", "keygen", "erase")


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "journal",
        help=VERBS["journal"],
        description="verify recomputes the hash chain; show prints one line an event, cut "
        "where it is long; export prints each conversation as an OpenAI message list, one a line, for "
        "`replay -`. head prints the journal's head as it is now, to be kept elsewhere. keygen writes a "
        "new private key to FILE and the public one to FILE.pub. erase takes a conversation out and "
        "leaves the hashes of its records.",
        epilog="verify exits 1 if a record was changed, removed, reordered or torn, is oddly dated, or a "
        "head is not come past. Without a head that was kept elsewhere it cannot see that the last "
        "records are gone, nor that the whole file was written anew. head and erase exit 1 if a place "
        "did not take the head.",
    )
    parser.add_argument("action", choices=_ACTIONS)
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a journal: JSON Lines, SQLite (.db, .sqlite), or postgresql://... with all its chains",
    )
    parser.add_argument("--session", metavar="ID", help="only this conversation")
    parser.add_argument(
        "--chain", metavar="NAME", help="erase: a whole chain of a database that nobody writes"
    )
    parser.add_argument(
        "--head",
        dest="heads",
        action="append",
        default=[],
        metavar="FILE",
        help="verify: heads that were kept, which the journal has to come past; may be given again",
    )
    parser.add_argument(
        "--key",
        metavar="FILE",
        help="verify: the public key that must have signed the heads; head and erase: the private one",
    )
    parser.add_argument(
        "--key-env", metavar="NAME", help="head, erase: the variable that holds the private key"
    )
    parser.add_argument(
        "--to",
        dest="places",
        action="append",
        default=[],
        metavar="PLACE",
        help="head: where it goes besides: a file, syslog:, syslog:SOCKET, syslog:HOST:PORT (UDP) or a URL",
    )
    parser.add_argument(
        "--since",
        type=_moment,
        metavar="TIME",
        help="verify: take the records that a head from before then covers as they stand, e.g. 2026-11-28 "
        "or 2026-11-28T09:00:00Z; without heads, those in front that are older",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carries the action out; 1 where `verify` finds something, or a record cannot be read."""
    if args.action == "keygen":
        print(make_keys(Path(args.file)))
        return 0
    if args.action == "erase":
        return _erase(args)
    store = open_store(args.file)
    try:
        if is_address(args.file):
            from ledgeragent.cli.journalchains import head, verify_all

            args.file = shown_address(args.file)
            action = {"verify": verify_all, "head": head}.get(args.action, _print)
            return action(store, args)
        if args.action == "verify":
            return _verify(store, args)
        if args.action == "head":
            return _head(store, args)
        return _print(store, args)
    finally:
        store.close()


def _verify(store: Store, args: argparse.Namespace) -> int:
    proof = prove(store, args.file, head_files=args.heads, key=args.key, since=args.since)
    print_proof(args.file, proof, args.key)
    return 1 if proof.faults else 0


def _head(store: Store, args: argparse.Namespace) -> int:
    chain = verify(store)
    if not chain.intact or not chain.records:
        problem = chain.problem or "there is no record in it"
        print(f"ledgeragent: {args.file}: {problem}", file=sys.stderr)
        return 1
    head = Head(records=chain.records, hash=chain.head, time=utc_now(), origin=chain.origin)
    signer = signer_of(args.key, args.key_env)
    places = tuple(map(head_place, args.places))
    checkpoints = Checkpoints(signer=signer, places=places)
    print(checkpoints.keep(head).line())
    return 1 if checkpoints.close() else 0


def _plan(args: argparse.Namespace) -> CheckpointPlan:
    return CheckpointPlan(key=args.key, key_variable=args.key_env, places=tuple(args.places))


def _erase(args: argparse.Namespace) -> int:
    if (args.session is None) == (args.chain is None):
        raise UsageError(
            "name what is to be erased: a conversation with --session, or a chain of a database "
            "with --chain"
        )
    plan = _plan(args)
    if is_address(args.file):
        from ledgeragent.journal.burial import bury, drop

        count, lost = (
            bury(args.file, args.session, plan)
            if args.session is not None
            else drop(args.file, args.chain, plan)
        )
    elif args.session is None:
        raise UsageError("--chain: a file is one chain; delete the file")
    else:
        count, lost = erase(args.file, args.session, plan)
    what = args.session if args.session is not None else f"chain {args.chain}"
    print(f"{shown_address(args.file)}: {count} records of {what} erased")
    return 1 if lost else 0


def _print(store: Store, args: argparse.Namespace) -> int:
    tally = _Tally(args.file)
    records = tally.sound(store, args.session)
    lines = map(_line, records) if args.action == "show" else map(_json, exported(records))
    for line in lines:
        print(line)
    return 1 if tally.broken else 0


class _Tally:
    """The records of a journal one by one; those that are none are told, counted and left out."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.broken = 0

    def sound(self, store: Store, session: str | None) -> Iterator[Event]:
        """Every record that can be read, of one conversation or of all."""
        for problem in _problems(store):
            print(f"ledgeragent: warning: {self._file}: {problem}", file=sys.stderr)
        for record in sound_records(store, self._file):
            if isinstance(record, DataError):
                self.broken += 1
                print(f"ledgeragent: skipped: {record}", file=sys.stderr)
            elif session in (None, record["session"]):
                yield record


def _problems(store: Store) -> Iterator[str]:
    """What keeps a chain from being whole, of each that there is."""
    stores: Mapping[str, Store] = {"": store}
    if not isinstance(store, JsonlStore | SqliteStore):
        from ledgeragent.cli.journalchains import chains_of

        stores = chains_of(store)
    for name, each in stores.items():
        buried = each.erased() if isinstance(each, SeveralChains) else ()
        chain = verify(each, buried=buried)
        if not chain.intact:
            yield f"{name}{chain.problem}"


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


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "write a date, or a time as 2026-11-28T09:00:00Z"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
