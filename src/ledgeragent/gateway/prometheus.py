"""Prometheus' text format: the counters of several gateways or processes in one answer."""

from __future__ import annotations

from collections.abc import Mapping


def merged(texts: Mapping[str, str], label: str = "route") -> str:
    """Several texts in one, each sample with the `label` that tells whose it is."""
    kinds: dict[str, str] = {}
    samples: dict[str, list[str]] = {}
    for whose, text in texts.items():
        name = ""
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                name = line.split()[2]
                kinds[name] = line
            elif line:
                samples.setdefault(name, []).append(_labelled(line, label, whose))
    lines = [line for name, kind in kinds.items() for line in (kind, *samples.get(name, ()))]
    return "\n".join(lines) + "\n"


def _labelled(sample: str, name_of_label: str, whose: str) -> str:
    escaped = whose.replace("\\", "\\\\").replace('"', '\\"')
    label = f'{name_of_label}="{escaped}"'
    name, brace, rest = sample.partition("{")
    if brace:
        return f"{name}{{{label},{rest}"
    name, _, value = sample.rpartition(" ")
    return f"{name}{{{label}}} {value}"
