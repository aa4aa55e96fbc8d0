"""CEL against Python: the same comparison of the same values agrees, or the values are refused."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgeragent.compiler.cel.characters import is_readable
from ledgeragent.compiler.loader import load_pack
from ledgeragent.domain import Domain
from ledgeragent.testing import judge
from ledgeragent.verdict import Decision, Kind
from tests.property.world import searched

pytest.importorskip("cel_expr_python")

PACK = """\
schema: ledgeragent/v1
domain: twin
records: {Note: {text: str, texts: "list[str]", by: "dict[str]", inner: {text: str}, any: any}}
reads: {get_note: {to: "notes.{note_id}", record: Note}}
writes: {send: {arguments: {note_id: str, text: str, texts: "list[str]?", any: any}}}
rules:
"""
RULE = """\
  - id: twin/rule
    guards: send
    requires: {note: "notes.{note_id}"}
    check: |
      CHECK
    message: "no: {note.text}"
"""

Twin = Callable[[Any, dict[str, Any]], bool]

TWINS: dict[str, Twin] = {
    "args.text == note.text": lambda a, n: a["text"] == n["text"],
    "args.text != note.text": lambda a, n: a["text"] != n["text"],
    "args.text < note.text": lambda a, n: a["text"] < n["text"],
    "args.text in note.texts": lambda a, n: a["text"] in n["texts"],
    "args.text in note.by": lambda a, n: a["text"] in n["by"],
    "args.texts == note.texts": lambda a, n: a["texts"] == n["texts"],
    "args.text.size() == note.text.size()": lambda a, n: len(a["text"]) == len(n["text"]),
    "args.text.contains(note.text)": lambda a, n: n["text"] in a["text"],
    "args.text.startsWith(note.inner.text)": lambda a, n: a["text"].startswith(n["inner"]["text"]),
    "args.text.endsWith(note.text)": lambda a, n: a["text"].endswith(n["text"]),
    "args.text.matches('^maya')": lambda a, n: re.search("^maya", a["text"]) is not None,
    "note.texts.exists(t, t == args.text)": lambda a, n: any(t == a["text"] for t in n["texts"]),
    "note.texts.all(t, t != args.text)": lambda a, n: all(t != a["text"] for t in n["texts"]),
    "(args.text + note.text).size() > 3": lambda a, n: len(a["text"] + n["text"]) > 3,
    "note.texts.join('|') == args.text": lambda a, n: "|".join(n["texts"]) == a["text"],
    "sorted(note.texts) == sorted(args.texts)": lambda a, n: (
        sorted(n["texts"]) == sorted(a["texts"])
    ),
    "args.text.replace('m', 'n') == note.text": lambda a, n: (
        a["text"].replace("m", "n") == n["text"]
    ),
    "args.any == note.any": lambda a, n: a["any"] == n["any"],
}

HOSTILE = st.one_of(
    st.sampled_from(["\0", "\x01", "\x1f", "\x7f", "\x85", "\ud800", "\udfff", "\n", "\t"]),
    st.sampled_from(["\u0301", "\u202e", "\u200b", "\ufeff", "\uffff", "\U0001f600", "\U0010ffff"]),
    st.sampled_from(["é", "m", "maya", "M", "|", ""]),
)
SMALL = st.lists(HOSTILE | st.text(max_size=3), max_size=5).map("".join)
TEXTS = (
    SMALL
    | st.builds("maya{}{}".format, HOSTILE, SMALL)
    | st.builds(str.__mul__, SMALL, st.just(500))
)
NESTED = st.recursive(
    TEXTS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2)
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments and a record, whose texts are often the same, or begin alike."""
    pool = draw(st.lists(TEXTS, min_size=2, max_size=4))
    pool += [f"{pool[0]}\0{pool[1]}", f"{pool[0]}{pool[1]}"]
    text = st.sampled_from(pool)
    nested = st.sampled_from([draw(NESTED), draw(NESTED), pool[0]])
    arguments = {"note_id": "N1", "text": draw(text), "texts": draw(st.lists(text, max_size=3))}
    note = {"text": draw(text), "texts": draw(st.lists(text, max_size=3))}
    note |= {"by": {draw(text): "x"}, "inner": {"text": draw(text)}}
    return {**arguments, "any": draw(nested)}, {**note, "any": draw(nested)}


@cache
def pack(check: str) -> Domain:
    """The pack whose one rule has this check."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pack.yaml"
        tested = f"has(args.texts) && {check}" if "args.texts" in check else check
        file.write_text(PACK + RULE.replace("CHECK", tested), encoding="utf-8")
        return load_pack(file)


def _read(check: str, arguments: dict[str, Any], note: dict[str, Any]) -> list[Any]:
    """Everything the check reads of either."""
    read = [arguments[name] for name in re.findall(r"args\.(text\b|texts|any)", check)]
    return read + [note[name] for name in re.findall(r"note\.(text\b|texts|by|inner|any)", check)]


@pytest.mark.parametrize("check", TWINS)
@searched
@given(worlds())
@example(
    (
        {"note_id": "N1", "text": "maya\0,eve", "texts": ["maya\0,eve"], "any": "maya\0,eve"},
        {
            "text": "maya",
            "texts": ["maya"],
            "by": {"maya": ""},
            "inner": {"text": "maya"},
            "any": "maya",
        },
    )
)
def test_cel_agrees_with_python_or_refuses(
    check: str, world: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    arguments, note = world
    verdict = judge(pack(check), {"notes.N1": note}, "send", **arguments)
    values = _read(check, arguments, note)
    if not all(map(is_readable, values)):
        assert not verdict.allowed
        return
    if not is_readable([*arguments.values()]):
        return  # refused for what the rule does not read, or not
    expected = TWINS[check](arguments, note)
    assert verdict.allowed is expected, (check, arguments, note, verdict.findings)
    assert verdict.decision is not Decision.BLOCK
    assert all(finding.kind is Kind.VIOLATION for finding in verdict.findings)
