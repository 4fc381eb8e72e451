"""Turns as OpenTelemetry spans with the GenAI names. Allow-listed: ids, counts, names, durations.

Nothing leaves this machine unless an address is set (`BEDSIDE_OTLP_ENDPOINT`); then the spans go
there over OTLP/HTTP. No question, answer, quote or patient id is ever an attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from bedside import __version__
from bedside.core.clock import Clock
from bedside.core.errors import InvalidArgument, MissingExtra

__all__ = ["Telemetry", "telemetry_to"]

_NANO = 1_000_000_000


class Telemetry:
    """Writes one trace per turn: the turn, and each model call under it."""

    def __init__(self, exporter: SpanExporter, *, clock: Clock, batch: bool = True) -> None:
        self._clock = clock
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "bedside", "service.version": __version__})
        )
        processor = BatchSpanProcessor(exporter) if batch else SimpleSpanProcessor(exporter)
        self._provider.add_span_processor(processor)
        self._tracer: Tracer = self._provider.get_tracer("bedside", __version__)

    def turn(self, body: Mapping[str, Any]) -> None:
        """Write a finished turn."""
        end = self._clock.now()
        start = end - timedelta(milliseconds=float(body.get("ms") or 0))
        receipt: Mapping[str, Any] = body.get("receipt") or {}
        span = self._tracer.start_span(
            f"invoke_agent {body['flow']}",
            kind=SpanKind.INTERNAL,
            start_time=int(start.timestamp() * _NANO),
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": f"bedside/{body['flow']}",
                "gen_ai.conversation.id": body["session_id"],
                "bedside.turn": body["turn_id"],
                "bedside.status": body["status"],
                "bedside.answered_by": body.get("answered_by") or "nobody",
                "bedside.intent": (body.get("plan") or {}).get("intent", ""),
                "bedside.plan_source": (body.get("plan") or {}).get("source", ""),
                "bedside.egress": body.get("egress", ""),
                "bedside.context.tokens": receipt.get("total") or 0,
                "bedside.context.limit": receipt.get("limit") or 0,
                "bedside.context.cacheable": receipt.get("cacheable") or 0,
                "bedside.claims": len(body.get("claims", ())),
                "bedside.citations": len(body.get("citations", ())),
                "bedside.removed": len(body.get("removed", ())),
                "bedside.degraded": len(body.get("degraded", ())),
            },
        )
        if receipt:
            span.add_event(
                "context assembled",
                _assembled(receipt, body.get("plan") or {}),
                int(start.timestamp() * _NANO),
            )
        context = set_span_in_context(span)
        for call in body.get("calls", ()):
            self._call(call, context=context, end=int(end.timestamp() * _NANO))
        if body["status"] != "complete":
            span.set_status(Status(StatusCode.ERROR, body["status"]))
        span.end(end_time=int(end.timestamp() * _NANO))

    def _call(self, call: Mapping[str, Any], *, context: Any, end: int) -> None:
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call["provider"],
            "gen_ai.request.model": call["model"],
            "bedside.role": call["role"],
            "bedside.outcome": call["outcome"],
        }
        known = {
            "gen_ai.usage.input_tokens": call["input"],
            "gen_ai.usage.output_tokens": call["output"],
            "gen_ai.usage.cache_read.input_tokens": call["cache_read"],
            "gen_ai.usage.cache_creation.input_tokens": call["cache_write"],
            "bedside.cost_usd": call["cost_usd"],
        }
        attributes.update({name: item for name, item in known.items() if item is not None})
        span = self._tracer.start_span(
            f"chat {call['model']}",
            context=context,
            kind=SpanKind.CLIENT,
            start_time=end - int(float(call["ms"]) * 1_000_000),
            attributes=attributes,
        )
        if call["outcome"] != "ok":
            span.set_status(Status(StatusCode.ERROR, call["outcome"]))
        span.end(end_time=end)

    def close(self) -> None:
        """Send what waits."""
        self._provider.shutdown()


_SCENARIO = ("record", "new document", "documents")
"""Blocks whose presence tells what a context was made of (CO-14)."""


def _assembled(receipt: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens by layer, what it was made of, who planned it, and how much was left out."""
    blocks = {block["name"]: block for block in receipt.get("blocks", ())}
    given = {name: block["given"] for name, block in blocks.items() if block["given"]}
    return {
        **{f"bedside.context.block.{name}": tokens for name, tokens in given.items()},
        "bedside.context.scenario": "+".join(name for name in _SCENARIO if name in given) or "none",
        "bedside.plan_source": plan.get("source", ""),
        "bedside.context.dropped": sum(len(block["dropped"]) for block in blocks.values()),
        "bedside.context.shortened": sum(len(block["shortened"]) for block in blocks.values()),
    }


def telemetry_to(endpoint: str, *, clock: Clock) -> Telemetry | None:
    """Telemetry to an OTLP/HTTP address; `None` where no address is set.

    An address without a path is a collector's: traces go to its `/v1/traces`.

    Raises:
        InvalidArgument: what is set is no address.
        MissingExtra: an address is set and the exporter is not installed.
    """
    if not endpoint:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise MissingExtra("Sending traces over OTLP", extra="otlp") from None
    try:
        path = urlsplit(endpoint).path
    except ValueError:
        raise InvalidArgument(
            "BEDSIDE_OTLP_ENDPOINT", found=endpoint, want="an address: http://collector:4318"
        ) from None
    if path in {"", "/"}:
        endpoint = f"{endpoint.rstrip('/')}/v1/traces"
    return Telemetry(OTLPSpanExporter(endpoint=endpoint), clock=clock)
