"""JSON as the gateway reads and writes it: the same value, whichever library does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ledgeragent.gateway import wirejson
from ledgeragent.types import canonical, parse_distinct, parse_json
from tests.gateway.wires import RESPONSES, Wire
from tests.gateway.world import HELLO, WRITE, run, world
from tests.jsontexts import texts, told, told_of_deep

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


MISSING = {"quick": (), "plain": ("orjson", "_quick"), "read": ("orjson",), "written": ("_quick",)}
"""Which of the quick libraries are missing where JSON is only read, or only written, by one."""


@pytest.fixture(params=MISSING, scope="module", autouse=True)
def library(request: pytest.FixtureRequest) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        for name in MISSING[request.param]:
            patch.setattr(wirejson, name, None)
        yield request.param


@given(values)
def test_it_is_read_back_as_it_was(value: Any) -> None:
    assert json.loads(wirejson.encoded(value)) == value


@pytest.mark.parametrize("odd", ["\ud800", 2**64, -(2**70), [[[0]]]], ids=repr)
def test_what_the_quick_library_refuses_is_written_too(odd: Any) -> None:
    for _ in range(300):  # deeper than it goes
        odd = [odd]
    assert json.loads(wirejson.encoded({"odd": odd})) == {"odd": odd}
    assert wirejson.canonical_text(odd) == canonical(odd)


NUMBERS = [1e16, 1e22, 1e-5, 0.00001234, -9.9e-05, 1.5e300, 1e15, 0.0001, 49.0, -0.0, 2**63, 2**64]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_has_one_canonical_text(number: float) -> None:
    assert wirejson.canonical_text({"x": [number]}) == canonical({"x": [number]})


@given(values)
def test_a_value_has_one_canonical_text(value: Any) -> None:
    assert wirejson.canonical_text(value) == canonical(value)


@given(values)
def test_events_are_ascii(value: Any) -> None:
    assert wirejson.ascii_text(value).isascii()
    assert wirejson.ascii_encoded(value).isascii()
    assert json.loads(wirejson.ascii_encoded(value)) == value


def slowly(text: bytes) -> Any:
    return parse_json(text.decode())


def slowly_distinct(text: bytes) -> Any:
    return parse_distinct(text.decode())


@given(texts)
@example('{"a": 1, "b": 2, "a": 3}')
@example('{"a": 1, "a": 2, "b": "\\u003a"}')
@example('{"a": 1, "a": 2, "b": "\\u003A"}')
@example('{"a": {"b": ":"}, "a": "\\u003a:"}')
@example('{"a": 1, "\\u0061": ":"}')
@example('{"a": "\\\\u003a", "b": ": \\":\\" :"}')
@example("123456789012345678901234567890")
@example("-9223372036854775809")
@example("[1e400, 1]")
@example("[1e-400, 0e999, -0, -0.0]")
@example('"\\ud83d\\ude00 \\udc00"')
@example("[NaN]")
@example("1" * 5_000)
@example("[18446744073709551615, 18446744073709551616, 1e0000005, 0." + "1" * 400 + "]")
def test_what_is_read_is_what_the_plain_library_reads(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    assert told(raw, wirejson.decoded) == told(raw, slowly)
    assert told(raw, wirejson.decoded_distinct) == told(raw, slowly_distinct)


@given(st.binary(max_size=40))
def test_so_it_is_with_any_bytes(raw: bytes) -> None:
    assert told(raw, wirejson.decoded) == told(raw, slowly)
    assert told(raw, wirejson.decoded_distinct) == told(raw, slowly_distinct)


TWINS = {
    "tool_calls": "VUq11LCsxEiC-wvTiYw9xX-8dRUq4wuQhiJd9mjcqD6UCqrTVNjaks1IENULTQiP",
    "messages": "g6KBYjOSNdd4vHujxxBFyxxNgPG3Ap2C8eR4nKdHd4e3oiosgld1GEDjesLE15JE",
    "content": "OWgkIOqtHJK6uVt4aKEtCFtn6p62NJ8qa0RlKjrD7HULIY5BNsd8DiN7os0Lv4lz",
    "tools": "uomN2v-GfBE8d5R4Pz1Dlb0dxMaKpS-juntDCCRSDBf5b6y0IVLMVdCYFe0QbS9F",
    "name": "18E0XnfqQmdt_XNZWme21rosDlq_cGxbx7jw5BzlIBgIVCh_FpSHwm_FSoXnw43T",
    "arguments": "MFrx5syN4lJBLKITqQuPRmFuUwmMy_CmAQ9KzvghWf28dco35aQK3a4ZY2f7_dlo",
    "role": "OdtwiPH7FUkDOgZDZ5nXu7Wh-e-RAdMJBv9jIgy-sFAumAOOozLjBGNv56-aQ4rI",
}
"""Keys, and others with the same XXH3, by which some libraries take them for the same."""

CROWD = {f"key {number}": None for number in range(20_000)}
"""So many keys that no library remembers any that it has read before."""


def test_a_key_is_what_it_was_sent_as_whatever_others_have_sent() -> None:
    for read in (wirejson.decoded, wirejson.decoded_distinct):
        read(json.dumps({**CROWD, **dict.fromkeys(TWINS.values())}).encode())
        assert read(json.dumps(TWINS).encode()) == TWINS
        read(json.dumps({**CROWD, **dict.fromkeys(TWINS)}).encode())
        assert read(json.dumps(dict.fromkeys(TWINS.values(), 1)).encode()) == dict.fromkeys(
            TWINS.values(), 1
        )


@pytest.mark.parametrize(
    "keys",
    [*((key,) for key in TWINS), ("tool_calls", "name"), ("tool_calls", "arguments")],
    ids=" ".join,
)
def test_no_client_says_how_others_are_read(
    wire: Wire, keys: tuple[str, ...], library: str
) -> None:
    """The request of one holds keys like those by which calls are found in an answer."""
    if library != "quick":
        pytest.skip("without it, no library is at the door that remembers a key")

    async def scenario() -> None:
        async with world() as w:
            w.upstream.choose = lambda _: WRITE
            odd = {"metadata": {**CROWD, **{TWINS[key]: None for key in keys}}}
            # The other formats' bodies of this length are read by the plain library.
            await w.ask(RESPONSES, (HELLO,), headers={"authorization": "Bearer one"}, **odd)
            got = await w.ask(wire, (HELLO,), headers={"authorization": "Bearer other"})
            assert got.reply is not None and not got.reply.calls and got.verdicts

    run(scenario())


@pytest.mark.parametrize("depth", [100, 253, 255, 500, 980, 1_023, 1_025, 5_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"[": ', "}")])
def test_so_it_is_at_any_depth(depth: int, begin: str, end: str) -> None:
    raw = (begin * depth + "1" + end * depth).encode()
    assert len(told_of_deep(raw, wirejson.decoded, slowly)) == 1
    assert len(told_of_deep(raw, wirejson.decoded_distinct, slowly_distinct)) == 1


def test_not_every_text_takes_the_slow_way(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library in ("plain", "written"):
        pytest.skip("there is no other")
    monkeypatch.setattr(wirejson, "parse_json", None)
    monkeypatch.setattr(wirejson, "parse_distinct", None)
    text = b'{"id": 1234567890123456, "text": "a: [ b", "ratio": 0.25, "name": {"id": []}}'
    assert wirejson.decoded(text) == wirejson.decoded_distinct(text) == json.loads(text)


ALIKE = [1, 1.0, True, "1", "true", [1], [True], {"1": 1}, {"1": "1"}, None, "null", [], {}, ""]


def test_no_two_values_have_one_fingerprint(library: str) -> None:
    marks = [wirejson.fingerprint([value]) for value in ALIKE]
    is_quick = library in ("quick", "written")
    assert len(set(marks)) == len(ALIKE) if is_quick else set(marks) == {None}
    assert wirejson.fingerprint("\ud800") is None
