"""Casework: labelled cases judged by an engine, each in the pack that was named, or that it names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from ledgeragent.compiler.problems import suggestion
from ledgeragent.engines.engine import Engine
from ledgeragent.errors import DataError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.cases import CaseOutcome, CasesResult, case_outcome
from ledgeragent.offline.labelled import Case, CaseIds, case_files, cases_in
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.replay import ONE_PROCESS, over
from ledgeragent.packs import PACKS


class _JudgedCases(NamedTuple):
    """The cases in a piece: each with its pack, its line and what came of it.

    `begins` where the piece is the first of its file.
    """

    file: str
    begins: bool
    cases: list[tuple[str, int, CaseOutcome]]


def judged_cases(
    sources: Iterable[str], binding: Binding | None, engine: Engine = ONE_PROCESS
) -> dict[str, CasesResult]:
    """The results of the cases in files and folders, by pack.

    Without a binding each case is judged in the shipped pack that it names. Raises DataError for a case
    that cannot be read, names no such pack, or has the id of one before it in its file.
    """
    files = [file for source in sources for file in case_files(source)]
    work = partial(_judged, binding=binding.at(engine) if binding is not None else None)
    results: dict[str, CasesResult] = {}
    ids = CaseIds()
    for piece in over(files, work, engine=engine):
        ids = CaseIds() if piece.begins else ids
        for pack, line, outcome in piece.cases:
            ids.add(outcome.id, piece.file, line)
            results.setdefault(pack, CasesResult()).count(outcome)
    return results


def _judged(piece: Piece, binding: Binding | None) -> _JudgedCases:
    rows = []
    for line, case in cases_in(piece):
        own = binding or Binding(name=_pack(case))
        domain, values = own.domain_with(case.parameters), own.own_values(case.parameters)
        rows.append((own.name, line, case_outcome(case, domain, values)))
    return _JudgedCases(piece.file, piece.line <= 1, rows)


def _pack(case: Case) -> str:
    if case.domain is not None and case.domain in PACKS:
        return case.domain
    problem = "no domain"
    if case.domain is not None:
        problem = f"{case.domain}, which is no shipped pack{suggestion(case.domain, PACKS)}"
    raise DataError(f"case {case.id} names {problem}; judge it with --domain", file=case.file)
