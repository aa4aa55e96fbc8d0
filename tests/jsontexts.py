"""JSON texts of every kind, right and wrong, and what a decoder says of one."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from hypothesis import strategies as st

numbers = st.one_of(
    st.integers(),
    st.integers(min_value=10**17, max_value=10**21),
    st.integers(max_value=-(10**17), min_value=-(10**21)),
    st.floats(),
).map(json.dumps)
spelled = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,4})?", fullmatch=True)
strings = st.text(st.characters(codec=None), max_size=8).map(json.dumps)
words = st.sampled_from(
    ["null", "true", "NaN", "-Infinity", "Infinity", "nan", '"\\ud800"', "", "x"]
)
blanks = st.sampled_from(["", " ", "\n", "\t\r", "\x0c", "\u00a0"])


def _inside(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.lists(inner, max_size=4).map(lambda parts: f"[{','.join(parts)}]")
    pairs = st.tuples(st.sampled_from(['"a"', '"b"', '"\\u0061"']), inner).map(":".join)
    objects = st.lists(pairs, max_size=4).map(lambda parts: f"{{{','.join(parts)}}}")
    return st.tuples(blanks, st.one_of(lists, objects), blanks).map("".join)


texts = st.recursive(st.one_of(numbers, spelled, strings, words), _inside, max_leaves=12)


def told(text: bytes, by: Callable[[bytes], object]) -> str:
    """The value as Python shows it, with its types and the order of its keys; or what is wrong."""
    try:
        return repr(by(text))
    except RecursionError:
        return "too deep"
    except ValueError as problem:
        return f"{type(problem).__name__}: {problem}"


def told_of_deep(text: bytes, *decoders: Callable[[bytes], object]) -> set[str]:
    """What decoders say of a text, whose value may be too deep to be shown otherwise."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        return {told(text, by) for by in decoders}
    finally:
        sys.setrecursionlimit(limit)
