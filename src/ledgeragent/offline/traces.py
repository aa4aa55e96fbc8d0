"""Readers of recorded conversations: each becomes a `Trace`, whatever harness wrote it.

The form is told from the content, and each has a module in `forms`. Our trajectories, and results of
tau-bench and tau2, are chat messages with what is known of the run. What the user calls on a device of
their own is the user's turn, not the agent's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

from ledgeragent.errors import DataError
from ledgeragent.offline.envelopes import enclosed, is_filled
from ledgeragent.offline.forms import chat
from ledgeragent.offline.forms.chat import write_chat
from ledgeragent.offline.forms.form import Dialogue, Form, listed
from ledgeragent.offline.forms.registry import NoFormError, form_of, reasons, stream_of
from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.offline.heads import Trace as Trace
from ledgeragent.offline.heads import head
from ledgeragent.offline.heads import tool_names as tool_names
from ledgeragent.offline.lines import stripped_line
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.repeats import unrepeated
from ledgeragent.offline.runlines import PlainRun, RunLines
from ledgeragent.offline.sources import pieces, records
from ledgeragent.types import Json, Message


def read_traces(file: str, form: Form | None = None) -> Iterator[Trace | DataError]:
    """Every conversation of a file (`-` is stdin); a broken one is given as what is wrong with it.

    Holds a piece at a time of JSON Lines, the whole of a JSON document. `form` is the one to read it
    as, else the content tells.
    """
    for piece in pieces(file, together):
        yield from traces_of(piece, form=form)


def together(values: list[Json]) -> bool:
    """True if JSON Lines that begin with these values have to be read as a whole.

    Their lines are parts of one record, or requests that repeat what was said before.
    """
    if stream_of(values) is not None:
        return True
    dialogues = [listed(value, "messages") or [] for value in values if not _is_run(value)]
    return any(0 < len(a) < len(b) and b[: len(a)] == a for a, b in pairwise(dialogues))


def _is_run(value: Json) -> bool:
    """True for a record of a run, which stands for itself whatever another begins with."""
    return isinstance(value, dict) and not value.keys().isdisjoint(
        ("benchmark", "task_id", "reward")
    )


def traces_of(
    piece: Piece,
    accepts: Callable[[Trace], bool] = lambda head: True,
    form: Form | None = None,
) -> Iterator[Trace | DataError]:
    """The conversations of one piece of a file.

    Those that nobody `accepts`, by what the record says apart from its messages, come without them.
    """
    yield from unrepeated(_traces_of(piece, accepts, form))


def _traces_of(
    piece: Piece, accepts: Callable[[Trace], bool], form: Form | None
) -> Iterator[Trace | DataError]:
    run_lines = RunLines()
    values = records(piece, run_lines.value)
    first = list(islice(values, 1))
    if form is not None or not all(_is_ours(value) for _, value in first):
        first += values
    elif first:
        run_lines.begin(first[0][1], piece.size)
    lines = [(line, value) for line, value in first if not isinstance(value, DataError)]
    stream = _stream(piece, [value for _, value in lines], form)
    if stream is None:
        # One by one, so that few values are held at once: runs are large beside what is made of them.
        for line, value in chain(first, values):
            if isinstance(value, DataError):
                yield value
            elif type(value) is PlainRun:
                yield from _of_run(value, piece, line, accepts)
            else:
                yield from _of_value(value, piece, line, accepts, form)
        return
    yield from (value for _, value in first if isinstance(value, DataError))
    own = [(line, value) for line, value in lines if not _stands_alone(value, stream)]
    numbers = [line for line, _ in own]
    for line, value in lines:
        if _stands_alone(value, stream):
            yield from _of_value(value, piece, line, accepts, form)
        elif line == numbers[0]:
            source = RecordPlace(piece.file, str(line), line, numbers)
            yield from _of_form(stream, [value for _, value in own], source, accepts)


def _stream(piece: Piece, values: list[Json], form: Form | None) -> Form | None:
    if piece.document or not values:
        return None
    if form is None:
        return None if _is_ours(values[0]) else stream_of(values)
    return form if form.streams and form.unfit(values) is None else None


def _stands_alone(element: Json, form: Form) -> bool:
    """True for an element of a list of this form, or a line among its lines, that is no part of it."""
    return _is_ours(element) or not form.part(element)


class RecordPlace(NamedTuple):
    """Where a record stands: its file, its place there, its line, and the lines of its elements."""

    file: str
    place: str
    line: int
    lines: Sequence[int] = ()


def _of_run(
    run: PlainRun, piece: Piece, line: int, accepts: Callable[[Trace], bool]
) -> Iterator[Trace | DataError]:
    """The conversation of a run; read anew as any record where it cannot be read, to say why."""
    record = run.dialogue.record
    try:
        trace = head(chat.FORM.name, record, f"{piece.file}:{line}")
        if accepts(trace):
            trace = _filled(trace, run.dialogue, Scribe(), record)
    except _UNREADABLE:
        value = stripped_line(run.text, piece.file, line)
        yield from _of_value(value, piece, line, accepts, None)
        return
    yield trace


def _of_value(
    value: Json,
    piece: Piece,
    line: int,
    accepts: Callable[[Trace], bool],
    form: Form | None,
    at: str = "",
) -> Iterator[Trace | DataError]:
    """The conversations of one JSON value, which stands `at` a place of its line."""
    if form is None and _is_ours(value) and "simulations" not in value:
        source = RecordPlace(piece.file, at or str(line), line)
        yield from _of_form(chat.FORM, value, source, accepts, fits=True)
        return
    for place, record in enclosed(value, at or str(line), form):
        source = RecordPlace(piece.file, place, line)
        own = form if form is not None else _form(record)
        if not isinstance(own, Form):
            yield NoFormError(f"{_inside(place)}{own}", piece.file, line, _reasons(record))
            continue
        listed_here = record if own.streams and isinstance(record, list) else []
        alone = [n for n, element in enumerate(listed_here) if _stands_alone(element, own)]
        if alone:
            record = [element for n, element in enumerate(record) if n not in {*alone}]
        if record or not alone:
            yield from _of_form(own, record, source, accepts)
        for n in alone:
            element, spot = listed_here[n], f"{place}#{n + 1}"
            yield from _of_value(element, piece, line, accepts, form, spot)


def _reasons(record: Json) -> tuple[tuple[str, str], ...]:
    return reasons(record) if record and isinstance(record, dict | list) else ()


def _form(record: Json) -> Form | str:
    """The form of a record, or why it has none."""
    if record == []:
        return "no conversation: the list is empty"
    if not isinstance(record, dict | list):
        return "a recorded conversation is a JSON object or a list of messages"
    if _is_ours(record):
        return chat.FORM
    return form_of(record) or f"no conversation: {_lacking(record)}"


def _is_ours(record: Json) -> bool:
    """True for what this project or a benchmark writes, which is many runs and needs no other look."""
    if not isinstance(record, dict) or not ("benchmark" in record or "traj" in record):
        return False
    return chat.FORM.unfit(record) is None


def _of_form(
    form: Form,
    record: Json,
    source: RecordPlace,
    accepts: Callable[[Trace], bool],
    *,
    fits: bool = False,
) -> Iterator[Trace | DataError]:
    """The conversations that a form holds in a record; `fits` where it was asked whether it does."""
    try:
        if not fits and (why := form.unfit(record)) is not None:
            raise ValueError(f"it is no {form.title} ({form.name}): {why}")
        dialogues = [*form.dialogues(record)]
    except _UNREADABLE as problem:
        yield _problem(problem, source, None)
        return
    for number, dialogue in enumerate(dialogues, 1):
        place = source.place if len(dialogues) == 1 else f"{source.place}#{number}"
        scribe = Scribe()
        try:
            trace = head(form.name, dialogue.record, f"{source.file}:{place}")
            yield _filled(trace, dialogue, scribe, record) if accepts(trace) else trace
        except _UNREADABLE as problem:
            yield _problem(problem, source, scribe)


_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError)


def _filled(head: Trace, dialogue: Dialogue, scribe: Scribe, record: Json) -> Trace:
    scribe.timed(dialogue.record)
    dialogue.write(scribe)
    if not scribe.messages:
        raise ValueError("no conversation: there is no message in it")
    return head.fill(
        tuple(scribe.messages),
        tuple(sorted(scribe.left_out.items())),
        () if head.benchmark or scribe.calls else reasons(record),
    )


def _problem(problem: Exception, source: RecordPlace, scribe: Scribe | None) -> DataError:
    """What is wrong with a conversation, at the line of the element that could not be read."""
    text = _shown(problem) if scribe is None else scribe.at(_shown(problem))
    number = scribe.place if scribe is not None else None
    line = source.lines[number - 1] if number is not None and source.lines else source.line
    return DataError(f"{_inside(source.place)}{text}", file=source.file, line=line)


def read_messages(messages: Json) -> tuple[Message, ...]:
    """The messages of a conversation in the form of OpenAI's chat; raises ValueError for others."""
    if not isinstance(messages, list):
        raise ValueError("the messages are not a list")
    scribe = Scribe(pairing=False)
    try:
        write_chat(messages, scribe)
    except _UNREADABLE as problem:
        raise ValueError(scribe.at(_shown(problem))) from None
    return tuple(scribe.messages)


def _lacking(record: Json) -> str:
    """Why a record without messages has none."""
    if not isinstance(record, dict):
        return "its elements are no messages that are known"
    for name in ("traj", "messages", "simulations"):
        if record.get(name) is not None and not is_filled(record[name]):
            return f'"{name}" is {"empty" if record[name] == [] else "no list"}'
    return 'expected a list under "messages" or "traj"'


def _inside(place: str) -> str:
    _, mark, number = place.partition("#")
    return f"record {number}: " if mark else ""


def _shown(problem: Exception) -> str:
    if isinstance(problem, KeyError):
        return f"it has no {problem}"
    return "it is no message object" if not isinstance(problem, ValueError) else str(problem)
