"""Whatever is done to a pack's file, reading and checking it gives findings or one error of ours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgeragent.check import findings_of
from ledgeragent.compiler.loader import read_outline
from ledgeragent.errors import LedgerAgentError

pytest.importorskip("cel_expr_python")

TEXT = (Path(__file__).parents[2] / "examples" / "parking" / "pack.yaml").read_text()
MARKS = list("{}[]:#'\"\\|>&*!%@`- \n\t?,~.()=<é\u2028\x07")


def damaged(draw: random.Random) -> str:
    """The pack with one to four places cut, filled with a stray character, or written over."""
    text = TEXT
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text))
        match draw.randint(0, 2):
            case 0:
                text = text[:at] + text[at + draw.choice((1, 5, 40)) :]
            case 1:
                text = text[:at] + draw.choice(MARKS) + text[at:]
            case _:
                start = draw.randrange(len(text))
                text = text[:at] + text[start : start + draw.choice((3, 30, 200))] + text[at:]
    return text


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(draw=st.randoms(use_true_random=False))
def test_no_damage_gives_a_traceback(tmp_path: Path, draw: random.Random) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text(damaged(draw), encoding="utf-8")
    try:
        findings = findings_of(read_outline(file))
    except LedgerAgentError as error:
        assert "\n" not in str(error)
        return
    assert all(finding.place.line >= 1 and "\n" not in finding.message for finding in findings)
