"""The conduct of a tool: how it was called and what it answered, over all conversations."""

from __future__ import annotations

import json
import zlib
from collections import Counter

from ledgeragent.compiler.day import is_day
from ledgeragent.mining.callhistory import AnsweredCall, is_prose
from ledgeragent.mining.naming import scalars
from ledgeragent.mining.profile import Profile
from ledgeragent.mining.sketch import Sketch
from ledgeragent.types import Json, ToolCall, canonical

_MOST_FAILURES = 200


class Conduct:
    """What one tool did.

    `calls` counts calls and `runs` the conversations with one; `executed` the calls that did not fail.
    `arguments` and `answer` are what executed calls took and gave. `echoes` counts answers in which a
    field repeats an argument, by (argument, field). `lists` counts answered lists of several objects,
    `telling` those in which a key, or a key and
    a day, tell all different ones apart. `calm` and `blamed` count equal reads
    around a call of this tool alone that did not, or did, answer differently. `asked` are the values of
    each argument (`lines.sku` for those in a list), `texts` the answers that are plain text.
    """

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.calls = self.runs = self.executed = self.lists = 0
        self.failures: Counter[str] = Counter()
        self.arguments: dict[str, Profile] = {}
        self.answer = Profile()
        self.echoes: Counter[tuple[str, str]] = Counter()
        self.telling: Counter[tuple[str, ...]] = Counter()
        self.calm = self.blamed = self.repeated = 0
        self.asked: dict[str, Sketch] = {}
        self.texts = Sketch()
        self._written: Counter[str] = Counter()
        self.clashes: Counter[tuple[str, str]] = Counter()
        self._run = 0
        self._listed: dict[tuple[str, str], tuple[ToolCall, Json]] = {}

    def add(self, step: AnsweredCall, run: int) -> None:
        """Counts a call of the tool in this conversation."""
        self.calls += 1
        if run != self._run:
            self._run = run
            self.runs += 1
            self.forget()
        if step.failure is not None:
            if len(self.failures) < _MOST_FAILURES or step.failure in self.failures:
                self.failures[step.failure] += 1
            return
        self.executed += 1
        record = subject(step.call)
        for name, value in step.call.arguments.items():
            self.arguments.setdefault(name, Profile()).add(value, run, record)
        for place, text in scalars(step.call.arguments):
            self.asked.setdefault(place, Sketch()).add(text)
        if isinstance(step.value, str) and not is_prose(step.value):
            self.texts.add(step.value)
            self._written[_written_kind(step.value)] += 1
        self.answer.add(step.value, run, record)
        if type(step.value) is dict:
            self._add_echoes(step.call, step.value)
        items = elements(inner_list(step.value))
        self._add_list(items)
        self._add_clashes(step.call, items)

    def _add_echoes(self, call: ToolCall, answer: dict[str, Json]) -> None:
        plain = {name: value for name, value in answer.items() if isinstance(value, str | int)}
        for argument, wish in call.arguments.items():
            if isinstance(wish, str | int) and not isinstance(wish, bool):
                for name, value in plain.items():
                    self.echoes[argument, name] += str(wish) == str(value)

    def _add_list(self, items: list[Json]) -> None:
        if len(items) < 2 or not all(type(item) is dict for item in items):
            return
        self.lists += 1
        different = {canonical(item): item for item in items}.values()
        days = [
            name for name, value in items[0].items() if isinstance(value, str) and is_day(value)
        ]
        for name in filter(is_key_name, items[0]):
            for names in ((name,), *((name, day) for day in days)):
                values = [canonical([item.get(n) for n in names]) for item in different]
                self.telling[names] += len({*values}) == len(values)

    def _add_clashes(self, call: ToolCall, items: list[Json]) -> None:
        """Notes equal keys of different elements, with the arguments in which their calls differ."""
        for item in items:
            for name in item if type(item) is dict else ():
                if not is_key_name(name) or not isinstance(item[name], str | int):
                    continue
                before = self._listed.setdefault((name, str(item[name])), (call, item))
                if before[1] != item:
                    self.clashes[name, ""] += 1
                    for argument, value in call.arguments.items():
                        self.clashes[name, argument] += before[0].arguments.get(argument) != value

    def forget(self) -> None:
        """Forgets what was listed: a write may have changed it."""
        self._listed = {}

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that every executed call had."""
        return tuple(n for n, p in self.arguments.items() if p.count == self.executed)

    @property
    def written(self) -> str:
        """`int`, `float` or `bool` where all answers are texts that write such a value, else `str`."""
        kinds = self._written.keys()
        if self._written.total() < self.executed or not kinds or kinds - {"int", "float"}:
            return "bool" if kinds == {"bool"} and self._written.total() == self.executed else "str"
        return "float" if "float" in kinds else "int"

    def echoing(self, argument: str) -> str | None:
        """The field of the answer that repeats this argument, None for none."""
        counts = {f: n for (a, f), n in self.echoes.items() if a == argument and n}
        holders = self.answer.fields
        likely = [f for f, n in counts.items() if n >= 0.95 * holders[f].count]
        if argument in likely:
            return argument
        often = [
            f for f in likely if counts[f] > 4 and holders[f].count == self.answer.kinds["dict"]
        ]
        return next(iter(often), None)


def _written_kind(text: str) -> str:
    """What a text writes, as JSON does; an id with leading zeros is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return "str"
    kind = type(value).__name__
    return kind if kind in ("int", "float", "bool") else "str"


def subject(call: ToolCall) -> int:
    """A number for what a call is about: its ids, else all of its arguments."""
    ids = {
        name: value
        for name, value in call.arguments.items()
        if name == "id" or name.endswith(("_id", "Id"))
    }
    return zlib.crc32(canonical(ids or dict(call.arguments)).encode("utf-8", "surrogatepass"))


def is_key_name(name: str) -> bool:
    """True for a name by which things are told apart: `id`, `order_id`, `flight_number`, `zip_code`."""
    return name == "id" or name.endswith(("_id", "Id", "_number", "_code", "_key"))


def inner_list(value: Json) -> Json:
    """The only list in an object, else the value itself."""
    if type(value) is not dict:
        return value
    lists = [child for child in value.values() if type(child) is list]
    return lists[0] if len(lists) == 1 else value


def elements(value: Json) -> list[Json]:
    """The items of a list, those of lists inside it among them; [] for another value."""
    if type(value) is not list:
        return []
    return [i for item in value for i in (elements(item) if type(item) is list else (item,))]


def list_field(value: Profile) -> str | None:
    """The only field of these objects that holds a list of objects, beside a few plain ones."""
    if value.kinds.keys() - {"null"} != {"dict"} or value.is_map:
        return None
    lists = [n for n, f in value.fields.items() if f.item is not None and "list" in f.kinds]
    if len(lists) != 1 or len(value.fields) > 4:
        return None
    item = value.fields[lists[0]].item
    plain = all(f.item is None and not f.fields for n, f in value.fields.items() if n != lists[0])
    return lists[0] if plain and item is not None and item.kinds.keys() == {"dict"} else None
