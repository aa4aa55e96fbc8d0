"""What every client script shares. Only Python's library: it runs in the client's environment."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Call = tuple[str, dict[str, Any]]
Answer = dict[str, Any]


def answer(text: object, error: object = None) -> Answer:
    """The answer of a call as the script's runner reads it; `error` is found out if not given."""
    words = text if isinstance(text, str) else json.dumps(text, default=str)
    failed = bool(error) if error is not None else "not executed" in words
    return {"text": words, "error": failed}


def content_text(content: Any) -> str:
    """The text of content blocks, whichever library's they are."""
    blocks = content if isinstance(content, list | tuple) else [content]
    texts = (b.get("text") if isinstance(b, dict) else getattr(b, "text", None) for b in blocks)
    return "\n".join(text for text in texts if isinstance(text, str)) or str(content)


def main(play: Callable[[Any, list[Call]], Awaitable[list[Answer]]]) -> None:
    """Reads the target and the calls, plays them, and prints the answers as one line of JSON."""
    target, calls = json.loads(sys.argv[1])
    answers = asyncio.run(play(target, [(name, arguments) for name, arguments in calls]))
    print("\nANSWERS " + json.dumps(answers), flush=True)
