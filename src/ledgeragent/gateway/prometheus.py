"""Prometheus' text format: the counters of several gateways or processes in one answer."""

from __future__ import annotations

from collections.abc import Mapping


def merged(texts: Mapping[str, str]) -> str:
    """Several texts in one, each sample with the `route` it is of; each metric's samples together."""
    kinds: dict[str, str] = {}
    samples: dict[str, list[str]] = {}
    for route, text in texts.items():
        name = ""
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                name = line.split()[2]
                kinds[name] = line
            elif line:
                samples.setdefault(name, []).append(_labelled(line, route))
    lines = [line for name, kind in kinds.items() for line in (kind, *samples.get(name, ()))]
    return "\n".join(lines) + "\n"


def _labelled(sample: str, route: str) -> str:
    escaped = route.replace("\\", "\\\\").replace('"', '\\"')
    label = f'route="{escaped}"'
    name, brace, rest = sample.partition("{")
    if brace:
        return f"{name}{{{label},{rest}"
    name, _, value = sample.rpartition(" ")
    return f"{name}{{{label}}} {value}"
