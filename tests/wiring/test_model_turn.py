"""The same turn on every provider: asked over a real socket, checked, cited, accounted for."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import anyio
import pytest

from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Fault, Said
from bedside.wiring import Ask, build_engine

P = "demo-adeyemi"
KEYS = {
    "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENROUTER_API_KEY": "k",
    "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "k",
}  # fmt: skip
QUESTION = "Considering everything, is her metformin dose reasonable given her kidneys?"


def run(
    home: Path,
    tmp_path: Path,
    provider: FakeProvider,
    writer: str,
    *,
    question: str = QUESTION,
    **more: str,
):
    copy = tmp_path / "home"
    if not copy.exists():
        shutil.copytree(home, copy)
    environ = {
        "BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": writer,
        "OPENAI_BASE_URL": provider.address("openai"),
        "ANTHROPIC_BASE_URL": provider.address("anthropic"),
        "OPENROUTER_BASE_URL": provider.address("openrouter"),
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": provider.address("bedrock"),
        **KEYS, **more,
    }  # fmt: skip

    async def go():
        engine = build_engine(load_settings(home=copy, environ=environ))
        try:
            return await engine.asker.ask(Ask(question=question, patient=P), engine.local())
        finally:
            await engine.close()

    return anyio.run(go)


def number_of(home: Path, words: str) -> int:
    """The number under which a source with these words is shown, read from the assembled prompt."""

    async def go():
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            return await engine.asker.ask(
                Ask(question=QUESTION, patient=P, call=False), engine.local()
            )
        finally:
            await engine.close()

    import re

    text = "\n".join(part["content"] for part in anyio.run(go)["prompt"])
    place = text.index(words)
    return int(re.findall(r'<source id="(\d+)"', text[:place])[-1])


@pytest.mark.parametrize("name", ["openai", "anthropic", "openrouter", "bedrock"])
def test_a_model_answers_and_every_claim_is_held_against_its_source(
    demo_home, tmp_path, name, monkeypatch
):
    for key, item in KEYS.items():
        monkeypatch.setenv(key, item)
    n = number_of(demo_home, "37 mL/min/1.73m2 (5 Nov 2026")
    said = (
        f'eGFR was 37 mL/min/1.73m2 on 5 Nov 2026 [{n}: "37 mL/min/1.73m2 (5 Nov 2026"]. '
        f'eGFR was 73 mL/min/1.73m2 on 5 Nov 2026 [{n}: "73 mL/min/1.73m2"]. '
        "She also has lupus."
    )
    with FakeProvider([Said(text=said), Said(text=said)]) as provider:
        turn = run(demo_home, tmp_path, provider, f"{name}:some-model")
        assert turn["answered_by"] == "model:some-model"
        assert "37 mL/min/1.73m2" in turn["answer"]
        assert "73 mL/min" not in turn["answer"].replace("37 mL/min/1.73m2", "")
        assert "lupus" not in turn["answer"]
        assert len(turn["removed"]) >= 2
        assert turn["egress"] == "none"
        assert [call["provider"] for call in turn["calls"]] == [name] * len(turn["calls"])
        assert 1 <= len(turn["calls"]) <= 2
        for cited in turn["citations"]:
            assert cited["quote"] in said
        asked = provider.of(name)[0].text
        assert QUESTION in json.dumps(asked) or QUESTION in str(asked)


@pytest.mark.requirement("CO-15")
@pytest.mark.requirement("EN-M2")
def test_a_provider_that_is_down_is_passed_over_and_named(demo_home, tmp_path):
    with FakeProvider(
        {
            "openrouter": [Fault(kind="server_error")],
            "anthropic": [Said(text="She also has lupus. Her eGFR is 73 mL/min/1.73m2.")],
        }
    ) as provider:
        turn = run(demo_home, tmp_path, provider, "openrouter:a,anthropic:b,extractive")
    assert turn["answered_by"] == "model:b"
    assert [call["provider"] for call in turn["calls"]][-1] == "anthropic"
    assert turn["calls"][0]["outcome"] != "ok"
    # The repair is a second model call: it does not wait for the one that is down again.
    assert (len(provider.of("openrouter")), len(provider.of("anthropic"))) == (3, 2)


@pytest.mark.requirement("CO-15")
@pytest.mark.requirement("EN-M7")
def test_when_every_provider_fails_the_extractive_writer_answers_and_says_so(demo_home, tmp_path):
    with FakeProvider({"openai": [Fault(kind="overloaded")] * 3}) as provider:
        turn = run(demo_home, tmp_path, provider, "openai:a,extractive")
    assert turn["answered_by"] == "extractive"
    assert turn["answer"]
    assert any(item.startswith("model:") for item in turn["degraded"])
    assert len(turn["calls"]) <= 3


@pytest.mark.requirement("EN-S7")
def test_a_key_alone_sends_nothing(demo_home, tmp_path):
    """A key and a remote address, no BEDSIDE_WRITER: nobody is asked. Named, but not allowed: neither."""
    with FakeProvider([Said(text="x")]) as provider:
        turn = run(demo_home, tmp_path, provider, "extractive")
        assert turn["egress"] == "none"
        assert turn["calls"] == []
        assert provider.of("openai") == []


@pytest.mark.requirement("EN-S7")
def test_a_remote_model_that_is_not_allowed_is_refused_for_a_patient_who_is_real(
    demo_home, tmp_path
):
    from sqlalchemy import delete

    from bedside.storage.tables.jobs import meta

    copy = tmp_path / "home"
    shutil.copytree(demo_home, copy)

    async def forget() -> None:
        engine = build_engine(load_settings(home=copy, environ={"BEDSIDE_EMBEDDER": "none"}))
        await engine.store.write(
            lambda c: c.execute(delete(meta).where(meta.c.key.like("synthetic:%")))
        )
        await engine.close()

    anyio.run(forget)
    with FakeProvider([Said(text="x")]) as provider:
        turn = run(
            demo_home, tmp_path, provider, "openai:a", OPENAI_BASE_URL="https://models.invalid/v1"
        )
        assert turn["answered_by"] == "extractive"
        assert turn["egress"] == "none"
        assert any("egress" in item for item in turn["degraded"]) or any(
            call["outcome"] == "refused" for call in turn["calls"]
        )


@pytest.mark.requirement("EN-C8")
def test_a_models_reported_usage_corrects_the_counts_of_later_sessions(demo_home, tmp_path):
    """The provider says 1.5 tokens for each of ours; the next session's budget knows."""
    with FakeProvider([Said(text="I cannot tell from the sources.", input=1)]) as provider:
        first = run(demo_home, tmp_path, provider, "openai:m")
    counted = first["receipt"]["total"] / first["receipt"]["factor"]
    reported = round(counted * 1.5)
    with FakeProvider([Said(text="I cannot tell from the sources.", input=reported)]) as provider:
        run(demo_home, tmp_path, provider, "openai:m")
    with FakeProvider([Said(text="I cannot tell from the sources.", input=None)]) as provider:
        third = run(demo_home, tmp_path, provider, "openai:m")
    assert 1.45 <= third["receipt"]["factor"] <= 1.55
    assert third["receipt"]["total"] <= third["receipt"]["limit"]


@pytest.mark.requirement("EN-M5")
@pytest.mark.parametrize("name", ["openai", "anthropic", "openrouter", "bedrock"])
def test_a_turn_that_is_cancelled_names_the_call_that_was_under_way(demo_home, tmp_path, name):
    copy = tmp_path / "home"
    shutil.copytree(demo_home, copy)
    with FakeProvider([Said(text="Never said.", first_s=60)]) as provider:
        environ = {
            "BEDSIDE_EMBEDDER": "none", "BEDSIDE_WRITER": f"{name}:m",
            "OPENAI_BASE_URL": provider.address("openai"),
            "ANTHROPIC_BASE_URL": provider.address("anthropic"),
            "OPENROUTER_BASE_URL": provider.address("openrouter"),
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": provider.address("bedrock"), **KEYS,
        }  # fmt: skip

        async def go():
            engine = build_engine(load_settings(home=copy, environ=environ))
            try:
                running = engine.asker.start(Ask(question=QUESTION, patient=P), engine.local())
                with anyio.fail_after(60):
                    while not provider.requests:  # noqa: ASYNC110 - a thread of its own
                        await anyio.sleep(0.01)
                running.task.cancel()
                with anyio.fail_after(10), pytest.raises(asyncio.CancelledError):
                    await running.task
                (listed,) = (await engine.turns_of(P, engine.local()))[:1]
                return await engine.turn(listed["turn_id"], engine.local())
            finally:
                await engine.close()

        turn = anyio.run(go)
    (call,) = turn["calls"]
    assert (call["provider"], call["model"], call["outcome"]) == (name, "m", "cancelled")
    assert call["cost_usd"] is None
    assert turn["cost_usd"] is None
    assert turn["status"] == "incomplete"
    assert turn["egress"] == "none"  # the provider is on loopback


@pytest.mark.requirement("EN-M4")
def test_a_turn_whose_first_provider_refused_still_knows_its_cost(demo_home, tmp_path):
    script = {
        "openai": [Fault(kind="rate_limited_bare")],
        "anthropic": [Said(text="I cannot tell from the sources.", input=4_000, output=100)],
    }
    with FakeProvider(script) as provider:
        turn = run(demo_home, tmp_path, provider, "openai:gpt-x,anthropic:claude-sonnet-4-6")
    assert [call["outcome"] for call in turn["calls"]] == ["rate_limited_429", "ok"]
    assert turn["cost_usd"] == pytest.approx(4_000 * 3e-6 + 100 * 15e-6)  # the published prices
