"""The spans of a gateway over the lending library, kept in memory."""

from __future__ import annotations

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler
from opentelemetry.trace import SpanKind

from ledgeragent.gateway.spans import Spans
from tests.lending.domain import LIBRARY


class Recorded:
    """Spans that stay in memory."""

    def __init__(self, mode: str = "enforce", sampler: Sampler = ALWAYS_ON) -> None:
        self._kept = InMemorySpanExporter()
        provider = TracerProvider(sampler=sampler)
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.spans = Spans(LIBRARY, mode, provider)

    @property
    def ended(self) -> list[ReadableSpan]:
        return list(self._kept.get_finished_spans())

    def clear(self) -> None:
        self._kept.clear()

    def of(self, kind: SpanKind) -> list[ReadableSpan]:
        return [span for span in self.ended if span.kind is kind]

    @property
    def request(self) -> ReadableSpan:
        (span,) = self.of(SpanKind.SERVER)
        return span
