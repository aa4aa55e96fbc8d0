"""Benchmarks that read a report of our own command: what failed is an error, and never a result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import cost, gold, mining, published, recorded
from benchmarks.alone import alone
from benchmarks.ownreport import own_report

REPORT = '{"retail": {"runs": 1}, "by_file": {}, "name": "main"}'
FAILED = {
    "a traceback": "raise RuntimeError('no')",
    "a report, then a traceback": f"print('{REPORT}'); raise RuntimeError('no')",
    "nothing": "raise SystemExit(1)",
    "half a report": f"print('{REPORT[:20]}'); raise SystemExit(1)",
    "nothing, and no error": "raise SystemExit(0)",
    "a report, and the code of unusable input": f"print('{REPORT}'); raise SystemExit(2)",
    "a report, and no exit code": f"print('{REPORT}', flush=True); import os; os.abort()",
}
READERS: dict[str, Callable[[], object]] = {
    "gold": lambda: gold.played("retail"),
    "recorded runs": lambda: recorded.replayed(Path("nowhere"), "retail"),
    "labelled cases": lambda: recorded.judged(Path("nowhere"), "cases", "retail"),
    "mining": lambda: mining._run("check", "retail"),
    "published": lambda: published.reported(b"{}"),
    "cost": cost.main,
}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts another command in the place of ours."""

    def behaves(program: str) -> None:
        (tmp_path / "ledgeragent").mkdir()
        (tmp_path / "ledgeragent" / "__init__.py").touch()
        (tmp_path / "ledgeragent" / "__main__.py").write_text(program)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setenv("LEDGERAGENT_DATA_DIR", str(tmp_path))
        monkeypatch.setattr(cost, "RESULT", tmp_path / "cost.json")

    return behaves


@pytest.mark.parametrize("program", FAILED.values(), ids=FAILED)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_what_failed_is_no_result(
    command: Callable[[str], None], tmp_path: Path, reader: Callable[[], object], program: str
) -> None:
    command(program)
    with pytest.raises(SystemExit) as ended:
        reader()
    assert "exit code" in str(ended.value)
    assert not (tmp_path / "cost.json").exists()


def test_a_finding_is_a_result(command: Callable[[str], None]) -> None:
    command(f"print('{REPORT}'); raise SystemExit(1)")
    assert gold.played("retail") == {"domain": "retail", "runs": 1}
    with pytest.raises(SystemExit):
        own_report(["replay"])


def test_neither_is_what_failed_where_it_is_measured() -> None:
    with pytest.raises(SystemExit, match="exit code 2"):
        alone(["replay", "nowhere.jsonl", "--domain", "retail"])


def test_no_other_benchmark_runs_it_by_itself() -> None:
    """But where an exit code that is not 0 is an error already, and servers."""
    root = Path(gold.__file__).parent
    own = ("subprocess.run(", '"-m", "ledgeragent"')
    places = {
        file.name for file in root.rglob("*.py") if all(mark in file.read_text() for mark in own)
    }
    assert places <= {"ownreport.py", "servers.py"}
