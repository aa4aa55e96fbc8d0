"""The fast driver of conversations: many replies of several calls, failing ones cut short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ledgeragent import Domain

from .listing import case_listing
from .play import Played, kind_of, played, replayed
from .promises import NO_WAY_ON
from .shrink import shrunk
from .steps import Case
from .worlds import domain_of


@dataclass
class ReplyTally:
    """What a run of replies came to.

    `stuck` counts calls held back for good since nobody can tell whether an earlier write was done,
    or since the run lacks the tool that would show what is asked for: that is nobody's fault.
    `examples` are the first case of each disagreement, cut short. `conversations` were played: the
    next one has this number.
    """

    conversations: int = 0
    replies: int = 0
    together: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    stuck: int = 0
    disagreements: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)


def run_replies(
    name: str,
    replies: int,
    seed: int = 0,
    domain: Domain | None = None,
    *,
    shrink: bool = True,
    tally: ReplyTally | None = None,
) -> ReplyTally:
    """Plays random conversations of a domain until at least so many replies were judged.

    It goes on with `tally`, if there is one.
    """
    tally = tally or ReplyTally()
    domain = domain or domain_of(name)
    while tally.replies < replies:
        talk = played(name, f"{name}/{seed}/{tally.conversations}", domain)
        _count(tally, talk)
        for place, problem in talk.problems:
            kind = kind_of(problem)
            if kind == NO_WAY_ON:
                tally.stuck += 1
                continue
            tally.disagreements[kind] += 1
            if kind not in tally.examples:
                case = replace(talk.case, steps=talk.case.steps[:place])
                tally.examples[kind] = _example(case, kind, domain, shrink=shrink)
        tally.conversations += 1
    return tally


def _count(tally: ReplyTally, talk: Played) -> None:
    tally.replies += talk.replies
    tally.together += talk.together
    tally.verdicts += talk.verdicts
    tally.fates += talk.fates


def _example(case: Case, kind: str, domain: Domain, *, shrink: bool) -> str:
    def problems(case: Case) -> list[str]:
        return [p for _, p in replayed(case, domain).problems if kind_of(p) == kind]

    least = shrunk(case, lambda simpler: bool(problems(simpler))) if shrink else case
    return case_listing(least, problems(least))


def reply_report(name: str, tally: ReplyTally, verbose: bool) -> Iterator[str]:
    """The tally as lines."""
    wrong = sum(tally.disagreements.values())
    yield (
        f"{name}: {tally.replies} replies, {wrong} disagreements ({tally.together} replies with two "
        f"or more calls let through; {tally.stuck} calls that nothing can decide)"
    )
    if verbose:
        for counts in (tally.verdicts, tally.fates):
            yield from (f"  {count:7} {key}" for key, count in sorted(counts.items()))
    for kind, count in tally.disagreements.most_common():
        yield f"\n{count} x {kind}\n{tally.examples[kind]}"
