"""The survey of a recording: the conduct of every tool, and what each tool is."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from functools import cache

from ledgeragent.compiler.guesses import READ_WORDS, WRITE_WORDS, guess, words_of
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.mining.asking import asks_by_name
from ledgeragent.mining.callhistory import CallHistory, is_prose
from ledgeragent.mining.conduct import Conduct
from ledgeragent.types import canonical

_FEW_ANSWERS = 3
_WORDS = 3
"""Spaces in a free text: more than a name has."""
_LEAST_CALLS = 5


class Survey:
    """The tools of a recording by name, each with its conduct. `runs` counts the conversations.

    `unanswered` counts calls that nothing answered, by tool.
    """

    def __init__(self) -> None:
        self.conducts: dict[str, Conduct] = {}
        self.runs = 0
        self.unanswered: Counter[str] = Counter()

    def add(self, history: CallHistory) -> None:
        """Counts a conversation."""
        self.runs += 1
        self.unanswered.update(history.unanswered)
        for step in history.steps:
            name = step.tool
            if not reads_by_name(name):
                for conduct in self.conducts.values():
                    conduct.forget()
            self.conducts.setdefault(name, Conduct(name)).add(step, history.number)
        self._compare(history)

    def _compare(self, history: CallHistory) -> None:
        """Notes which tools stand between two equal calls, and whether their answers are equal."""
        last: dict[tuple[str, str], tuple[int, int]] = {}
        for number, step in enumerate(history.steps):
            if step.failure is not None or is_prose(step.value):
                continue
            key = step.call.intent
            answer = zlib.crc32(canonical(step.value).encode("utf-8", "surrogatepass"))
            before, last[key] = last.get(key), (number, answer)
            if before is None:
                continue
            between = {
                other.tool
                for other in history.steps[before[0] + 1 : number]
                if other.failure is None and other.tool != step.tool
            }
            self.conducts[step.tool].repeated += before[1] == answer
            suspects = {tool for tool in between if not reads_by_name(tool)} or between
            for tool in suspects:
                self.conducts[tool].calm += before[1] == answer
            if len(suspects) == 1 and before[1] != answer:
                self.conducts[suspects.pop()].blamed += 1


@cache
def reads_by_name(tool: str) -> bool:
    """True if the name begins with a word for reading, or asks something."""
    return guess(ToolSpec(name=tool))[0] == "read" or asks_by_name(tool)


def kind_of(conduct: Conduct, specs: Mapping[str, ToolSpec]) -> tuple[str, str]:
    """(`read`, `write` or `neutral`; why). What a tool did can make a guess stricter.

    It makes it looser only where the name says neither reading nor writing.
    """
    spec = specs.get(conduct.tool, ToolSpec(name=conduct.tool))
    kind, _ = guess(spec)
    if kind == "read" and conduct.blamed > max(1, conduct.calm):
        return "write", f"reads answered otherwise {conduct.blamed} times after it alone"
    if kind == "write" and asks_by_name(conduct.tool) and not _is_told_to_write(spec):
        if conduct.blamed > max(1, conduct.calm):
            return "write", _of_write(conduct)
        return "read", f"its name, which asks; equal calls answered alike {conduct.repeated} times"
    if kind == "read":
        return kind, f"its name; equal calls answered alike {conduct.repeated} times"
    if kind == "neutral":
        return kind, "its name"
    words = words_of(conduct.tool)
    if (
        conduct.blamed
        or _is_told_to_write(spec)
        or words[0] in WRITE_WORDS
        or READ_WORDS & {*words}
    ):
        return "write", _of_write(conduct)
    if _says_nothing(conduct):
        return "neutral", f"it answers with nothing that was read, {conduct.executed} times"
    if conduct.repeated >= _LEAST_CALLS and conduct.calm >= _LEAST_CALLS:
        return "read", f"equal calls answered alike {conduct.repeated} times, nothing changed"
    return "write", _of_write(conduct)


def _is_told_to_write(spec: ToolSpec) -> bool:
    changes = spec.method not in ("", "get", "head")
    return spec.destructive is True or spec.read_only is False or changes


def _of_write(conduct: Conduct) -> str:
    if conduct.blamed:
        return f"reads answered otherwise {conduct.blamed} times after it alone"
    return "its name, or nothing that says it only reads"


def _says_nothing(conduct: Conduct) -> bool:
    """True for a tool that takes free text and answers with one of a few texts, or with nothing."""
    if conduct.executed < _LEAST_CALLS or conduct.answer.kinds.keys() - {"str", "null"}:
        return False
    answers = conduct.answer.values
    texts = [profile.values for profile in conduct.arguments.values()]
    free = all(v is None or any(text.count(" ") >= _WORDS for text in v) for v in texts)
    return answers is not None and len(answers) <= _FEW_ANSWERS and bool(texts) and free
