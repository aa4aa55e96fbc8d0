"""OpenTelemetry spans: one for each request, with one for each upstream call and each judged reply.

Attributes are names, numbers and decisions, never what was said, an argument or a key. Those of
`gen_ai.` are OpenTelemetry's own; ours begin with `ledgeragent.`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from typing import Any

import ledgeragent
from ledgeragent.domain import Domain
from ledgeragent.errors import MissingExtraError
from ledgeragent.gate import Delivery, Filtered, Gate
from ledgeragent.gateway.dialects.base import Body, encode
from ledgeragent.gateway.upstream import UpstreamLine
from ledgeragent.gateway.upstreamspan import UpstreamSpan, address, end_span, error_type_of, plain
from ledgeragent.gateway.words import word_of
from ledgeragent.ledger import Ledger
from ledgeragent.rejections import Rejections
from ledgeragent.session.counters import OTHER
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Finding

try:
    from opentelemetry import baggage, propagate, trace
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import Span, SpanKind
except ImportError:
    raise MissingExtraError("opentelemetry", "otel") from None

SERVICE = "ledgeragent-gateway"
"""The service's name where the environment gives it none."""

_NO_ANSWER = 499


def exporting() -> TracerProvider:
    """Exports over OTLP/HTTP as the environment's OTEL_* variables say; `shutdown` sends the rest."""
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: SERVICE}))
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Spans:
    """Begins the spans of a gateway of one domain."""

    def __init__(self, domain: Domain, mode: str, provider: trace.TracerProvider) -> None:
        self.tracer = provider.get_tracer("ledgeragent.gateway", ledgeragent.__version__)
        self.tools = frozenset(tool.tool for tool in domain.tools)
        self._about = {
            "ledgeragent.mode": mode,
            "ledgeragent.domain": domain.name,
            "ledgeragent.pack.version": domain.version,
            "ledgeragent.pack.digest": domain.digest,
        }

    def begin(self, path: str, headers: Mapping[str, str]) -> RequestTrace:
        """The span of a request that has come in; it belongs to the trace its headers tell of."""
        # What a client says of itself to us is not for the upstream to know.
        above = baggage.clear(propagate.extract(headers))
        attributes = {
            "http.request.method": "POST",
            "http.route": path,
            "url.path": path,
            "url.scheme": "http",
            "ledgeragent.dialect": path.split("/")[2],
            **self._about,
        }
        span = self.tracer.start_span(
            f"POST {path}", context=above, kind=SpanKind.SERVER, attributes=attributes
        )
        return RequestTrace(self, span, trace.set_span_in_context(span, above))


class RequestTrace:
    """The spans of one request."""

    def __init__(self, spans: Spans, span: Span, context: Context) -> None:
        self.span = span
        self.context = context
        self.model: dict[str, Any] = {}
        self._spans = spans
        self._failed = ""

    def read(self, body: Body, *, stream: bool) -> None:
        """Notes what is asked for."""
        self.model = {"gen_ai.request.stream": stream}
        if isinstance(model := body.get("model"), str):
            self.model["gen_ai.request.model"] = plain(model)
        self.span.set_attributes(self.model)

    def belongs(self, session: str) -> None:
        """Notes the conversation's name in the journal."""
        self.span.set_attribute("gen_ai.conversation.id", session)

    def gate(self, gate: Gate) -> Gate:
        """The gate, with a span for each reply that it judges."""
        settings = {field.name: getattr(gate, field.name) for field in fields(Gate)}
        return TracedGate(**settings, trace=self)

    def line(self, line: UpstreamLine) -> UpstreamLine:
        """The line to upstream, with a span for each call."""
        return TracedLine(line.upstream, line.url, line.headers, trace=self)

    def call(self, line: UpstreamLine) -> UpstreamSpan:
        """The span of one call on this line."""
        model = self.model
        span = self.child(
            f"chat {model.get('gen_ai.request.model', '')}".rstrip(),
            SpanKind.CLIENT,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "anthropic" if "/messages" in line.url else "openai",
                **address(line.url),
                **model,
            },
        )
        return UpstreamSpan(span, self.context, streams=bool(model.get("gen_ai.request.stream")))

    def child(self, name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> Span:
        """A span below the request's."""
        return self._spans.tracer.start_span(
            name, context=self.context, kind=kind, attributes=attributes
        )

    def judged(self, replies: Sequence[Filtered], revisions: int) -> None:
        """Notes what came of the request: the decision on the last reply, and what led to it."""
        self.span.set_attribute("ledgeragent.revisions", revisions)
        if replies:
            self.span.set_attribute("ledgeragent.decision", word_of(replies[-1]))
            self.span.set_attributes(_rules(replies))

    def failed(self, problem: Exception) -> None:
        """Notes that an answer which had begun could not be completed."""
        self._failed = error_type_of(problem)

    def end(self, status: int) -> None:
        """The request has been answered with this status, or was given up."""
        if status != _NO_ANSWER:
            self.span.set_attribute("http.response.status_code", status)
        if status >= 500 or status == _NO_ANSWER:
            self._failed = self._failed or (str(status) if status != _NO_ANSWER else "cancelled")
        end_span(self.span, self._failed)

    def verdicts(self, filtered: Filtered) -> dict[str, Any]:
        """What may be told of a judged reply. A tool that a model made up has no name."""
        names = (v.call.name for v in filtered.verdicts)
        return {
            "ledgeragent.decision": word_of(filtered),
            "ledgeragent.tools": [n if n in self._spans.tools else OTHER for n in names],
            "ledgeragent.decisions": [v.word for v in filtered.verdicts],
            **_rules([filtered]),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedGate(Gate):
    """A gate whose every judged reply is a span."""

    trace: RequestTrace

    def filter(
        self,
        reply: Reply,
        ledger: Ledger,
        rejections: Rejections | None = None,
        delivery: Delivery = "drop",
        running: Sequence[ToolCall] = (),
    ) -> Filtered:
        """What the gate says."""
        span = self.trace.child("judge", SpanKind.INTERNAL, {})
        error_type = "cannot be judged"
        try:
            filtered = Gate.filter(self, reply, ledger, rejections, delivery, running)
            span.set_attributes(self.trace.verdicts(filtered))
            error_type = ""
        finally:
            end_span(span, error_type)
        return filtered


@dataclass(slots=True)
class TracedLine(UpstreamLine):
    """A line to upstream whose every call is a span, which its headers tell of."""

    trace: RequestTrace | None = None

    async def ask(self, body: Body) -> bytes:
        """The whole answer."""
        return b"".join([part async for part in self.chunks(encode(body))])

    async def chunks(self, body: bytes) -> AsyncGenerator[bytes, None]:
        """The bytes of an answer as they come in."""
        assert self.trace is not None
        with self.trace.call(self) as call:
            async with aclosing(self.send(body, call.telling(self.headers))) as chunks:
                async for chunk in chunks:
                    call.heard(chunk)
                    yield chunk


def _rules(replies: Iterable[Filtered]) -> dict[str, list[str]]:
    """Which rules spoke: those that decided, and those that only record."""
    verdicts = [verdict for filtered in replies for verdict in filtered.verdicts]
    attributes = {
        "ledgeragent.predicates": _ids(f for v in verdicts for f in v.findings),
        "ledgeragent.shadow_predicates": _ids(f for v in verdicts for f in v.shadow),
    }
    return {name: ids for name, ids in attributes.items() if ids}


def _ids(findings: Iterable[Finding]) -> list[str]:
    return list(dict.fromkeys(finding.predicate for finding in findings))
