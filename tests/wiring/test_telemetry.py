"""A turn as spans: the GenAI names, and nothing of the patient."""

from __future__ import annotations

from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bedside.core.errors import InvalidArgument
from bedside.wiring.telemetry import Telemetry, telemetry_to

BODY = {
    "turn_id": "turn-1", "flow": "copilot", "session_id": "session-1", "status": "complete",
    "answer": "HbA1c of Quillfeather 8.2 % [1]", "answered_by": "model:m",
    "citations": [{"quote": "Quillfeather 8.2 %"}], "claims": [{"text": "Quillfeather"}],
    "removed": [], "degraded": ["record: timeout"], "egress": "none", "ms": 120.0,
    "plan": {"intent": "labs", "source": "rules", "queries": ["Quillfeather HbA1c"]},
    "receipt": {"total": 900, "limit": 6000, "cacheable": 400, "blocks": [
        {"name": "guardrails", "given": 500, "dropped": [], "shortened": []},
        {"name": "record", "given": 300, "dropped": [{"why": "Quillfeather"}] * 3, "shortened": []},
        {"name": "documents", "given": 100, "dropped": [], "shortened": [{"key": "Quillfeather"}]},
        {"name": "memories", "given": 0, "dropped": [{"why": "off"}], "shortened": []},
    ]},
    "calls": [
        {"provider": "anthropic", "model": "m", "role": "writer", "input": 10, "output": None,
         "cache_read": 4, "cache_write": None, "ms": 80.0, "cost_usd": None, "outcome": "ok"},
        {"provider": "openai", "model": "n", "role": "writer", "input": None, "output": None,
         "cache_read": None, "cache_write": None, "ms": 5.0, "cost_usd": None, "outcome": "http_529"},
    ],
}  # fmt: skip


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 3, 1, 9, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def spans():
    exporter = InMemorySpanExporter()
    telemetry = Telemetry(exporter, clock=Clock(), batch=False)
    telemetry.turn(BODY)
    telemetry.close()
    return exporter.get_finished_spans()


@pytest.mark.requirement("EN-T2")
def test_a_turn_is_one_trace_with_its_calls_under_it(spans):
    calls, root = spans[:2], spans[2]
    assert root.name == "invoke_agent copilot"
    assert root.attributes["gen_ai.agent.name"] == "bedside/copilot"
    assert root.end_time - root.start_time == 120_000_000
    assert [call.parent.span_id for call in calls] == [root.context.span_id] * 2
    assert calls[0].attributes["gen_ai.usage.input_tokens"] == 10
    assert "gen_ai.usage.output_tokens" not in calls[0].attributes
    assert calls[1].status.description == "http_529"


@pytest.mark.requirement("CO-14")
def test_an_assembled_context_is_one_event_with_layers_scenario_source_and_drops(spans):
    (event,) = spans[2].events
    assert event.name == "context assembled"
    assert dict(event.attributes) == {
        "bedside.context.block.guardrails": 500,
        "bedside.context.block.record": 300,
        "bedside.context.block.documents": 100,
        "bedside.context.scenario": "record+documents",
        "bedside.plan_source": "rules",
        "bedside.context.dropped": 4,
        "bedside.context.shortened": 1,
    }


@pytest.mark.requirement("EN-S4")
def test_no_attribute_holds_text_of_the_patient(spans):
    assert spans
    assert "Quillfeather" not in "".join(span.to_json() for span in spans)


def test_without_an_address_nothing_is_sent():
    assert telemetry_to("", clock=Clock()) is None


def test_what_is_no_address_is_named():
    with pytest.raises(InvalidArgument, match="BEDSIDE_OTLP_ENDPOINT"):
        telemetry_to("http://[", clock=Clock())


@pytest.mark.parametrize("path", ["", "/", "/v1/traces", "/my/own"])
@pytest.mark.requirement("CO-14")
def test_a_collectors_address_gets_the_turn_where_a_collector_listens(path):
    """Captured as it comes over the wire, by a server that answers on loopback."""
    got: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        telemetry = telemetry_to(f"http://127.0.0.1:{server.server_port}{path}", clock=Clock())
        assert telemetry is not None
        telemetry.turn(BODY)
        telemetry.close()
        server.shutdown()
    ((where, body),) = got
    assert where == ("/v1/traces" if path in {"", "/"} else path)
    assert body.count(b"context assembled") == 1
    assert b"Quillfeather" not in body
