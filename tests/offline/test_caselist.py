"""Case lists: the first of each rule, all of them counted, however the runs were shared out."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.offline import caselist
from ledgeragent.offline.caselist import CaseList

ROWS = st.lists(st.sampled_from(("a", "a", "b", "", "a+b", "b+c")), max_size=30)


def rows_of(names: list[str]) -> list[dict[str, object]]:
    """Rows of one rule, of none, and of several."""
    return [
        {"run": n, "predicates": name.split("+")}
        if "+" in name
        else {"run": n, "predicate": name}
        if name
        else {"run": n}
        for n, name in enumerate(names)
    ]


def is_of(row: dict[str, object], rule: str) -> bool:
    predicates = row.get("predicates", [row.get("predicate", "")])
    assert isinstance(predicates, list)
    return rule in predicates


@given(rules=ROWS, cuts=st.lists(st.integers(0, 30), max_size=4))
def test_lists_of_shares_add_up_to_the_list_of_all(rules: list[str], cuts: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(caselist, "MOST_CASES", 3)
        rows, whole, added = (
            rows_of(rules),
            CaseList[dict[str, object]](),
            CaseList[dict[str, object]](),
        )
        whole.extend(rows)
        ends = [0, *sorted(cuts), len(rows)]
        for start, end in pairwise(ends):
            share = CaseList[dict[str, object]]()
            share.extend(rows[start:end])
            added.add(pickle.loads(pickle.dumps(share)))
        assert added == whole
        assert [*added.totals.items()] == [*whole.totals.items()]
        assert whole.number == len(rows) and len(whole.rows) <= 4 * 3
        for rule in ("a", "b", "c", ""):
            own = [row for row in rows if is_of(row, rule)]
            kept = [row for row in whole if is_of(row, rule)]
            assert kept[:3] == own[:3] and all(row in own for row in kept)
            assert whole.totals[rule] == len(own)
            assert whole.left_out.get(rule, 0) == len(own) - len(kept)
