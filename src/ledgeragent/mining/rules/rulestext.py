"""The text of drafted rules and of their samples: audit only, the evidence beside each."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence

from ledgeragent.compiler.recordlines import yaml_json, yaml_line, yaml_text
from ledgeragent.mining.rules.masking import Mask
from ledgeragent.mining.rules.proposal import DraftRule
from ledgeragent.mining.rules.question import Required
from ledgeragent.mining.rules.trial import CutSample
from ledgeragent.paths import Path
from ledgeragent.types import Json

_HEAD = """\
# Rules drafted from what right calls have in common; those with the best evidence come first. None is
# enforced: they are audited until you change that, one by one, and strike what is an accident.
# A tool has rules here only if right calls of it came from {least} different situations or more.
# Not drafted, since no recording shows it: clocks, tables, rules with an either-or, what was said, sums
# over several reads, and rules that agents break by habit.
"""
_NO_ID = re.compile(r"[^\w-]")
_PLAIN_ID = re.compile(r"[A-Za-z][A-Za-z0-9./-]*")


def rules_text(
    domain: str,
    proposals: Sequence[DraftRule],
    thin: Mapping[str, int],
    least: int,
    faults: Mapping[str, str],
) -> str:
    """The text of `rules.yaml`; `thin` are the tools with less than `least` situations.

    `faults` are drafts that `check` or their own samples speak against, with what they say.
    """
    lines = [f"# left out: {rule}: {fault}" for rule, fault in sorted(faults.items())]
    lines += [f"# {t}: {n} different situations, too few for a rule" for t, n in thin.items()]
    lines.append("rules:" if proposals else "rules: []")
    for proposal in proposals:
        lines += _rule(domain, proposal)
    return _HEAD.format(least=least) + "\n".join(map(yaml_line, lines)) + "\n"


def rule_id(domain: str, proposal: DraftRule) -> str:
    """The id of a drafted rule."""
    question = proposal.question
    name = f"{question.tool}-{question.slug}"
    own = _NO_ID.sub("-", name)
    if own != name:  # another tool's name may differ in just these characters
        own += f"-{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"
    return f"{domain}/{own}".replace("_", "-")


def _rule(domain: str, proposal: DraftRule) -> Iterator[str]:
    question = proposal.question
    name = rule_id(domain, proposal)
    quoted = name if _PLAIN_ID.fullmatch(name) else yaml_json(name)
    yield f"  - id: {quoted}  # review: {proposal.evidence}"
    yield f"    about: {yaml_json(question.about)}"
    yield f"    guards: {yaml_text(question.tool)}"
    yield "    enforcement: audit"
    if question.requires:
        yield "    requires:"
        for name, path in question.requires.items():
            yield f"      {yaml_text(name)}: {_required(path)}"
    yield f"    message: {yaml_json(_message(proposal))}"
    if question.check:
        values = yaml_json(list(proposal.values))
        yield f"    check: {yaml_json(question.check.replace('{values}', values))}"


def _required(requirement: Required) -> str:
    if isinstance(requirement, str):
        return yaml_json(requirement)
    return f"{{at: {yaml_json(requirement.at)}, each: {yaml_json(requirement.items)}}}"


def _message(proposal: DraftRule) -> str:
    text = proposal.words or f"other calls of {proposal.question.tool} do not look like this"
    if not proposal.words:
        text = f"not as in right calls: {proposal.question.about.rstrip('.')}"
    plain = " ".join(text.split())[:200]
    return plain.replace("{", "{{").replace("}", "}}")


def samples_text(domain: str, proposals: Sequence[DraftRule], mask: Mask) -> str:
    """The text of `samples.yaml`: one allowed and one rejected call for each rule."""
    lines = ["# Cut from real calls: records hold what people's records held.", "samples:"]
    for proposal in proposals:
        lines.append(f"  {yaml_json(rule_id(domain, proposal))}:")
        for side, sample in (("allowed", proposal.allowed), ("rejected", proposal.rejected)):
            lines += [f"    {side}:", *_sample(proposal.question.tool, sample, mask)]
    return "\n".join(lines) + "\n" if proposals else "samples: {}\n"


def _sample(tool: str, sample: CutSample, mask: Mask) -> Iterator[str]:
    records: dict[str, Json] = {}
    for path, record in sample.records.items():
        own, clean = mask.record(path, record)
        records[str(Path(own))] = clean
    arguments = mask.values(dict(sample.arguments))
    yield f"      - ledger: {yaml_json(records)}"
    if sample.earlier:
        earlier = [{"name": tool, "arguments": mask.values(dict(a))} for a in sample.earlier]
        yield f"        writes: {yaml_json(earlier)}"
    yield f"        call: {yaml_json({'name': tool, 'arguments': arguments})}"
