"""EN-S7: where text may go, and what is said of where it went."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from bedside.core.errors import EgressRefused, InvalidArgument
from bedside.core.turn import Ended, NoModel, Route
from bedside.models.address import address_of, is_loopback
from bedside.models.build import build_gateway
from bedside.models.config import EgressConfig, ModelsConfig, ProviderConfig, parse_chain
from bedside.models.egress import allow, may_go, statement
from bedside.models.images import Image
from bedside.testing.provider import Fault, Said
from bedside.testing.provider_kit import SystemClock, ask, collect, config_for

WRITER = Route(role="writer")
KEYED = {name: ProviderConfig(key="k", region="us-east-1") for name in ("anthropic", "bedrock")}


def remote(*allowed: str, **more: Any) -> ModelsConfig:
    return ModelsConfig(
        writer=parse_chain("anthropic:claude-sonnet-4-6"),
        providers=KEYED,
        egress=EgressConfig(allow=frozenset(allowed), **more),
    )


@pytest.mark.requirement("EN-S7")
def test_a_key_alone_sends_nothing() -> None:
    assert not may_go("anthropic", route=WRITER, config=remote())
    with pytest.raises(EgressRefused) as caught:
        allow("anthropic", route=WRITER, config=remote())
    assert "BEDSIDE_EGRESS_ALLOW" in str(caught.value)
    gateway = build_gateway(remote(), clock=SystemClock(), rng=random.Random(1))
    with pytest.raises(NoModel) as spent:
        asyncio.run(collect(gateway))
    assert [call.outcome for call in spent.value.calls] == ["skipped_egress"]
    assert "egress.allow" in spent.value.why


@pytest.mark.requirement("EN-S7")
def test_the_list_a_loopback_address_and_a_synthetic_patient_let_text_go() -> None:
    assert may_go("anthropic", route=WRITER, config=remote("anthropic"))
    assert may_go("anthropic", route=Route(role="writer", exempt=True), config=remote())
    assert not may_go("bedrock", route=WRITER, config=remote("anthropic"))
    local = ModelsConfig(providers={"openai": ProviderConfig(base_url="http://127.0.0.1:8080/v1")})
    assert may_go("openai", route=WRITER, config=local)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:9/v1", True),
        ("http://localhost:11434/v1", True),
        ("http://LOCALHOST.:1", True),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://example.org/127.0.0.1", False),
        ("http://127.0.0.1@example.org", False),
        ("http://0.0.0.0:80", False),
        ("http://10.0.0.1", False),
        ("https://api.anthropic.com", False),
    ],
)
def test_loopback_is_judged_by_the_name_itself(url: str, *, local: bool) -> None:
    assert is_loopback(url) is local


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("bedrock", ProviderConfig()),
        ("openai", ProviderConfig(base_url="file:///etc/passwd")),
        ("openai", ProviderConfig(base_url="api.openai.com")),
        ("mine", ProviderConfig()),
    ],
)
def test_an_address_that_is_none_is_refused(name: str, config: ProviderConfig) -> None:
    with pytest.raises(InvalidArgument):
        address_of(name, config)


def call(provider: str, outcome: str = "ok") -> Ended:
    return Ended(usage={}, model="m", provider=provider, outcome=outcome)


@pytest.mark.requirement("EN-S7")
@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([], "none"),
        ([call("anthropic")], "anthropic, identifiers removed"),
        ([call("anthropic", "skipped_egress")], "none"),
        ([call("anthropic", "refused"), call("anthropic", "no_key")], "none"),
        ([call("anthropic", "timeout")], "anthropic, identifiers removed"),
        (
            [call("bedrock", "overloaded_529"), call("anthropic"), call("bedrock")],
            "bedrock and anthropic, identifiers removed",
        ),
    ],
)
def test_every_turn_states_its_egress(calls: list[Ended], said: str) -> None:
    assert statement(calls, config=remote("anthropic", "bedrock")) == said


def test_the_statement_says_full_where_identifiers_stay() -> None:
    config = remote("anthropic", deidentify=False)
    assert statement([call("anthropic")], config=config) == "anthropic, full"


def test_a_local_model_is_no_egress() -> None:
    local = ModelsConfig(providers={"openai": ProviderConfig(base_url="http://127.0.0.1:8080/v1")})
    assert statement([call("openai")], config=local) == "none"


def test_images_do_not_leave_while_identifiers_are_removed() -> None:
    picture = Image.of(b"\xff\xd8\xff" + bytes(10))
    gateway = build_gateway(remote("anthropic"), clock=SystemClock(), rng=random.Random(1))
    with pytest.raises(NoModel) as caught:
        asyncio.run(collect(gateway, images=[picture]))
    assert "images" in caught.value.why
    assert caught.value.calls == ()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("anthropic", "/v1/messages"),
        ("openai", "/v1/chat/completions"),
        ("bedrock", "/model/m/converse-stream"),
    ],
)
def test_a_redirect_is_not_followed(fake: Any, name: Any, path: str) -> None:
    """It would carry text to an address that nobody allowed."""
    elsewhere = fake([Said(text="caught")])
    there = f"{elsewhere.url}{path}"
    provider = fake([Fault(kind="status", status=307, location=there)])
    with pytest.raises(NoModel) as caught:
        ask(config_for(provider, name))
    assert [each.outcome for each in caught.value.calls] == ["bad_request_307"]
    assert elsewhere.requests == []


def test_a_remote_provider_without_a_key_is_not_called() -> None:
    config = ModelsConfig(
        writer=parse_chain("anthropic:claude-sonnet-4-6,openrouter:some/model"),
        egress=EgressConfig(allow=frozenset({"anthropic", "openrouter"})),
    )
    gateway = build_gateway(config, clock=SystemClock(), rng=random.Random(1))

    async def run() -> None:
        try:
            await collect(gateway)
        finally:
            await gateway.aclose()

    with pytest.raises(NoModel) as caught:
        asyncio.run(run())
    assert [each.outcome for each in caught.value.calls] == ["no_key", "no_key"]
