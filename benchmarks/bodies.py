"""Bodies of the largest size, made to keep a gateway busy: requests and replies of the three formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from ledgeragent.gateway.values import MAX_VALUES

LARGEST = 8 << 20
MOST = MAX_VALUES - 5_000
"""A little less than all the values that may be in one: what is around them counts too."""

TOOL = "get_order_details"
PATHS = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}
Shape: TypeAlias = Callable[[int], str]
"""A JSON value of about so many bytes."""

_SCHEMA = '{"type":"object","properties":{"order_id":{"type":"string"}}}'


def _listed(text: str) -> Shape:
    return lambda room: f"[{','.join([text] * (room // (len(text) + 1)))}]"


def _said(text: str) -> Shape:
    return lambda room: f'"{text * (room // len(text))}"'


def _keyed(value: str) -> Shape:
    def shape(room: int) -> str:
        count = room // (len(value) + 10)
        fields = ",".join([f'"{n:x}":{value}' for n in range(count)])
        return f"{{{fields}}}"

    return shape


def _at_most(values: int, text: str, shape: Callable[[str], Shape]) -> Shape:
    """As many of a text as may be, each of so many values."""
    return lambda room: shape(text)(min(MOST // values * (len(text) + 1), room))


_DEEP = "[" * 150 + "]" * 150
_DEEP_OBJECTS = '{"a":' * 100 + "0" + "}" * 100

MANY: dict[str, Shape] = {
    "lists": _listed("[]"),
    "lists in lists": _listed(_DEEP),
    "objects": _listed('{"":{}}'),
    "numbers": _listed("1e9"),
    "strings": _listed('"ab"'),
    "keys": _keyed("{}"),
}
"""More values than are read."""

ALLOWED: dict[str, Shape] = {
    "lists, as many as are read": _at_most(2, "[]", _listed),
    "lists in lists, as many as are read": _at_most(151, _DEEP, _listed),
    "objects in objects, as many as are read": _at_most(201, _DEEP_OBJECTS, _listed),
    "numbers, as many as are read": _at_most(1, "1.5", _listed),
    "strings, as many as are read": _at_most(1, '"abcdefgh"', _listed),
    "keys, as many as are read": lambda room: _keyed('"abcd"')(min(MOST // 2 * 16, room)),
    "the same key, as often as it is read": lambda room: (
        "{" + ",".join(['"a":1'] * (MOST // 2)) + "}"
    ),
}

TEXTS: dict[str, Shape] = {
    "words": _said("ab "),
    "spaces": _said(" "),
    "escapes": _said("\\u00e9\\ud83d\\ude00"),
    "zeros": _said("\\u0000"),
    "half characters": _said("\\ud800"),
    "quotes": _said('\\"'),
}
"""One text."""


def _quoted(shape: Shape) -> Shape:
    """A text in which the value stands, as returns and arguments have it."""
    return lambda room: json.dumps(shape(room // 2 if room > LARGEST // 2 else room))


def _filled(
    head: str, part: Callable[[int], str], size: int, tail: str, most: int = 1 << 30
) -> str:
    count = min((LARGEST - len(head) - len(tail) - 64) // size, most)
    return f"{head}{','.join(map(part, range(count)))}{tail}"


class Wire:
    """One format, as text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = PATHS[name]
        field = "input" if name == "responses" else "messages"
        self._head = (
            f'{{"model":"m","max_tokens":9,"tools":[{self.tool(TOOL, _SCHEMA)}],"{field}":['
        )

    def requests(self) -> dict[str, Callable[[], str]]:
        """Every request by its name, each made when it is wanted."""
        room = LARGEST - 2_000
        head, end = self._head, "]}"
        hi = self.user('"hi"')
        made: dict[str, Callable[[], str]] = {}
        for name, shape in {**MANY, **ALLOWED}.items():
            made[f"a field of {name}"] = lambda s=shape: f'{head}{hi}],"x":{s(room)}}}'
            made[f"a return of {name}"] = lambda s=shape: (
                head + self.read(0, _quoted(s)(room)) + end
            )
        for name, shape in TEXTS.items():
            made[f"a text of {name}"] = lambda s=shape: head + self.user(s(room)) + end
            made[f"a return of {name}"] = lambda s=shape: head + self.read(0, s(room)) + end
        literal = f'"({"[]," * 10_000})"'
        call = self.read(0, '"a"')
        return made | {
            "messages, 4,000 long ones": lambda: _filled(
                head, lambda n: self.user(f'"{"word, " * 330}"'), 2_050, end, 4_000
            ),
            "messages, as many as are read": lambda: _filled(
                head, lambda n: hi, len(hi) + 1, end, MOST // 8
            ),
            "calls, as many as are read": lambda: _filled(
                head, lambda n: self.read(n, '"a"'), len(call) + 16, end, MOST // 45
            ),
            "tools, as many as are read": lambda: _filled(
                f'{{"model":"m","{"input" if self.name == "responses" else "messages"}":[{hi}],"tools":[',
                lambda n: self.tool(f"t{n}", _SCHEMA),
                200,
                end,
                MOST // 22,
            ),
            "returns in Python's words": lambda: _filled(
                head, lambda n: self.read(n, literal), len(literal) + len(call) + 16, end, 40
            ),
        }

    def replies(self) -> dict[str, Callable[[], str]]:
        """Every reply by its name."""
        room = LARGEST - 2_000
        made: dict[str, Callable[[], str]] = {}
        for name, shape in {**MANY, **ALLOWED}.items():
            made[f"a reply with a field of {name}"] = lambda s=shape: self.reply(extra=s(room))
            made[f"a reply with arguments of {name}"] = lambda s=shape: self.reply(
                arguments=f'{{"order_id":{s(room // 2)}}}'
            )
        for name, shape in TEXTS.items():
            made[f"a reply of {name}"] = lambda s=shape: self.reply(text=s(room))
        return made

    def streams(self) -> dict[str, Callable[[], str]]:
        """Every streamed reply by its name. None of them is a whole one."""
        room = LARGEST - 2_000
        many = {
            f"a stream with an event of {name}": lambda s=shape: f'data: {{"x":{s(room)}}}\n\n'
            for name, shape in {**MANY, **ALLOWED}.items()
        }
        small = 'data: {"type":"ping","choices":[]}\n\n'
        return many | {
            "a stream of small events": lambda: small * (room // len(small)),
            "a stream of comments": lambda: ": \n\n" * (room // 4),
            "a stream of one line": lambda: "data: " + "a" * room,
            "a stream of line ends": lambda: "\n" * room,
        }

    def asks(self, *, stream: bool = False) -> str:
        """A small request."""
        flag = ',"stream":true' if stream else ""
        return self._head + self.user('"hi"') + f"]{flag}}}"

    def user(self, text: str) -> str:
        """A message of the user."""
        return f'{{"role":"user","content":{text}}}'

    def tool(self, name: str, schema: str) -> str:
        """A tool that is offered."""
        if self.name == "chat":
            function = f'{{"name":"{name}","parameters":{schema}}}'
            return f'{{"type":"function","function":{function}}}'
        if self.name == "messages":
            return f'{{"name":"{name}","input_schema":{schema}}}'
        return f'{{"type":"function","name":"{name}","parameters":{schema}}}'

    def read(self, number: int, content: str) -> str:
        """A call and its return."""
        name, arguments = f"c{number}", f'"{{\\"order_id\\":\\"#W{number}\\"}}"'
        if self.name == "chat":
            function = f'{{"name":"{TOOL}","arguments":{arguments}}}'
            call = f'{{"id":"{name}","type":"function","function":{function}}}'
            said = f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}'
            return f'{said},{{"role":"tool","tool_call_id":"{name}","content":{content}}}'
        if self.name == "messages":
            use = f'{{"type":"tool_use","id":"{name}","name":"{TOOL}","input":{{"order_id":"#W"}}}}'
            result = f'{{"type":"tool_result","tool_use_id":"{name}","content":{content}}}'
            return (
                f'{{"role":"assistant","content":[{use}]}},{{"role":"user","content":[{result}]}}'
            )
        call = f'"type":"function_call","call_id":"{name}","name":"{TOOL}","arguments":{arguments}'
        output = f'"type":"function_call_output","call_id":"{name}","output":{content}'
        return f"{{{call}}},{{{output}}}"

    def reply(self, text: str = '"hi"', extra: str = "0", arguments: str = "") -> str:
        """A whole reply, with a call if there are arguments for it."""
        calls = f",{self._call(arguments)}" if arguments else ""
        if self.name == "chat":
            field = f',"tool_calls":[{self._call(arguments)}]' if arguments else ""
            message = f'{{"role":"assistant","content":{text}{field}}}'
            choice = f'{{"index":0,"finish_reason":"stop","message":{message}}}'
            return f'{{"id":"x","object":"chat.completion","choices":[{choice}],"x":{extra}}}'
        if self.name == "messages":
            head = (
                '"id":"x","type":"message","role":"assistant","model":"m","stop_reason":"end_turn"'
            )
            return f'{{{head},"content":[{{"type":"text","text":{text}}}{calls}],"x":{extra}}}'
        content = f'[{{"type":"output_text","text":{text}}}]'
        said = f'{{"type":"message","id":"m","role":"assistant","content":{content}}}'
        head = '"id":"x","object":"response","status":"completed"'
        return f'{{{head},"output":[{said}{calls}],"x":{extra}}}'

    def _call(self, arguments: str) -> str:
        quoted = json.dumps(arguments)
        if self.name == "chat":
            function = f'{{"name":"{TOOL}","arguments":{quoted}}}'
            return f'{{"id":"c","type":"function","function":{function}}}'
        if self.name == "messages":
            return f'{{"type":"tool_use","id":"c","name":"{TOOL}","input":{arguments}}}'
        return f'{{"type":"function_call","call_id":"c","name":"{TOOL}","arguments":{quoted}}}'


WIRES = tuple(map(Wire, PATHS))
