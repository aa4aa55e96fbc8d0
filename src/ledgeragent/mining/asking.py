"""Asking: names of tools that only ask, though they begin with something else than a word for reading."""

from __future__ import annotations

from functools import cache

from ledgeragent.compiler.guesses import WRITE_WORDS, words_of

_UNMISTAKABLE = frozenset(
    ("describe", "fetch", "find", "get", "list", "lookup", "retrieve", "search")
)
_ASKING = frozenset(("can", "check", "has", "is"))


def asks_by_name(tool: str) -> bool:
    """True for `shop_get_order`, behind a label, and for a question: `has_card`, `check_user_exists`.

    What the tool did may speak against it: such a name is a guess.
    """
    words = words_of(tool)
    if _is_labelled(words) and words[1] in _UNMISTAKABLE:
        return True
    if words[-1] in ("exist", "exists"):
        return words[0] not in WRITE_WORDS
    begin = int(_is_labelled(words))
    verb, thing = words[begin], words[begin + 1 : begin + 2]
    return (
        verb in _ASKING
        and bool(thing)
        and (verb, *thing) not in (("check", "in"), ("check", "out"))
    )


@cache
def unlabelled(tool: str) -> str:
    """The name without a label before a verb that asks: `get_order` for `shop_get_order`."""
    words = words_of(tool)
    return "_".join(words[1:]) if _is_labelled(words) and asks_by_name(tool) else tool


def _is_labelled(words: list[str]) -> bool:
    verbs = _UNMISTAKABLE | _ASKING
    return words[0] not in WRITE_WORDS | verbs and len(words) > 1 and words[1] in verbs
