"""YAML files: nodes with lines, and one clear message for everything an author can get wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.source.yamlfile import parse_yaml, read_yaml
from ledgeragent.errors import DataError

yaml = pytest.importorskip("yaml")


@pytest.fixture(params=["C", "Python"], autouse=True)
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)


BROKEN = [
    ("a: b\n c: d\n", 2, "unexpected ':'"),
    ("a:\n  - x\n - y\n", 3, "wrong indentation"),
    ("a:\n   b: 1\n  c: 2\n", 3, "wrong indentation"),
    ("a: {x}.b\n", 1, "quote the value as a whole"),
    ("\ta: b\n", 1, "a tab cannot indent"),
    ("a: b: c\n", 1, "unexpected ':'"),
    ("a: {b\nc: d\n", 2, "the bracket opened on line 1 is not closed"),
    ("'a", 1, "the quote opened on line 1 is not closed"),
    ("a: @x\n", 1, "cannot begin with this character"),
    ("? [a]\n: b\n", 1, "a key must be text"),
    ("x: \x01\n", 1, "a character that YAML does not allow"),
    ("a: 1\nb: 2\na: 3\n", 3, "'a' is given twice; it stands on line 1"),
    ("a: !!python/object:os.system x\n", 1, "is not supported"),
    ("a: 1\n---\nb: 2\n", 2, "a second document"),
    ("a: *x\n", 1, "*x names nothing"),
    ("a: &a [*a]\n", 1, "*a names nothing that ended above it"),
    ("a: 1\nb: {<<: 3}\n", 2, "'<<' merges a mapping"),
    ("x: 1e999\n", 1, "too large"),
    ("a:\n" + "".join(f"{'  ' * n}- \n" for n in range(1, 60)), 41, "levels deep"),
    ("[" * 100_000, 1, "levels deep"),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN, ids=lambda v: str(v)[:12])
def test_broken_yaml_is_one_message_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_yaml(text, "pack.yaml")
    assert message in caught.value.problem
    assert (caught.value.file, caught.value.line) == ("pack.yaml", line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: #W1\n", 1),
        ("a:\n  - x\n  - #W1\n  - y\n", 3),
        ("message: order #W1 is closed\n", 1),
        ("ids: [#W1, #W2]\nb: 1\n", 1),
        ("call: {order_id: #W1}\nb: 1\n", 1),
    ],
)
def test_an_unquoted_id_that_yaml_would_drop_is_found(text: str, line: int) -> None:
    with pytest.raises(DataError, match="quote the value") as caught:
        parse_yaml(text, "pack.yaml")
    assert caught.value.line == line


def test_comments_with_a_space_are_comments() -> None:
    node = parse_yaml("# top\na: 1 # one\nb: # two\n  c: '#W1' #quoted\n", "pack.yaml")
    assert node.plain == {"a": 1, "b": {"c": "#W1"}}


def test_an_alias_bomb_is_refused_before_it_goes_off() -> None:
    tens = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *tens]
    with pytest.raises(DataError, match="more than 50000 values"):
        parse_yaml("\n".join(lines), "pack.yaml")


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    file.write_bytes(b"a: b\n" * 2_000_000)
    with pytest.raises(DataError, match=r"larger .*\(1 MB\); LEDGERAGENT_MAX_PACK_MB raises"):
        read_yaml(file)


@pytest.mark.parametrize(
    ("content", "message"), [(b"\xff\xfe\x00", "not UTF-8"), (None, "cannot be read")]
)
def test_files_that_are_no_text(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "pack.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_yaml(file)


def test_scalars_are_yaml_1_2() -> None:
    text = (
        "a: no\nb: 2024-01-01\nc: 012\nd: 1e3\ne: 1.5\nf: true\ng: ~\nh: -3\n12: 'x'\ni: 12:30:00"
    )
    assert parse_yaml(text, "f").plain == {
        "a": "no",
        "b": "2024-01-01",
        "c": "012",
        "d": 1000.0,
        "e": 1.5,
        "f": True,
        "g": None,
        "h": -3,
        "12": "x",
        "i": "12:30:00",
    }


def test_a_number_too_long_for_a_number_is_text() -> None:
    assert parse_yaml("a: " + "9" * 5_000, "f").plain == {"a": "9" * 5_000}


def test_merged_aliases_give_way_to_what_is_written() -> None:
    text = "a: &o {x: 1, y: 2}\nb: {<<: *o, y: 3}\nc: {<<: [*o, {z: 4}], x: 0}\n"
    plain = parse_yaml(text, "f").plain
    assert plain["b"] == {"x": 1, "y": 3}
    assert plain["c"] == {"x": 0, "y": 2, "z": 4}


@pytest.mark.parametrize("key", ['"<<"', "'<<'"])
def test_within_quotes_the_sign_of_a_merge_is_a_name(key: str) -> None:
    plain = {"a": {"<<": {"x": 1}, "y": 2}}
    assert parse_yaml(f"a: {{{key}: {{x: 1}}, y: 2}}", "f").plain == plain


def test_nodes_know_their_lines() -> None:
    node = parse_yaml("a:\n  - b: 1\n    c: |\n      x\n      y\nd:\n  e: 2\n", "f")
    first = node.value["a"].value[0]
    assert (node.value["a"].line, first.line, first.value["c"].line) == (1, 2, 3)
    assert first.value["c"].begins == 4
    assert (node.value["d"].line, node.value["d"].value["e"].line) == (6, 7)


def test_an_empty_file_is_nothing() -> None:
    assert parse_yaml("", "f").value is None
