"""Blocks about how cost grows, and about gateways on several machines."""

from __future__ import annotations

from tools.markdown import made_by, result, table

_SEEN = (
    ("conversations that came to their end", "conversations_finished"),
    ("… that ended at a call whose answer was lost", "conversations_ended_by_a_lost_answer"),
    ("… that failed", "conversations_failed"),
    ("requests answered", "requests_answered"),
    ("… of which not at the first attempt", "requests_repeated_until_answered"),
    ("longest wait for an answer, attempts included (s)", "longest_wait_seconds"),
    ("gateway away (s)", "gateway_away_seconds"),
    ("database away (s)", "database_away_seconds"),
    ("answers, verdicts or ledgers of another conversation", "wrong_or_crossed"),
    ("sessions with words of two customers", "sessions_with_words_of_two_customers"),
    ("verdicts heard by clients", "verdicts_heard"),
    ("verdicts in the journal", "verdicts_recorded"),
    ("**verdicts lost**", "verdicts_lost"),
    ("calls that clients got", "calls_released"),
    ("**… of which unjudged**", "calls_released_unjudged"),
    ("chains of the journal", "journal_chains"),
)


def growth() -> str:
    """Every curve, with its exponent."""
    report = result("growth.json")
    rows = []
    for name, curves in report["parts"].items():
        for curve in curves if name != "workers" else ():
            costs = ", ".join(
                f"{int(size):,}: {_short(cost)}" for size, cost in curve["milliseconds"].items()
            )
            rows.append((curve["what"], curve["of"], costs, curve["exponent"]))
    head = ("what", "by", "milliseconds", "exponent")
    return table(head, rows) + made_by("growth.json", report["command"])


def scale() -> str:
    """What judging recorded runs took, by engine and number."""
    report = result("scale.json")
    reports: dict[int, set[str]] = {}
    for row in report["rows"]:
        reports.setdefault(row["runs"], set()).add(row["report"])
    rows = [
        (
            row["engine"],
            f"{row['runs']:,}",
            f"{row['judged']:,}",
            f"{row['calls']:,}",
            f"{row['processor_seconds']:,.0f}",
            f"{row['seconds']:,.0f}",
            f"{row['megabytes']:,.0f}",
            f"{row['own_megabytes']:,.0f}",
            "yes" if len(reports[row["runs"]]) == 1 else "**no**",
        )
        for row in report["rows"]
    ]
    head = (
        "engine",
        "runs read",
        "judged",
        "calls in them",
        "processor time of the command (s)",
        "time (s)",
        "most memory of the command (MB)",
        "of it its own",
        "equal reports",
    )
    return table(head, rows) + made_by("scale.json", report["command"])


def _short(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:.3g}"


def health() -> str:
    """What a sign of life took under each kind of attack, and the attacks under which it took longest."""
    report = result("health.json")
    rows = []
    for mode in ("enforce", "shadow"):
        for kind in ("a request", "a reply", "a stream"):
            attacks = [a for a in report["attacks"] if (a["mode"], a["by"]) == (mode, kind)]
            count = sum(attack["probes"] for attack in attacks)
            slowest = max(attacks, key=lambda attack: float(attack["most_ms"]))
            name = f"{slowest['attack']} ({slowest['format']})"
            p50 = max(attack["p50_ms"] for attack in attacks)
            row = (mode, kind, len(attacks), f"{count:,}", f"{p50:.1f}", slowest["most_ms"], name)
            rows.append(row)
    head = ("mode", "the body is", "bodies", "signs asked for", "highest median of one body (ms)")
    return table((*head, "longest (ms)", "under"), rows) + made_by("health.json", report["command"])


def workers() -> str:
    """Requests a second by workers: measured here, and simulated."""
    report = result("growth.json")
    figures = report["parts"]["workers"]
    here = figures["measured_requests_a_second"]
    rows = [
        (count, f"{here[count]:,.0f}" if count in here else "", f"{rate:,.0f}")
        for count, rate in figures["requests_a_second"].items()
    ]
    head = ("workers", "requests a second here, with clients and upstream beside", "simulated")
    note = (
        f"\nA request took {figures['gateway_ms_a_request']} ms of a worker and "
        f"{figures['database_ms_a_request']} ms of Postgres, which serves "
        f"{figures['database_servers']} at once in the simulation.\n"
    )
    return table(head, rows) + note + made_by("growth.json", report["command"])


def cost() -> str:
    """Core-hours for a million conversations."""
    report = result("growth.json")
    hours = report["a_million_conversations"]
    each = hours["requests_a_conversation"]
    rows = [
        (f"gateways, {each} requests a conversation", hours["gateway_core_hours"]),
        ("Postgres, sessions and journal", hours["database_core_hours"]),
        ("judging all of them again, after a change of the pack", hours["judged_again_core_hours"]),
    ]
    return table(("what", "core-hours"), rows) + made_by("growth.json", report["command"])


def replicas() -> str:
    """What clients saw, and what the journal holds, run by run."""
    report = result("replicas.json")
    runs = report["runs"]
    rows = [(label, *(_count(run[name]) for run in runs)) for label, name in _SEEN]
    kinds = sorted({kind for run in runs for kind in run["failures_seen"]})
    rows[5:5] = [
        (f"attempts that failed: {kind}", *(run["failures_seen"].get(kind, 0) for run in runs))
        for kind in kinds
    ]
    rows.append(
        ("the journal holds, by its signed heads", *(_yes(run["journal_holds"]) for run in runs))
    )
    head = ("", *(f"run {number}" for number in range(1, len(runs) + 1)))
    return table(head, rows) + made_by("replicas.json", report["command"])


def _count(value: float) -> str:
    return f"{value:,}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
