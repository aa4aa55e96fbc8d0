"""What whoever runs a gateway is warned of: results that no rule can rest on, verdicts left open."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping

from ledgeragent.absorb import Absorption
from ledgeragent.gate import Filtered
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.session.toolnames import NameReading
from ledgeragent.text import visible
from ledgeragent.verdict import Finding, Kind, Verdict

log = logging.getLogger("ledgeragent.gateway")

WRITTEN = "text"
"""A result in the words of a history, where a customer could have written it as well."""

_MOST_NAMES = 50
_LONGEST_NAME = 200
"""Of the tools that a sentence of the log names: how many there are, clients say."""

_REMEMBERED = 10_000


class Notices:
    """Counts in the metrics, and logs each warning once per conversation and tool."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._given: OrderedDict[tuple[str, ...], None] = OrderedDict()

    def answered(self, session: str, tool: str, absorption: Absorption) -> None:
        """Notes what is wrong with a result; nothing, if it is as the domain declares it."""
        self._metrics.absorbed(tool, absorption)
        for problem in absorption.problems:
            self._warn(session, tool, f"a result cannot be relied on: {problem}")

    def offered(
        self,
        reading: NameReading,
        neutrals: Collection[str],
        unknown: Collection[str],
        reaching: Mapping[str, str],
    ) -> None:
        """Tells, once, how the names of a request's tools are read, and which nobody judges.

        `reaching` are tools let through unjudged that end in the name of one of the pack's writes.
        """
        if reading.tools:
            pairs = _listed(f"{name} as {tool}" for name, tool in reading.tools.items())
            self._say(f"tools are read under the pack's names: {pairs}")
        for name, why in sorted(reading.doubtful.items())[:_MOST_NAMES]:
            self._say(
                f"the tool {name} is not taken for one of the pack's, since {why}; "
                f"--tool-alias {name}=TOOL says which it is"
            )
        if neutrals:
            self._say(f"tools that change no record, as frameworks add: {_listed(neutrals)}")
        if missing := set(unknown) - reading.doubtful.keys():
            self._say(
                f"the policy pack does not cover the tools {_listed(missing)}: add them to it, or "
                "name those that change no record with --neutral (an output's schema, such as that of "
                "LangChain's ToolStrategy, is one); until then --unknown-tools answers their calls"
            )
        for name, tool in sorted(reaching.items())[:_MOST_NAMES]:
            self._say(
                f"calls of {name} pass without being judged (--unknown-tools allow), though the "
                f"pack has rules for {tool}; --tool-alias {name}={tool} has them judged"
            )

    def written(self, tools: Iterable[str]) -> None:
        """Counts what came of calls of these tools that a history has as text: nothing is read there."""
        for tool in sorted(tools):
            self._metrics.unreadable(tool, WRITTEN)
            self._say(
                f"calls of {tool} and what came of them stand in a history as text, where nothing is "
                "read: rules will ask for it again; the framework has to send tool calls and results"
            )

    def unguarded(self, *, refused: bool) -> None:
        """Counts a request with no tool of the pack in it, whose agent nobody guards."""
        self._metrics.unguarded += 1
        then = "it was refused" if refused else "nothing of it is judged"
        self._say(f"a request offers and calls no tool of the policy pack: {then}")

    def ended(self, session: str, problem: str) -> None:
        """Notes that a conversation is not answered any more."""
        self._metrics.ended += 1
        log.warning("session %s: %s", visible(session), visible(problem))

    def shortened(self, session: str, records: int) -> None:
        """Counts a prompt whose ledger left records out for length, and tells of the first."""
        self._metrics.shortened += 1
        if self._is_new(session, "", "shortened"):
            log.warning(
                "session %s: the ledger in its prompts leaves out %d records by now, the oldest "
                "(--max-ledger says from which size on); verdicts rest on all of them",
                visible(session),
                records,
            )

    def claimed(self, session: str, tools: Iterable[str]) -> None:
        """Notes calls that a client says were made, though the gateway never released them."""
        for tool in tools:
            self._metrics.claimed(tool)
            self._warn(
                session,
                tool,
                "the client's history has this call, which the gateway did not release: nothing "
                "that answers it is evidence",
            )

    def judged(self, session: str, replies: Iterable[Filtered]) -> None:
        """Notes the verdicts on these replies that were left open."""
        for filtered in replies:
            for verdict in filtered.verdicts:
                if verdict.undecided:
                    self._warn(session, verdict.call.name, _left_open(verdict))

    def _say(self, text: str) -> None:
        """Logs a sentence once."""
        if self._is_new("", "", text):
            log.warning("%s", visible(text))

    def _warn(self, session: str, tool: str, text: str) -> None:
        if self._is_new(session, tool, text):
            log.warning("%s in session %s: %s", visible(tool), visible(session), visible(text))

    def _is_new(self, *key: str) -> bool:
        if key in self._given:
            return False
        self._given[key] = None
        if len(self._given) > _REMEMBERED:
            self._given.popitem(last=False)
        return True


def _listed(names: Iterable[str]) -> str:
    first = sorted(names)
    more = f" and {len(first) - _MOST_NAMES} more" if len(first) > _MOST_NAMES else ""
    return ", ".join(name[:_LONGEST_NAME] for name in first[:_MOST_NAMES]) + more


def _left_open(verdict: Verdict) -> str:
    open_rules = filter(_is_open, (*verdict.findings, *verdict.shadow))
    rules = ", ".join(dict.fromkeys(finding.predicate for finding in open_rules))
    then = "let through" if verdict.allowed else "refused"
    return f"UNDECIDED and {then}, since no tool supplies what is needed by {rules}"


def _is_open(finding: Finding) -> bool:
    return finding.kind is Kind.UNDECIDED
