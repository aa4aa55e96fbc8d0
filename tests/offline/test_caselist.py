"""Case lists: the first of each rule, all of them counted, however the runs were shared out."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.offline import caselist
from ledgeragent.offline.caselist import CaseList

ROWS = st.lists(st.sampled_from(("a", "a", "b", "")), max_size=30)


def rows_of(rules: list[str]) -> list[dict[str, object]]:
    return [{"run": n, "predicate": rule} if rule else {"run": n} for n, rule in enumerate(rules)]


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
        for rule in ("a", "b", ""):
            own = [row for row in rows if row.get("predicate", "") == rule]
            assert [row for row in whole if row.get("predicate", "") == rule] == own[:3]
            assert whole.totals[rule] == len(own)
            assert whole.left_out.get(rule, 0) == max(0, len(own) - 3)
