"""Transcripts of Claude Code: one entry a line, the messages of sessions and of their sidechains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.anthropic import write_block_message
from ledgeragent.offline.forms.form import Dialogue, Form, Writing, inside, listed, marked
from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.types import Json

_SPEAKERS = ("user", "assistant")
_QUIET = (
    "summary", "system", "file-history-snapshot", "queue-operation", "progress", "attachment",
    "last-prompt", "custom-title", "ai-title", "agent-name", "permission-mode", "pr-link",
    "result", "stream_event", "rate_limit_event", "worktree-state", "tag", "mode",
)  # fmt: skip


def _talks(value: Json) -> Iterator[Dialogue]:
    """A session each, and each sidechain (a subagent) of its own."""
    entries = listed(value, "entries", "messages") or []
    sessions: dict[tuple[str, str], list[tuple[int, Json]]] = {}
    for number, entry in enumerate(entries, 1):
        sessions.setdefault(_session(entry), []).append((number, entry))
    for (session, agent), numbered in sessions.items():
        if any(inside(e, "type") not in _QUIET for _, e in numbered):
            name = f"{session}/{agent}" if agent else session
            yield Dialogue({"id": name} if name else {}, _writing(numbered))


def _session(entry: Json) -> tuple[str, str]:
    session = inside(entry, "sessionId") or inside(entry, "session_id")
    aside = inside(entry, "isSidechain")
    agent = (
        inside(entry, "agentId") or "sidechain" if aside else inside(entry, "parent_tool_use_id")
    )
    return str(session or ""), str(agent or "")


def _writing(numbered: list[tuple[int, Json]]) -> Writing:
    def write(scribe: Scribe) -> None:
        scribe.noun = "entry"
        seen: set[str] = set()
        for scribe.place, entry in numbered:
            scribe.timed(entry)
            _entry(entry, seen, scribe)
        scribe.place = None

    return write


def _entry(entry: Mapping[str, Json], seen: set[str], scribe: Scribe) -> None:
    if not isinstance(entry, dict):
        raise ValueError("it is no object")
    kind, uuid = entry.get("type"), entry.get("uuid")
    if isinstance(uuid, str):
        if uuid in seen:
            # A session that was resumed repeats what was said before.
            return scribe.leave_out("repeated entries")
        seen.add(uuid)
    if kind in _SPEAKERS:
        message = entry.get("message")
        if not isinstance(message, dict):
            raise ValueError('it has no "message"')
        if entry.get("isMeta"):
            return scribe.leave_out("notes of the tool")
        return write_block_message({"role": kind, **message}, scribe)
    if kind not in _QUIET:
        raise ValueError(f"unknown entry {kind!r:.80}; expected user, assistant, summary or system")
    return scribe.leave_out("notes of the tool")


def _is_part(value: Json) -> bool:
    """True for an entry of a session, and for a note that names none."""
    kind, session = inside(value, "type"), _session(value)
    return isinstance(kind, str) and (session != ("", "") or kind in (*_SPEAKERS, *_QUIET))


def _is_entry(entry: Mapping[str, Json]) -> bool:
    inner = entry.get("message")
    return entry.get("type") in _SPEAKERS and isinstance(inner, dict) and "content" in inner


FORM = Form(
    name="claude-code",
    title="Claude Code transcripts",
    looks='`{"type": "assistant", "message": {"role", "content"}, "sessionId"}`, a line each',
    unfit=marked(_is_entry, "no entry of the type user or assistant with a message", "entries"),
    dialogues=_talks,
    streams=True,
    part=_is_part,
)
