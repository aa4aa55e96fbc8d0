"""Parts of every adapter: conversations under one policy, a plain loop's execution, refusals to start."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from ledgeragent.domain import Domain
from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.gate import Gate
from ledgeragent.journal.recorder import Mode, Recorder
from ledgeragent.journal.threads import Thread, Threads
from ledgeragent.packs import load_domain
from ledgeragent.session.clock import ticking
from ledgeragent.session.controls import reaches_a_write, with_neutrals
from ledgeragent.session.conversation import Conversation, Watch
from ledgeragent.session.outcome import plain
from ledgeragent.session.toolnames import ToolNames
from ledgeragent.session.wirenames import WireNames
from ledgeragent.text import visible
from ledgeragent.types import Message
from ledgeragent.verdict import Decision

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

PolicyLike: TypeAlias = Gate | Domain | str
"""A gate of your own making, a domain, or the name of a shipped pack."""

Undecided: TypeAlias = Literal["block", "allow"]

log = logging.getLogger(__name__)

_NUMBER = re.compile(r"\d+")
_MOST_BOUND = 64
"""How many lists of tools a policy remembers its gate for."""


class UnguardableError(UsageError):
    """A framework is set up in a way that lets calls run without the gate; says which and what to do."""


def require(library: str, minimum: str, extra: str) -> None:
    """Nothing if `library` is installed in version `minimum` or newer; else MissingExtraError."""
    try:
        installed = version(library)
    except PackageNotFoundError:
        raise MissingExtraError(library, extra) from None
    if _numbers(installed) < _numbers(minimum):
        raise MissingExtraError(f"{library} {minimum} or newer (found {installed})", extra)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(text)[:3])


def as_text(value: object) -> str:
    """A tool's answer as the text that a chat API carries."""
    content = plain(value)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


@dataclass(slots=True)
class Policy:
    """Opens conversations under one policy. It holds no conversation itself, so agents may share it.

    What happens in them is written to `journal`. In mode "shadow" verdicts change nothing. A call
    with a rule whose record no tool of the agent supplies is answered as `undecided` says, unless
    the policy is a gate of your own making. `names` says what the agent's tools are called, and
    which of them the policy does not list and change none of its records.
    """

    policy: PolicyLike
    watch: Watch | None = None
    journal: Journal | None = None
    mode: Mode = "enforce"
    undecided: Undecided = "block"
    names: ToolNames = field(default_factory=ToolNames)
    _bound: dict[tuple[frozenset[str] | None, frozenset[str]], BoundGate] = field(
        default_factory=dict, repr=False
    )
    _sessions: Threads = field(default_factory=Threads, repr=False)
    _told: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise UsageError(f"mode {self.mode!r}: should be {' or '.join(get_args(Mode))}")
        if self.undecided not in get_args(Undecided):
            raise UsageError(f"undecided {self.undecided!r}: should be block or allow")
        domain = self.gate().domain
        if self.journal is not None and not self.journal.keeps(domain):
            raise UsageError(
                f"the journal was opened for another policy than {domain.name} {domain.version}"
            )

    @property
    def shadow(self) -> bool:
        """True if verdicts change nothing."""
        return self.mode == "shadow"

    def open(
        self,
        tools: Collection[str] | None = None,
        history: Iterable[Message] = (),
        controls: Collection[str] = (),
    ) -> Conversation:
        """A new conversation for an agent with these tools, after `history`.

        `controls` are those that its framework has added for its own affairs.
        """
        conversation = self._conversation(tools, controls)
        conversation.tools = frozenset(tools or ())
        conversation.controls = frozenset(controls)
        conversation.replay(history)
        return conversation

    def resume(
        self,
        tools: Collection[str] | None,
        messages: Iterable[Message],
        controls: Collection[str] = (),
    ) -> Conversation:
        """A conversation whose last message is a reply; its calls are judged and about to run."""
        conversation = self._conversation(tools, controls)
        conversation.controls = frozenset(controls)
        conversation.resume(messages)
        return conversation

    def unobserved(self) -> Policy:
        """The same policy, for conversations that only say what the verdicts would be."""
        return Policy(
            self.policy,
            mode=self.mode,
            undecided=self.undecided,
            names=self.names,
            _bound=self._bound,
            _told=self._told,
        )

    def _conversation(
        self, tools: Collection[str] | None, controls: Collection[str]
    ) -> Conversation:
        # The journal knows a conversation by calls of the policy's own tools, whatever is offered.
        recorder = Recorder(self.gate().domain, self.journal)
        thread = Thread(recorder=recorder, sessions=self._sessions, shadow=self.shadow)
        bound = self.bound(tools, controls)
        conversation = Conversation(bound.gate, thread, self.watch)
        conversation.names = bound.names
        return conversation

    def offer(
        self,
        conversation: Conversation,
        tools: Collection[str],
        controls: Collection[str] = (),
    ) -> None:
        """Judges by the tools that the agent has been offered so far.

        A request that leaves one out says what may be called now, not what can be read at all.
        """
        conversation.tools |= frozenset(tools)
        conversation.controls |= frozenset(controls)
        conversation.rebind(*self.bound(conversation.tools, conversation.controls))

    def gate(self, tools: Collection[str] | None = None, controls: Collection[str] = ()) -> Gate:
        """The policy's gate for an agent with these tools: no rule asks for a read outside them."""
        return self.bound(tools, controls).gate

    def bound(
        self, tools: Collection[str] | None = None, controls: Collection[str] = ()
    ) -> BoundGate:
        """The same gate, and what the agent calls its tools."""
        key = (frozenset(tools) if tools is not None else None), frozenset(controls)
        if key not in self._bound:
            while len(self._bound) >= _MOST_BOUND:  # Whoever lists tools may list others each time.
                del self._bound[next(iter(self._bound))]
            self._bound[key] = self._bind(*key)
        return self._bound[key]

    def _bind(self, tools: frozenset[str] | None, controls: frozenset[str]) -> BoundGate:
        gate = self.policy
        if not isinstance(gate, Gate):
            domain = load_domain(gate) if isinstance(gate, str) else gate
            gate = Gate(domain=domain, undecided=Decision[self.undecided.upper()])
        own = frozenset(tool.tool for tool in gate.domain.tools)
        self.names.check(own)
        unjudged = self._unjudged(controls, gate.domain)
        names = self._read(sorted((tools or frozenset()) - set(unjudged)), own)
        domain = with_neutrals(gate.domain, [*sorted(self.names.neutrals), *unjudged])
        # What the operator bound the gate to before says what can be read.
        if tools is not None and domain.available is None:
            domain = domain.bind(frozenset(map(names.tool, tools)))
        bound = gate if domain is gate.domain else dataclasses.replace(gate, domain=domain)
        self._tell_uncovered(tools or frozenset(), bound, names)
        return BoundGate(ticking(bound), names)

    def wire(self, name: str) -> WireNames:
        """What a tool is called that is met before anybody has listed it, by the operator's word alone."""
        tool = self.names.tool(name, frozenset(tool.tool for tool in self.gate().domain.tools))
        return WireNames({name: tool} if tool not in (None, name) else {})

    def _read(self, tools: Collection[str], own: frozenset[str]) -> WireNames:
        """What the agent's names stand for among the policy's `own`; told once for this policy."""
        reading = self.names.read(tools, own)
        for name, tool in reading.tools.items():
            self._tell(logging.INFO, f"the tool {name} is read as the policy's {tool}")
        for name, why in reading.doubtful.items():
            self._tell(
                logging.WARNING,
                f"the tool {name} is not taken for one of the policy's, since {why}; if it is one, give "
                "it as an alias",
            )
        return WireNames(reading.tools)

    def _tell_uncovered(self, tools: frozenset[str], gate: Gate, names: WireNames) -> None:
        """Tells which tools the policy says nothing of, and which of them may be its writes."""
        uncovered = sorted(t for t in tools if gate.domain.tool(names.tool(t)) is None)
        if gate.unknown is not Decision.ALLOW:
            if uncovered:
                self._tell(
                    logging.WARNING,
                    f"the policy does not cover the tools {', '.join(uncovered)}, so nobody can judge "
                    "their calls: add them to it, or name those that change no record as neutral",
                )
            return
        for tool in (tool for tool in uncovered if reaches_a_write(tool, gate.domain)):
            self._tell(
                logging.WARNING,
                f"calls of {tool} pass without being judged, though its name ends in that of a write "
                "of the policy: if it is that one, give it as an alias",
            )

    def _unjudged(self, controls: frozenset[str], domain: Domain) -> list[str]:
        """The framework's own tools, whose calls are let through; told once for this policy.

        None is one that may be a write of the domain by another name.
        """
        names = [name for name in sorted(controls) if not reaches_a_write(name, domain)]
        for name in (name for name in names if domain.tool(name) is None):
            self._tell(
                logging.INFO,
                f"not judged, since it is the framework's own and changes no record: {name}",
            )
        return names

    def _tell(self, level: int, text: str) -> None:
        """Logs a sentence once."""
        if text not in self._told:
            self._told.add(text)
            log.log(level, "%s", visible(text))


class BoundGate(NamedTuple):
    """A policy's gate for an agent, and what the agent calls the tools."""

    gate: Gate
    names: WireNames


def named(aliases: Mapping[str, str] | None, neutrals: Collection[str]) -> ToolNames:
    """The names of an adapter's arguments."""
    return ToolNames(aliases=dict(aliases or {}), neutrals=frozenset(neutrals))


def refuse(what: str, instead: str) -> UnguardableError:
    """The error for something that would run behind the gate's back."""
    return UnguardableError(f"{what} can't be guarded here; {instead}")
