"""What is written as JSON is JSON, whatever was read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.offline.jsontext import json_text
from ledgeragent.types import parse_json
from tests.cli.branches import NAME
from tests.cli.command import BOOK, called

INFINITE = float("inf")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [INFINITE, -INFINITE]}, '{"a": ["inf", "-inf"]}'),
        ({INFINITE: 1}, '{"inf": 1}'),
        ([1.5, {1}], '[1.5, "{1}"]'),
    ],
)
def test_what_json_cannot_hold_is_text(value: object, text: str) -> None:
    assert json_text(value) == text


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 310 + ".0", "Infinity", "NaN"])
@pytest.mark.parametrize("field", ["reward", "content", "arguments"])
def test_a_number_too_large_is_in_no_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: str, field: str
) -> None:
    run = {"id": "r", "task_id": "t", "reward": 1.0, "messages": [*BOOK]}
    if field == "reward":
        run["reward"] = "NUMBER"
    else:
        arguments = {"book_id": "NUMBER"} if field == "arguments" else {"book_id": "B1"}
        content = {"x": ["NUMBER"]} if field == "content" else "ok"
        lend = called("lend_book", {"member_id": "M1"}, "ok")
        lend[0]["tool_calls"][0]["function"]["arguments"] = arguments
        lend[1]["content"] = content
        run["messages"] = [*BOOK, *lend]
    file, page, base = (tmp_path / name for name in ("r.jsonl", "page.html", "base.json"))
    file.write_text(json.dumps(run).replace('"NUMBER"', number) + "\n")
    for words in (
        ["replay", str(file), "--domain", NAME, "--format", "json"],
        ["diff", str(file), "--domain", NAME, "--against", NAME, "--format", "json"],
        ["traces", str(file), "--format", "json"],
    ):
        assert main(words) in (0, 1)
        parse_json(capsys.readouterr().out)
    assert main(["view", str(file), "--domain", NAME, "-o", str(page)]) == 0
    assert main(["diff", str(file), "--domain", NAME, "--baseline", str(base), "--update"]) == 0
    parse_json(base.read_text())
    parse_json(page.read_text().partition('id="data">')[2].partition("</script>")[0])
