"""Blocks about packs that were mined from recorded runs."""

from __future__ import annotations

from ledgeragent.mining.drift import CODES
from tools.markdown import made_by, result, share, table

_COMMAND = "python -m benchmarks.mining"
_DOMAINS = ("retail", "airline")


def structure() -> str:
    """What mined packs have of the shipped ones' tools, routes and touches."""
    rows = []
    for domain in _DOMAINS:
        for row in result("mining.json")[domain]:
            own, other = row["touches"], row["touches_on_other_records"]
            seen = own["seen"] + other["seen"]
            guessed = sum(part["guessed"] + part["guessed_whole"] for part in (own, other))
            whole = own["of"] + other["of"]
            rows.append(
                (
                    domain,
                    row["half"],
                    f"{row['runs']:,}",
                    f"{row['tools']['right']} of {row['tools']['of']}",
                    f"{row['routes']['right']} of {row['routes']['of']}",
                    f"{seen + guessed} of {whole}",
                    seen,
                    guessed,
                    len(row["further_touches"]),
                    row["check"]["errors"] + row["check"]["warnings"],
                )
            )
    head = (
        "domain",
        "mined from",
        "runs",
        "tools",
        "routes",
        "touches",
        "… seen to change",
        "… guessed",
        "touches that the shipped pack does not have",
        "findings of `check`",
    )
    return table(head, rows) + made_by("mining.json", _COMMAND)


def rules() -> str:
    """The rules that were drafted, and what they would stop among the runs of the other half."""
    rows = []
    for domain in _DOMAINS:
        for row in result("mining.json")[domain]:
            for rule in row["rules"]:
                stopped = [
                    share(rule[f"{name}_runs_stopped"], rule[f"{name}_runs"])
                    if f"{name}_runs" in rule
                    else "-"
                    for name in ("right", "failed")
                ]
                rows.append((domain, row["half"], rule["situations"], rule["drafted"], *stopped))
    head = (
        "domain",
        "mined from",
        "least situations",
        "rules drafted",
        "right runs of the other half stopped, if enforced",
        "failed runs stopped",
    )
    return table(head, rows) + made_by("mining.json", _COMMAND)


def sopbench() -> str:
    """What packs mined from another set have of its tools and routes, and what is wrong."""
    rows = []
    for row in result("sopbench.json")["domains"]:
        tools, routes = row["tools"], row["routes"]
        wrong = [f"`{tool}` as a {kind}" for tool, kind in tools["wrong"].items()]
        wrong += [f"no `{route}`" for route in routes["lacking"]]
        wrong += [f"`{route}`" for route in routes["further"]]
        rows.append(
            (
                row["domain"],
                f"{row['runs']:,}",
                f"{tools['right']} of {tools['of']}",
                f"{routes['right']} of {routes['of']}",
                "; ".join(wrong) or "nothing",
                row["findings"],
            )
        )
    head = ("domain", "runs", "tools", "routes", "what is wrong", "findings of `check`")
    return table(head, rows) + made_by("sopbench.json", "python -m benchmarks.sopbench FOLDER")


def drift() -> str:
    """What `mine --check` can find."""
    return table(("code", "what differs"), ((f"`{code}`", text) for code, text in CODES.items()))
