"""Hostile words in each kind of place of recorded runs, through the verbs that write from them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ledgeragent.bench.ab.page import GUARDED, PLAIN, page, stopped_in
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.results.table import Table
from ledgeragent.cli.main import main
from ledgeragent.report.cells import csv_cell, markdown_cell, markdown_code, markdown_text
from tests.cli.command import ADA, BOOK_IN, called, jsonl, lend, run
from tests.fuzz.corpus import NAME
from tests.fuzz.test_hostile_text import _ESCAPES, HOSTILE

pytest.importorskip("yaml")

LINK = "]](http://evil.example) ![x](http://evil.example/leak) `code` **b** <b>"
WORDS = (HOSTILE, LINK, "a: b # [x]: {y}\n- z", "'\"%\\")
PLACES = ("key", "deep key", "argument", "tool", "value", "id")


def runs_with(word: str, place: str) -> str:
    """Three runs with the word in one place."""
    book, arguments, tool = dict(BOOK_IN), {"book_id": "B1"}, "get_book"
    match place:
        case "key":
            book[word] = "v"
        case "deep key":
            book["list"] = [{word: [{word: 1}]}]
        case "argument":
            arguments[word] = word
        case "value":
            book["title"] = word
        case "tool":
            tool = word
        case _:
            pass
    steps = called(tool, arguments, book), called("get_member", {"member_id": "M1"}, ADA), lend()
    name = word if place == "id" else "run"
    return jsonl(*(run(name, *steps, reward=1.0) for _ in range(3)))


@pytest.mark.parametrize("place", PLACES)
def test_what_is_made_of_runs_says_no_more_than_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    runs, table = tmp_path / "runs.jsonl", tmp_path / "verdicts.parquet"
    for number, word in enumerate(WORDS):
        runs.write_text(runs_with(word, place))
        pack = tmp_path / f"pack{number}"
        made = [
            "mine",
            str(runs),
            "--domain",
            "mined",
            "--rules",
            "--situations",
            "1",
            "-o",
            str(pack),
        ]
        for words in (
            made,
            ["mine", str(runs), "--check", NAME],
            ["check", str(pack)],
            ["coverage", str(pack), "--format", "markdown"],
            ["replay", str(runs), "--domain", str(pack)],
            ["replay", str(runs), "--domain", NAME, "--write", str(table)],
        ):
            if words == made or pack.exists() or str(pack) not in words:
                code = main(words)
                out, err = capsys.readouterr()
                assert code in (0, 1) or (words == made and err), (words, err)
                assert _ESCAPES.search(out + err) is None, words
        for file in pack.glob("*"):
            assert _ESCAPES.search(file.read_text()) is None


def stopped_row(word: str) -> dict[str, object]:
    fact = {"path": word, "value": word, "read": {"name": word}, "turn": word}
    finding = {"predicate": word, "reason": word}
    call = {"name": word, "arguments": {word: word}}
    stop = {"decision": word, "call": call, "findings": [finding], "facts": [fact]}
    return {"task_id": word, "domain": word, "stopped": [stop]}


@pytest.mark.parametrize("word", [HOSTILE, LINK])
def test_the_page_of_an_ab(tmp_path: Path, word: str) -> None:
    row = stopped_row(word)
    file = tmp_path / "shop.jsonl"
    scored = {**row, "reward": 1.0, "agent_model": word}
    rows = [{**scored, "arm": arm} for arm in (PLAIN, GUARDED)]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    text = page(word, [*read_results(str(file))], [*stopped_in(row)], [])
    assert _ESCAPES.search(text) is None
    assert "<img" not in text and "<b>" not in text
    # No link or image, but within code.
    assert re.search(r"(?<!\\)\]\((?!http)", text) is None
    outside = re.sub(r"(`+) ?.+? ?\1(?!`)", "", text)
    assert "](" not in outside.replace(r"\](", "")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("call", 3),
        ("call", {"name": None}),
        ("findings", [3]),
        ("findings", [{"reason": "r"}]),
        ("facts", {"path": "p"}),
        ("facts", [{"path": "p", "read": None}]),
        ("decision", None),
    ],
)
def test_a_stopped_call_of_odd_fields_is_named(field: str, value: object) -> None:
    row = stopped_row("word")
    row["stopped"] = [{**row["stopped"][0], field: value}]  # type: ignore[index]
    with pytest.raises(ValueError, match=r"`[a-z]+(\[0\])?` is no"):
        list(stopped_in(row))


def test_marks_of_markdown() -> None:
    assert markdown_cell("![x](http://e)|") == "![x]\\(http://e)\\|"
    assert markdown_text("**b** [x](y)") == "\\*\\*b\\*\\* \\[x\\](y)"
    assert markdown_code("a`b``c") == "``` a`b``c ```"
    assert markdown_code("plain") == "`plain`"


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20")
def test_no_cell_begins_a_formula(sign: str) -> None:
    assert csv_cell(f"{sign}cmd|' /C calc'!A0")[0] == "'"


def test_a_table_for_latex_is_made_of_text() -> None:
    hostile = "\\input{/etc/passwd} a\n\n&b $x$ %c #1 _^~{}"
    table = Table(name="t", title="T", note="N", columns=("a", "b"), rows=((hostile, "m [new]"),))
    row = table.latex().split("\\midrule\n")[1].partition("\n\\bottomrule")[0]
    assert row == (
        "\\textbackslash{}input\\{/etc/passwd\\} a \\&b \\$x\\$ \\%c \\#1 "
        "\\_\\textasciicircum{}\\textasciitilde{}\\{\\} & m [new] \\\\"
    )


@pytest.mark.parametrize("field", ["reward", "created_at"])
def test_a_number_of_hundreds_of_digits_is_none(tmp_path: Path, field: str) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text(jsonl(run("run", lend(), **{field: 10**400})))
    assert main(["replay", str(runs), "--domain", NAME]) == 0
