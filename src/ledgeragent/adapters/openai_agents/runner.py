"""The runner: runs agents as the SDK's own does, each run under a guard of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from agents import Runner, RunState

from ledgeragent.adapters.common import Policy, PolicyLike, Undecided, named, refuse
from ledgeragent.adapters.openai_agents.past import PastItems
from ledgeragent.adapters.openai_agents.run import GuardedRun
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.conversation import Watch

if TYPE_CHECKING:
    from typing import Unpack

    from agents import Agent, RunResult, RunResultStreaming
    from agents.run_config import RunOptions

    from ledgeragent.adapters.openai_agents.items import RunInput
    from ledgeragent.journal import Journal

C = TypeVar("C")
"""The context that a host gives its agents and tools."""


class LedgerRunner:
    """Runs agents under one policy. It holds no conversation, so one object may serve many runs.

    All that happens is written to `journal`. In mode "shadow" everything is judged and recorded, and
    nothing changed. `neutrals` names tools that the policy does not list and that change none of its
    records; handoffs are known. `aliases` says which of the policy's a tool is, by the tool's name,
    where no prefix tells it.
    """

    def __init__(
        self,
        policy: PolicyLike,
        *,
        watch: Watch | None = None,
        journal: Journal | None = None,
        mode: Mode = "enforce",
        undecided: Undecided = "block",
        neutrals: Collection[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._guard = Policy(policy, watch, journal, mode, undecided, named(aliases, neutrals))

    async def run(
        self, agent: Agent[C], input: RunInput | RunState[C], **options: Unpack[RunOptions[C]]
    ) -> RunResult:
        """As `Runner.run`, guarded."""
        guarded = self._guarded(agent, input, options)
        return await Runner.run(guarded, input, **options)

    def run_sync(
        self, agent: Agent[C], input: RunInput | RunState[C], **options: Unpack[RunOptions[C]]
    ) -> RunResult:
        """As `Runner.run_sync`, guarded."""
        guarded = self._guarded(agent, input, options)
        return Runner.run_sync(guarded, input, **options)

    def run_streamed(
        self, agent: Agent[C], input: RunInput | RunState[C], **options: Unpack[RunOptions[C]]
    ) -> RunResultStreaming:
        """As `Runner.run_streamed`, guarded. Tools run once the whole reply is there and judged."""
        guarded = self._guarded(agent, input, options)
        return Runner.run_streamed(guarded, input, **options)

    def guarded(self, agent: Agent[C]) -> Agent[C]:
        """The agent as a run of ours has it: to read a `RunState` back, which is then resumed."""
        return GuardedRun(self._guard).agent(agent)

    def _guarded(
        self, agent: Agent[C], input: RunInput | RunState[C], options: RunOptions[C]
    ) -> Agent[Any]:
        """The run's copy of the agent; its models are wrapped in `options`."""
        run = GuardedRun(self._guard)
        if isinstance(input, RunState):
            run = self._resumed(input, options)
        options["run_config"] = run.config(options.get("run_config"))
        return run.agent(agent)

    def _resumed(self, state: RunState[C], options: RunOptions[C]) -> GuardedRun:
        run = GuardedRun.of(state._current_agent)
        if run is None and self._guard.shadow:
            return GuardedRun(self._guard)
        if run is None:
            raise refuse(
                "a RunState whose agents are not guarded",
                "read it with RunState.from_string(runner.guarded(agent), text)",
            )
        if run.conversation is None:
            run.past = PastItems(state, options.get("session"))
        return run
