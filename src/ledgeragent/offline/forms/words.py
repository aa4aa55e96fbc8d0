"""The words in a message: text parts joined, what is no text left out, and nothing guessed."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.types import Json

_TEXTS = {
    "text": ("text", "content"),
    "input_text": ("text",),
    "output_text": ("text",),
    "summary_text": ("text",),
    "refusal": ("refusal",),
}
_THOUGHTS = frozenset(
    ("thinking", "redacted_thinking", "reasoning", "reasoning_content", "redacted_reasoning")
)
_MEDIA = frozenset(
    (
        "image", "image_url", "input_image", "input_audio", "audio", "audio_url", "video",
        "video_url", "file", "input_file", "document", "media", "blob", "uri", "binary",
        "image-url", "document-url",
    )
)  # fmt: skip


def words(content: Json, scribe: Scribe) -> str:
    """The text of what a person or the model said: a text, null, or a list of parts.

    Raises ValueError for a part of another kind.
    """
    if content is None or type(content) is str:
        return content or ""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return str(content)
    return "".join(word(part, scribe) for part in content)


def word(part: Json, scribe: Scribe) -> str:
    """The text of one part; "" for one that is left out."""
    if isinstance(part, str):
        return part
    kind = part.get("type") if isinstance(part, dict) else type(part).__name__
    for key in _TEXTS.get(str(kind), ()):
        if isinstance(part.get(key), str):
            return str(part[key])
    if leave(str(kind), scribe):
        return ""
    raise unknown(kind, "text")


def leave(kind: str, scribe: Scribe) -> bool:
    """Leaves out what no rule reads: pictures and other media, and the model's thoughts."""
    if kind in _THOUGHTS:
        scribe.leave_out("reasoning")
    elif kind in _MEDIA:
        scribe.leave_out("media")
    else:
        return False
    return True


def unknown(kind: Json, *expected: str) -> ValueError:
    """The problem with a part that nobody knows."""
    return ValueError(f"unknown content part {kind!r:.80}; expected {', '.join(expected)}")


def role_of(message: Mapping[str, Json]) -> str:
    """The role of a message; ValueError where there is none, or it is no object."""
    if not isinstance(message, dict):
        raise ValueError("it is no message object")
    if "role" not in message:
        raise ValueError("it has no 'role'")
    return str(message["role"])


def unknown_role(role: Json) -> ValueError:
    """The problem with a role that nobody knows."""
    return ValueError(f"unknown role {role!r:.80}")
