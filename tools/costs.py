"""Blocks about what the ledger, the gate and the gateway cost."""

from __future__ import annotations

from typing import Any

from tools.markdown import made_by, microseconds, result, table

_REACHED = ("lines", "lines_reached", "branches", "branches_reached")
_COST_COLUMNS = ("total", "uncached", "price_weighted")
_PROXIES = {
    "forwarder": "bare forwarder",
    "forwarder_streamed": "bare forwarder, streamed",
    "forwarder_small": "bare forwarder, a small request",
    "forwarder_long": "bare forwarder, a long conversation",
    "gateway": "gateway",
    "gateway_small": "gateway, a small request",
    "gateway_long": "gateway, a long conversation",
    "gateway_streamed": "gateway, streamed",
    "gateway_traced": "gateway with `--otel`",
    "litellm": "LiteLLM proxy",
}


def coverage() -> str:
    """The lines and branches that the tests reach, by room."""
    report = result("coverage.json")
    rooms = report["rooms"]
    every = {count: sum(room[count] for room in rooms.values()) for count in _REACHED}
    rows = [(f"`{name}/`" if " " not in name else name, *_reached(rooms[name])) for name in rooms]
    left_out = ", ".join(f"`{room}/`" for room in report["without"])
    note = (
        f"\nThis run left out the tests of {left_out}, so nothing is told of these.\n"
        if left_out
        else ""
    )
    return (
        table(
            ("room", "lines", "reached", "branches", "reached"),
            [*rows, ("all of these", *_reached(every))],
        )
        + note
        + made_by("coverage.json", report["command"])
    )


def _reached(counts: dict[str, int]) -> tuple[str, str, str, str]:
    lines, lines_reached, branches, branches_reached = (counts[name] for name in _REACHED)
    return (
        f"{lines:,}",
        f"{100 * lines_reached / lines:.1f}%" if lines else "",
        f"{branches:,}",
        f"{100 * branches_reached / branches:.1f}%" if branches else "",
    )


def speed() -> str:
    """A decision, an absorption and a render, as ratios of one run."""
    report = result("speed.json")
    figures, ratios = report["figures"], report["ratios"]
    decision = figures["decision"]
    loads = f"one `json.loads` of a {decision['order_bytes'] / 1000:.1f} KB order"
    serialised = figures["render"]["records_serialised_per_change"]
    rows = [
        (
            f"{decision['predicates']} rules, allowed",
            microseconds(decision["decision_allowed_us"]),
            f"{ratios['decision_allowed_per_json_loads']:.2f} × {loads}",
        ),
        (
            f"{decision['predicates']} rules, rejected, with reasons and evidence",
            microseconds(decision["decision_rejected_us"]),
            f"{ratios['decision_rejected_per_json_loads']:.2f} × the same",
        ),
        (
            "the same two on records that no rule has read yet",
            f"{microseconds(decision['first_decision_allowed_us'])}, "
            f"{microseconds(decision['first_decision_rejected_us'])}",
            f"{ratios['first_decision_allowed_per_json_loads']:.2f} ×, "
            f"{ratios['first_decision_rejected_per_json_loads']:.2f} × the same",
        ),
        (
            f"{decision['predicates']} rules, allowed, on a ledger of 10,000 records",
            microseconds(decision["decision_allowed_10000_records_us"]),
            f"{ratios['decision_large_per_small_ledger']:.2f} × that on a small ledger",
        ),
        (
            "a reply of four writes on four orders, allowed",
            microseconds(figures["plan"]["reply_of_four_us"]),
            f"{ratios['reply_of_four_per_reply_of_one']:.2f} × a reply of one of them",
        ),
        (
            "absorbing a return",
            microseconds(figures["absorb"]["absorb_us"]),
            f"{ratios['absorb_per_json_loads']:.2f} × its `json.loads`",
        ),
        (
            "rendering 1,000 records after one changed",
            microseconds(figures["render"]["render_after_one_change_us"]),
            f"{serialised:.1f} × serialising one record",
        ),
    ]
    if figures["replay"]:
        each = f"{figures['replay']['calls_per_second']:,.0f} recorded tool calls a second and core"
        rows.append(("replay of the tau2 retail runs, reading and parsing included", each, ""))
    head = ("what", "cost", "in proportion")
    return table(head, rows) + made_by("speed.json", "make bench")


def reading() -> str:
    """What a replay takes beside decompressing and decoding alone."""
    report = result("reading.json")
    times, shares = report["seconds"], report["times_the_floor"]
    floor = times["decompress"] + times["decode"]

    def row(what: str, name: str, share: float) -> tuple[str, ...]:
        return what, f"{times[name]:.2f} s", f"{share:.2f}"

    rows = [
        ("decompress, and decode each line with `json`: the floor", f"{floor:.2f} s", "1"),
        row("read", "read", shares["read"]),
        row("read, with `fast`", "read_fast", times["read_fast"] / floor),
        row("replay", "replay", shares["replay"]),
        row("replay, with `fast`", "replay_fast", shares["replay_fast"]),
        row("the same with `--nonstandard`", "replay_every_fast", shares["replay_every_fast"]),
    ]
    calls = report["calls_a_second"]
    words = (
        f"\n{report['megabytes']:,.0f} MB in {report['records']:,} records, of which "
        f"{report['runs_judged']:,} runs with {report['calls_judged']:,} calls are judged: "
        f"{calls['replay']:,} recorded calls a second and core, {calls['replay_fast']:,} with `fast`. "
        f"With `--nonstandard` all {report['every_run']:,} runs with {report['every_call']:,} calls are: "
        f"{calls['replay_every_fast']:,}. By CPython {report['python']}, in which a loop of ten million "
        f"additions takes {report['ten_million_additions']:.2f} s there.\n"
    )
    head = ("the tau2 and tau-bench retail runs, one process", "processor time", "times the floor")
    return table(head, rows) + words + made_by("reading.json", report["command"])


def cel_speed() -> str:
    """One rule in CEL: the dearest of the shop's, alone and beside 1,000 records."""
    worst = result("cel.json")["worst_us"]
    rows = [
        (verdict, microseconds(worst[f"{verdict}_0"]), microseconds(worst[f"{verdict}_1000"]))
        for verdict in ("allowed", "rejected")
    ]
    head = ("the dearest rule in CEL", "alone", "beside 1,000 other records")
    return table(head, rows) + made_by("cel.json", "python -m benchmarks.cel")


def cost() -> str:
    """Prompt tokens per run without the ledger and in each render mode, as counted and in money."""
    tables = []
    for domain, figures in result("cost.json")["domains"].items():
        rows = [
            (
                arm,
                *(f"{tokens[c]:,.0f} (×{tokens[f'{c}_ratio']:.2f})" for c in _COST_COLUMNS),
            )
            for arm, tokens in figures["arms"].items()
        ]
        title = f"{domain}, {figures['runs']:,} runs"
        tables.append(table((title, "prompt tokens a run", "uncached", "in money"), rows))
    return "\n".join(tables) + made_by("cost.json", "python -m benchmarks.cost")


def gateway() -> str:
    """The gateway's addition to a request, beside the LiteLLM proxy in the same run."""
    report = result("gateway.json")
    direct, compared = report["figures"]["upstream"], report["compared"]
    beside = {
        name: compared.get(f"cpu_beside_{name.replace('gateway', 'forwarder')}")
        for name in _PROXIES
        if name.startswith("gateway")
    }
    rows = [
        (
            label,
            f"{figures['p50_ms'] - direct['p50_ms']:.2f} ms",
            f"{figures['p99_ms'] - direct['p99_ms']:.1f} ms",
            f"{figures['cpu_ms_per_request']:.2f} ms",
            f"{times:.2f} ×" if (times := beside.get(name)) is not None else "",
            f"{figures['requests_per_second']:,.0f}",
        )
        for name, label in _PROXIES.items()
        if (figures := report["figures"].get(name))
    ]
    head = (
        "one process",
        "added p50",
        "added p99",
        "processor time",
        "beside the forwarder",
        "requests a second",
    )
    return table(head, rows) + made_by("gateway.json", report["command"])


def conversations() -> str:
    """Many conversations at once: their outcome, and the gateway's memory while they ran."""
    report = result("conversations.json")
    plain, watched = report["figures"], report["console_figures"]
    crossed = "answers, verdicts or ledgers that were not the conversation's own"
    names = {
        "requests": "requests",
        "conversations finished": "conversations_finished",
        "errors": "errors",
        crossed: "wrong_or_crossed",
    }
    rows = [
        (label, *(f"{one[name]:,}" for one in (plain, watched))) for label, name in names.items()
    ]
    memories = plain["gateway_memory_mib"], watched["gateway_memory_mib"]
    for name in dict.fromkeys([*memories[0], *memories[1]]):
        shown = (f"{one[name]:.0f} MiB" if name in one else "" for one in memories)
        rows.append((f"memory, {name.replace('_', ' ')}", *shown))
    head = ("what", "", "with the console on, and watched")
    commands = f"{report['command']}` and `{report['console_command']}"
    return table(head, rows) + made_by("conversations.json", commands)


def streams() -> str:
    """Streams in the middle of which the gateway was reloaded, told to stop, or killed."""
    report = result("streams.json")
    figures = report["figures"]
    reloaded, drained, killed = (figures[name] for name in ("reloaded", "drained", "killed"))
    rows = [
        ("a pack reloaded", "streams that came whole", reloaded["whole"]),
        ("SIGTERM", "streams that came whole", drained["whole"]),
        ("SIGKILL", "streams whose client was told that they broke", killed["told_as_broken"]),
        ("", "streams with a call in them", killed["with_a_call_that_nobody_recorded"]),
        ("", "whole when asked for again, of a new process", killed["whole_when_asked_again"]),
    ]
    head = ("in the middle of all", "what became of them", f"of {figures['streams']}")
    return table(head, rows) + made_by("streams.json", report["command"])


def helpers() -> str:
    """The helpers' addition to the agent's own tokens, per recipe and domain."""
    domains = result("helpers.json")["domains"]
    growth = {domain: figures["growth"] for domain, figures in domains.items()}
    rows = [
        (recipe, *(f"{100 * growth[domain][recipe]:+.1f}%" for domain in domains))
        for recipe in next(iter(growth.values()))
    ]
    head = ("helpers", *(f"{name}, {figures['runs']:,} runs" for name, figures in domains.items()))
    return table(head, rows) + made_by("helpers.json", "python -m benchmarks.helpers")


def probe_tiny() -> str:
    """A tiny model's proposals for each write, plain and in each render mode."""
    report = result("probe-tiny.json")
    rows = [
        (arm, *(f"{100 * counts[name]:.1f}%" for name in ("exact", "arguments")), _against(counts))
        for arm, counts in report["arms"].items()
    ]
    head = (f"{report['probes']} writes", "exact", "arguments right", "exact, against plain")
    made = made_by("probe-tiny.json", "python -m benchmarks.probe_tiny")
    return f"{table(head, rows)}\n{report['model']}, {report['asked']}.\n{made}"


def _against(counts: dict[str, Any]) -> str:
    if "difference" not in counts:
        return ""
    low, high = counts["interval"]
    points = f"{100 * counts['difference']:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"
    return f"{counts['wins']} better, {counts['losses']} worse, {points}"
