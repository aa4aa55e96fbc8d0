"""Samples: what a rule must allow and what it must reject, kept beside the rule and run as its tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Literal, cast, get_args

from ledgeragent.compiler.parameters import NOW, with_parameters
from ledgeragent.compiler.problems import Place
from ledgeragent.compiler.source.textfile import read_text
from ledgeragent.dispatching import inner_call
from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.errors import DataError, UnknownTimeError, UsageError
from ledgeragent.files.limits import TABLE
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger, Speaker
from ledgeragent.state import ledger_of
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Finding, Kind, Verdict

Side = Literal["allowed", "rejected"]
SIDES: tuple[Side, ...] = ("allowed", "rejected")

_FORM = "{rule: {allowed: [...], rejected: [...]}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One case of a rule: records observed, writes executed since, what was said, the call to judge.

    An allowed sample must be allowed by the whole domain; a rejected one must be rejected by its own
    rule (for a rule that is not enforced: in its shadow), with a reason that holds what it `says`.
    `parameters` are values of its own for those of the pack, the time `now` among them. It speaks of
    these `versions` of the pack (empty: all that have the rule).
    """

    rule: str
    side: Side
    ledger: Mapping[str, Json]
    call: ToolCall
    place: Place
    writes: tuple[ToolCall, ...] = ()
    utterances: tuple[tuple[Speaker, str], ...] = ()
    parameters: Mapping[str, Json] = field(default_factory=dict)
    says: str = ""
    versions: tuple[str, ...] = ()

    def speaks_of(self, version: str) -> bool:
        """True if it says something of this version of the pack."""
        return not self.versions or version in self.versions

    def setting(self, domain: Domain) -> Domain:
        """The domain with the sample's own parameters. Raises DataError for one that it has not."""
        try:
            return with_parameters(domain, self.parameters)
        except UsageError as problem:
            raise DataError(str(problem), file=self.place.file, line=self.place.line) from None

    def state(self, domain: Domain) -> Ledger:
        """The ledger that the sample describes."""
        ledger = ledger_of(self.ledger, domain)
        for write in self.writes:
            tool = domain.tool(write.name)
            touches = tool.touches if isinstance(tool, Write) else ()
            touched = [mark for touch in touches for mark in touch(write.arguments, ledger)]
            ledger = ledger.wrote(write, touched)
        for speaker, text in self.utterances if domain.listens else ():
            ledger = ledger.uttered(speaker, text)
        return ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOutcome:
    """The outcome of a sample: the verdict, and `problem`, \"\" where it is as the sample says."""

    sample: Sample
    verdict: Verdict
    problem: str = field(default="")

    @property
    def passed(self) -> bool:
        """True if the verdict is what the sample says."""
        return not self.problem


def run(sample: Sample, domain: Domain) -> SampleOutcome:
    """Judges a sample."""
    setting = sample.setting(domain)
    call = inner_call(sample.call, setting)
    verdict = Gate(domain=setting).judge(call, sample.state(setting))
    return SampleOutcome(sample=sample, verdict=verdict, problem=_problem(sample, verdict))


def _problem(sample: Sample, verdict: Verdict) -> str:
    findings = [f for f in (*verdict.findings, *verdict.shadow) if f.kind is not Kind.UNDECIDED]
    errors = [
        f"{f.predicate} failed: {f.error}"
        for f in findings
        if f.kind is Kind.ERROR and not _is_beside(f, sample)
    ]
    if errors:
        return "; ".join(errors)
    own = [f for f in findings if f.predicate == sample.rule]
    if sample.side == "rejected":
        return _unsaid(sample, own) if own else f"{sample.rule} does not reject it"
    reasons = [f"{f.predicate}: {f.reason}" for f in (*own, *verdict.findings)]
    return f"it is not allowed: {'; '.join(dict.fromkeys(reasons))}" if reasons else ""


def _unsaid(sample: Sample, own: Sequence[Finding]) -> str:
    """What the rule says instead of what the sample expects, "" where it says that."""
    if any(sample.says in finding.reason for finding in own):
        return ""
    return f"{sample.rule} says {own[0].reason!r}, not {sample.says!r}"


def _is_beside(finding: Finding, sample: Sample) -> bool:
    """True for another rule that asked for the time, of which a rejected sample need not tell."""
    timeless = str(finding.error).startswith(UnknownTimeError.__name__)
    return timeless and sample.side == "rejected" and finding.predicate != sample.rule


def samples_from_json(file: FilePath) -> tuple[Sample, ...]:
    """The samples in a pack's `samples.json`; () where there is no such file.

    Raises DataError with the line for anything that is no sample.
    """
    if not file.exists():
        return ()
    text = read_text(file, TABLE)
    try:
        table = json.loads(text, object_pairs_hook=_unique)
    except RecursionError:
        raise DataError("nested too deep", file=str(file), line=1) from None
    except json.JSONDecodeError as problem:
        raise DataError(f"not JSON: {problem.msg}", file=str(file), line=problem.lineno) from None
    except ValueError as problem:
        raise DataError(str(problem), file=str(file), line=1) from None
    if not isinstance(table, dict):
        raise DataError(f"should hold {_FORM}", file=str(file), line=1)
    return tuple(sample for rule in table for sample in _of_rule(rule, table[rule], text, file))


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice in one object")
    return table


def _of_rule(rule: str, sides: Json, text: str, file: FilePath) -> Iterable[Sample]:
    place = Place(str(file), text.count("\n", 0, max(text.find(f'"{rule}"'), 0)) + 1)
    if (
        not isinstance(sides, dict)
        or not sides.keys() <= {*SIDES}
        or not all(isinstance(items, list) for items in sides.values())
    ):
        raise DataError(f"{rule}: should be as in {_FORM}", file=place.file, line=place.line)
    for side in SIDES:
        for item in sides.get(side, ()):
            yield sample_of(item, rule, side, place)


def sample_of(item: Json, rule: str, side: Side, place: Place) -> Sample:
    """The sample written as `{ledger: {path: record}, writes: [call], call: {name, arguments}}`.

    What was said before the call is `said: [{user: text}, {agent: text}]`.
    """
    try:
        return Sample(
            rule=rule,
            side=side,
            ledger=_mapping(item.get("ledger", {})),
            writes=tuple(map(_call, item.get("writes", ()))),
            utterances=tuple(map(_utterance, item.get("said", ()))),
            call=_call(item["call"]),
            place=place,
            parameters=_parameters(item),
            says=_text(item.get("says", "")),
            versions=tuple(map(_text, item.get("versions", ()))),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise DataError(
            f"a sample of {rule} is {{ledger: {{path: record}}, call: {{name: ..., arguments: {{...}}}}}},"
            " and may have a list of such calls as `writes`, and of {user: text} or {agent: text} as"
            " `said`, a time as `now`, other parameters as `params`, and a part of the reason as `says`",
            file=place.file,
            line=place.line,
        ) from None


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


def _parameters(item: Json) -> Mapping[str, Json]:
    now = {NOW: _text(item["now"])} if "now" in item else {}
    return {**_mapping(item.get("params", {})), **now}


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _utterance(item: Json) -> tuple[Speaker, str]:
    ((speaker, text),) = _mapping(item).items()
    if speaker not in get_args(Speaker):
        raise TypeError
    return cast("Speaker", speaker), _text(text)


def _call(item: Json) -> ToolCall:
    name = item["name"]
    if not isinstance(name, str):
        raise TypeError
    return ToolCall(name=name, arguments=_mapping(item.get("arguments", {})))
