"""The page of an A/B: pass^k of both arms, the paired difference, the cost, and the calls stopped."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.bench.results.fields import object_of, objects_of, text_of
from ledgeragent.bench.results.metrics import KS, gain, overhead, reliability
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.results.table import Table, growth, shown
from ledgeragent.report.cells import markdown_code, markdown_text
from ledgeragent.types import Json

PLAIN, GUARDED = "fc", "ledgeragent"
_MOST_SHOWN = 25
_LONGEST_VALUE = 120


@dataclass(frozen=True, slots=True)
class GateStop:
    """A call that the gate stopped: in which run, what it was, why, and the facts that decided."""

    domain: str
    task: str
    row: Json


def page(
    model: str, runs: Sequence[Run], stopped: Sequence[GateStop], remarks: Sequence[str]
) -> str:
    """The page in Markdown; `remarks` stand first."""
    by_domain: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_domain[run.domain][run.arm].append(run)
    parts = [f"# {markdown_text(model)}, without and with LedgerAgent\n", *remarks]
    if silent := [d for d, arms in by_domain.items() if not any(r.calls for r in arms[PLAIN])]:
        parts.append(
            f"**No tool was called in any plain run of {markdown_text(', '.join(silent))}: these "
            "numbers say nothing of LedgerAgent. Most often the server ignores `tools`.**\n"
        )
    parts += [_success(by_domain).markdown(), _difference(by_domain).markdown()]
    parts += [_cost(by_domain).markdown(), "\n".join(_stopped(stopped))]
    return "\n".join(parts)


def _success(by_domain: dict[str, dict[str, list[Run]]]) -> Table:
    rows = []
    for domain, arms in by_domain.items():
        for arm, runs in arms.items():
            measured = reliability(runs)
            by_k = (shown(measured.by_k.get(k), of=measured.tasks) for k in KS)
            rows.append((domain, arm, *by_k, str(measured.tasks), str(measured.runs)))
    return Table(
        name="success",
        title="Success",
        note="pass^k in percent, with 95 % intervals over resampled tasks.",
        columns=("domain", "arm", *(f"pass^{k}" for k in KS), "tasks", "runs"),
        rows=tuple(rows),
    )


def _difference(by_domain: dict[str, dict[str, list[Run]]]) -> Table:
    rows = [
        (domain, *(shown(gain([(arms[GUARDED], arms[PLAIN])], k), "+") for k in KS))
        for domain, arms in by_domain.items()
    ]
    return Table(
        name="difference",
        title="What LedgerAgent changes",
        note="Points of pass^k, paired by task, with 95 % intervals: one that holds 0 decides nothing.",
        columns=("domain", *(f"pass^{k}" for k in KS)),
        rows=tuple(rows),
    )


def _cost(by_domain: dict[str, dict[str, list[Run]]]) -> Table:
    rows = []
    for domain, arms in by_domain.items():
        for arm, runs in arms.items():
            cost = overhead(runs, arms[PLAIN])
            means = (cost.prompt, cost.completion, cost.generations)
            growths = ("", "") if arm == PLAIN else (growth(cost.tokens), growth(cost.calls))
            rows.append((domain, arm, *(f"{mean:,.1f}" for mean in means), *growths))
    return Table(
        name="cost",
        title="Cost of a run",
        note="Means; tokens and calls in percent over fc on the same tasks.",
        columns=(
            "domain",
            "arm",
            "prompt tokens",
            "answer tokens",
            "calls",
            "tokens +%",
            "calls +%",
        ),
        rows=tuple(rows),
    )


def _stopped(stopped: Sequence[GateStop]) -> Iterator[str]:
    yield "## Calls that were stopped\n"
    if not stopped:
        yield "None.\n"
        return
    rules = Counter(f["predicate"] for one in stopped for f in one.row.get("findings") or ())
    counted = ", ".join(f"{markdown_text(rule)} {count}" for rule, count in rules.most_common())
    yield f"{len(stopped)} calls, by rule: {counted}. Each is shown once, with the facts that decided.\n"
    distinct = {_key(one): one for one in stopped}
    for one in [*distinct.values()][:_MOST_SHOWN]:
        yield from _shown(one)
    if len(distinct) > _MOST_SHOWN:
        yield f"And {len(distinct) - _MOST_SHOWN} more, in the result files.\n"


def _key(one: GateStop) -> str:
    return json.dumps([one.domain, one.task, one.row["call"], one.row["decision"]], sort_keys=True)


def _shown(one: GateStop) -> Iterator[str]:
    call = one.row["call"]
    whole_call = markdown_code(f"{call['name']} {_json(call.get('arguments'))}")
    where = markdown_text(f"{one.domain}, task {one.task}")
    yield f"* **{markdown_text(one.row['decision'])}** {whole_call} ({where})"
    for finding in one.row.get("findings") or ():
        sentence = f"{finding['predicate']}: {finding.get('reason')}"
        yield f"    * {markdown_text(sentence)}"
    for fact in one.row.get("facts") or ():
        value = _json(fact.get("value"))
        value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
        tool, turn = markdown_code(fact["read"]["name"]), markdown_text(str(fact.get("turn")))
        yield f"    * {markdown_code(fact['path'])} = {markdown_code(value)}, from {tool}, turn {turn}"
    yield ""


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def stopped_in(row: Mapping[str, Json]) -> Iterator[GateStop]:
    """The stopped calls of a result row of the shop or of a harness; ValueError names an odd field."""
    verdicts = [*objects_of(row.get("stopped"), "stopped")]
    for message in objects_of(row.get("messages"), "messages"):
        raw = object_of(message.get("raw_data"), "raw_data")
        trace = object_of(raw.get("ledgeragent"), "ledgeragent")
        verdicts += objects_of(trace.get("verdicts"), "verdicts")
    for verdict in verdicts:
        if verdict.get("decision") != "ALLOW":
            yield GateStop(str(row.get("domain")), str(row.get("task_id")), _checked(verdict))


def _checked(verdict: Mapping[str, Json]) -> Mapping[str, Json]:
    """The verdict, whose fields are of their kinds."""
    call = object_of(verdict.get("call"), "call")
    object_of(call.get("arguments"), "arguments")
    text_of(call.get("name"), "name")
    text_of(verdict.get("decision"), "decision")
    for finding in objects_of(verdict.get("findings"), "findings"):
        text_of(finding.get("predicate"), "predicate")
    for fact in objects_of(verdict.get("facts"), "facts"):
        text_of(fact.get("path"), "path")
        text_of(object_of(fact.get("read"), "read").get("name"), "name")
    return verdict
