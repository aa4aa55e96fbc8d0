"""The span of one call to the upstream, and what can be read of its answer as it passes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.dialects.base import Body, decode
from ledgeragent.gateway.errors import SlowUpstreamError, UpstreamError
from ledgeragent.gateway.sse import EventParser
from ledgeragent.gateway.usage import TokenUsage

try:
    from opentelemetry import propagate, trace
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Status, StatusCode
except ImportError:
    raise MissingExtraError("opentelemetry", "otel") from None

_TOKENS = {
    "prompt_tokens": "input_tokens",
    "input_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read.input_tokens",
}
_MOST, _LONGEST = 1 << 40, 200
_BESIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Messages counts these beside `input_tokens`, OpenTelemetry in them."""


class UpstreamSpan:
    """The span of one upstream call, and what its answer says of itself. A context for its length."""

    def __init__(self, span: Span, context: Context, *, streams: bool) -> None:
        self.span = span
        self._context = context
        self._streams = streams
        self._started = time.perf_counter()
        self._parser = EventParser()
        self._parts: list[bytes] = []
        self._told: dict[str, Any] = {}
        self._usage = TokenUsage()

    def telling(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The headers of the call, with what tells the upstream of its span."""
        with_trace = dict(headers)
        propagate.inject(with_trace, trace.set_span_in_context(self.span, self._context))
        return with_trace

    def __enter__(self) -> UpstreamSpan:
        return self

    def __exit__(self, kind: object, problem: BaseException | None, traceback: object) -> None:
        self.end(error_type_of(problem) if problem is not None else "")

    def heard(self, chunk: bytes) -> None:
        """Notes what the answer says so far, and when a stream began."""
        if not self.span.is_recording():
            return
        if not self._streams:
            self._parts.append(chunk)
            return
        self._told.setdefault(
            "gen_ai.response.time_to_first_chunk", time.perf_counter() - self._started
        )
        with _suspecting():
            for event in self._parser.feed(chunk):
                if isinstance(event.data, dict):
                    self._note(event.data)

    def end(self, error_type: str) -> None:
        """Notes the rest of what the answer says."""
        if self._parts:
            with _suspecting():
                self._note(decode(b"".join(self._parts)))
        self.span.set_attributes(self._told)
        with _suspecting():
            self.span.set_attributes(_tokens(self._usage.total))
        end_span(self.span, error_type)

    def _note(self, body: Body) -> None:
        reply = body.get("message") or body.get("response") or body
        self._usage.heard(reply.get("usage"))
        for name in ("model", "id"):
            if isinstance(reply.get(name), str):
                self._told[f"gen_ai.response.{name}"] = plain(reply[name])


def _suspecting() -> suppress:
    """Around the reading of an answer that nobody has looked at yet."""
    return suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def _tokens(usage: Mapping[str, Any]) -> dict[str, int]:
    """The token counts of one call, as OpenTelemetry names them."""
    attributes: dict[str, int] = {}
    for name, value in usage.items():
        if name in _TOKENS:
            attributes[f"gen_ai.usage.{_TOKENS[name]}"] = _count(value)
    if "input_tokens" in usage:
        attributes["gen_ai.usage.input_tokens"] += sum(_count(usage.get(n)) for n in _BESIDE_INPUT)
    for part in ("prompt_tokens_details", "input_tokens_details"):
        if "cached_tokens" in (details := usage.get(part) or {}):
            attributes["gen_ai.usage.cache_read.input_tokens"] = _count(details["cached_tokens"])
    return attributes


def _count(value: Any) -> int:
    """A number of tokens; 0 for what cannot be one, which the exporter could not encode."""
    return value if isinstance(value, int) and 0 <= value < _MOST else 0


def plain(text: str) -> str:
    """A name that the exporter can encode, whatever it was."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()


def address(url: str) -> dict[str, Any]:
    """Host and port of an upstream, as OpenTelemetry names them."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return {"server.address": parts.hostname or "", "server.port": port}


def error_type_of(problem: BaseException) -> str:
    """The kind of a failure."""
    match problem:
        case UpstreamError():
            return str(problem.status)
        case SlowUpstreamError():
            return "timeout"
        case asyncio.CancelledError() | GeneratorExit():
            return "cancelled"
        case _:
            return type(problem).__name__


def end_span(span: Span, error_type: str) -> None:
    """Ends a span, as a failed one if there is a kind of failure."""
    if error_type:
        span.set_attribute("error.type", error_type)
        span.set_status(Status(StatusCode.ERROR))
    span.end()
