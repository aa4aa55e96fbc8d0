"""Calls of one connection: judged, held while they wait for others, passed on, answered or lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from ledgeragent.adapters.common import BoundGate, Policy
from ledgeragent.gate import UNKNOWN_TOOL
from ledgeragent.mcp.messages import (
    NOT_BEGUN,
    RPC,
    McpResult,
    Step,
    answer,
    content_of,
    key_of,
    text_result,
)
from ledgeragent.mcp.serverrecord import ServerRecord
from ledgeragent.mcp.shared import SharedSession
from ledgeragent.mcp.tasks import ended_task, inline_result, started_task
from ledgeragent.session.resting import hurry, state_of, take_back
from ledgeragent.session.ticket import Ticket
from ledgeragent.text import visible
from ledgeragent.types import ToolCall


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call of a tool that is not answered yet, in its session."""

    message: JSONRPCRequest
    ticket: Ticket
    session: SharedSession


class Calls:
    """The open calls of a connection, by the keys of their requests.

    They are judged under `guard`. Their own ids begin with `prefix`, so that the connections of one
    session can be told apart. `held` are those that wait here. `record` is of the server, which may
    have listed its tools to another connection.
    """

    def __init__(self, guard: Policy, record: ServerRecord, prefix: str = "") -> None:
        self._guard = guard
        self._record = record
        self._listed: frozenset[str] = frozenset()
        self.held: dict[str, OpenCall] = {}
        self._prefix = prefix
        self._running: dict[str, OpenCall] = {}
        self._tasks_asked: dict[str, str] = {}

    def take_listing(self, names: frozenset[str]) -> None:
        """Judges by these tools, which the server has listed."""
        self._listed = self._record.listed = names

    @property
    def _names(self) -> frozenset[str]:
        """The names that the server has listed here, or else to another connection."""
        return self._listed or self._record.listed

    @property
    def bound(self) -> BoundGate:
        """The gate for the server's tools, and what they are called."""
        return self._guard.bound(self._names or None)

    def session_of(self, message: RPC, own: SharedSession) -> SharedSession | None:
        """The session that a message is about, if it tells what became of a call."""
        call = self._call_of(message)
        if call is not None:
            return call.session
        task = self._task_of(message)
        others = (call.session for call in self._running.values())
        return next((s for s in (own, *others) if task in s.tasks), None) if task else None

    def _call_of(self, message: RPC) -> OpenCall | None:
        if isinstance(message, JSONRPCNotification):
            key = key_of((message.params or {}).get("requestId"))
        else:
            key = key_of(message.id)
        return self.held.get(key) or self._running.get(key)

    def _task_of(self, message: RPC) -> str | None:
        if isinstance(message, JSONRPCNotification):
            return ended_task(message.params or {})
        return self._tasks_asked.get(key_of(message.id))

    def take(
        self, message: JSONRPCRequest, params: Mapping[str, Any], session: SharedSession
    ) -> Step:
        """The step from a call: it goes on, is answered here, or waits."""
        key, name = key_of(message.id), str(params.get("name"))
        gate, names = self.bound
        conversation = session.conversation
        conversation.rebind(gate, names if self._names else self._guard.wire(name))
        call = ToolCall.parse(
            name=name,
            arguments=params.get("arguments"),
            id=f"{self._prefix}{key}",
        )
        conversation.judge_also(call)
        opened = OpenCall(message, conversation.claim(call), session)
        if not conversation.ready(opened.ticket):
            self.held[key] = opened
            return Step()
        return self._decided(key, opened)

    def _decided(self, key: str, call: OpenCall) -> Step:
        """The step from a verdict that stands."""
        self._record.counters.decided(call.ticket.verdict)
        if call.ticket.allowed:
            self._running[key] = call
            return Step(to_server=(call.message,))
        return answer(call.message, {**text_result(self._refusal(call)), "isError": True})

    def _refusal(self, call: OpenCall) -> str:
        name, verdict = call.ticket.call.name, call.ticket.verdict
        unknown = any(finding.predicate == UNKNOWN_TOOL for finding in verdict.findings)
        if not unknown or name not in self._names:
            return call.session.conversation.refusal(call.ticket)
        return (
            f"Error: this call was not executed. The tool {visible(name)} is not covered by the policy "
            "pack, so nobody can say whether it may run. Whoever runs the proxy can list it in the "
            "pack, say which of the pack's it is with --tool-alias, or that it changes no record with "
            "--neutral"
        )

    def released(self, session: SharedSession | None = None) -> Step:
        """The step for calls that waited for one that has ended; of one session, or of all."""
        step = Step()
        for key, call in tuple(self.held.items()):
            if session in (None, call.session) and call.session.conversation.ready(call.ticket):
                del self.held[key]
                step += self._decided(key, call)
        return step

    def hurried(self, key: str) -> Step:
        """The step for a call that has waited long enough: it is answered as things stand."""
        call = self.held.get(key)
        if call is None:
            return Step()
        hurry(call.session.conversation, call.ticket)
        return self.released(call.session)

    def take_back(self, key: str) -> None:
        """Forgets a call that was let through, and will not be passed on after all."""
        call = self._running.pop(key, None) or self.held.pop(key, None)
        if call is not None:
            take_back(call.session.conversation, call.ticket)

    def cancel(self, key: str) -> bool:
        """The client gives up a call. True if the server has never seen it."""
        call = self.held.pop(key, None)
        if call is not None:
            call.session.conversation.interrupted(call.ticket)
            return True
        if key in self._running:
            running = self._running[key]
            running.session.conversation.interrupted(running.ticket)
        return False

    def asks_for_task(self, message: JSONRPCRequest, params: Mapping[str, Any]) -> None:
        """Notes whose result, or status, a request asks for."""
        if isinstance(params.get("taskId"), str):
            self._tasks_asked[key_of(message.id)] = params["taskId"]

    def answered(self, message: JSONRPCResponse | JSONRPCError, own: SharedSession) -> None:
        """Takes in the answer to a call, or to a question about one that the server goes on with."""
        key = key_of(message.id)
        call = self._running.get(key)
        if call is not None:
            # Until it is taken in, it is open: what goes wrong on the way leaves it so.
            self._observe(call, message)
            self._running.pop(key, None)
        elif (task := self._tasks_asked.pop(key, None)) is not None:
            session = self.session_of_task(task, own)
            if session is not None and isinstance(message, JSONRPCResponse):
                self._told_of(task, message.result, session)

    def session_of_task(self, task: str, own: SharedSession) -> SharedSession | None:
        """The session that a task belongs to."""
        sessions = (own, *(call.session for call in self._running.values()))
        return next((session for session in sessions if task in session.tasks), None)

    def _observe(self, call: OpenCall, message: JSONRPCResponse | JSONRPCError) -> None:
        conversation, ticket = call.session.conversation, call.ticket
        if isinstance(message, JSONRPCError):
            lost = message.error.code not in NOT_BEGUN
            conversation.observe(ticket, message.error.message, error=True, lost=lost)
        elif (task := started_task(message.result)) is not None:
            call.session.tasks[task] = ticket
        else:
            self._observe_result(call.session, ticket, message.result)

    def _told_of(self, task: str, result: McpResult, session: SharedSession) -> None:
        """Takes in a task's result, or its status: one that has ended unasked may have done its work."""
        content = inline_result(result) or (None if "taskId" in result else result)
        if content is not None:
            self._observe_result(session, session.tasks.pop(task), content)
        elif ended_task(result) is not None:
            session.conversation.interrupted(session.tasks[task])

    def noted(self, message: JSONRPCNotification, own: SharedSession) -> None:
        """Takes in a notification that tells that a task has ended."""
        task = ended_task(message.params or {})
        session = self.session_of_task(task, own) if task else None
        if task and session is not None:
            session.conversation.interrupted(session.tasks[task])

    def lose(self, session: SharedSession | None = None) -> None:
        """Takes every open call, of one session or of all, for one that nobody will answer."""
        for calls in (self.held, self._running):
            for key, call in tuple(calls.items()):
                if session in (None, call.session):
                    del calls[key]
                    call.session.conversation.interrupted(call.ticket)

    def _observe_result(self, session: SharedSession, ticket: Ticket, result: McpResult) -> None:
        before = state_of(session.conversation).last
        error = bool(result.get("isError"))
        session.conversation.observe(ticket, content_of(result), error=error)
        last = state_of(session.conversation).last
        if last is not None and last is not before:
            self._record.counters.absorbed(ticket.call.name, last)
