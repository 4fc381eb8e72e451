"""Every gateway we ship passes the public conformance suite."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from bedside.core.context import ToolCall
from bedside.core.turn import Gateway
from bedside.models.build import build_gateway
from bedside.models.config import EgressConfig, ModelsConfig
from bedside.models.fakes import FakeGateway, Request, Written
from bedside.testing.gateway_contract import CALLS, SAID, GatewayContract
from bedside.testing.provider import Asked, FakeProvider, Fault, Received, Said
from bedside.testing.provider_kit import SystemClock, config_for
from bedside.testing.provider_script import Script

_PIECES = tuple(SAID[at : at + 5] for at in range(0, len(SAID), 5))


class TestFakeGateway(GatewayContract):
    def answering(self) -> Gateway:
        return FakeGateway([SAID])

    def calling(self) -> Gateway:
        def script(request: Request) -> Written:
            calls = tuple(
                ToolCall(id=str(at), name=name, arguments=arguments)
                for at, (name, arguments) in enumerate(CALLS)
            )
            return Written(calls=calls) if request.may_call else Written(text=SAID)

        return FakeGateway(script)

    def cutting(self) -> Gateway:
        return FakeGateway([Written(pieces=_PIECES[:3], cut=True)])

    def empty(self) -> Gateway:
        return FakeGateway()


class OverTheSocket(GatewayContract):
    """The real gateway over one protocol; providers stop after each test."""

    protocol: Any

    @pytest.fixture(autouse=True)
    def _providers(self, fake: Callable[[Script], FakeProvider]) -> None:
        self.fake = fake

    def gateway(self, script: Script) -> Gateway:
        config = config_for(self.fake(script), self.protocol)
        return build_gateway(config, clock=SystemClock(), rng=random.Random(1))

    def answering(self) -> Gateway:
        return self.gateway([Said(pieces=_PIECES)])

    def calling(self) -> Gateway:
        def script(received: Received) -> Said:
            barred = received.body.get("tool_choice") in ("none", {"type": "none"})
            if barred:
                return Said(pieces=_PIECES)
            tools = tuple(
                Asked(name=name, arguments=arguments, id=f"t{at}")
                for at, (name, arguments) in enumerate(CALLS)
            )
            # Bedrock cannot bar calls: a model may call and write; only the text counts then.
            return Said(pieces=_PIECES if self.protocol == "bedrock" else (), tools=tools)

        return self.gateway(script)

    def cutting(self) -> Gateway:
        return self.gateway([Fault(kind="cut", said=Said(pieces=_PIECES), after=5)])

    def empty(self) -> Gateway:
        return self.gateway([Fault(kind="status", status=400)])


class TestAnthropic(OverTheSocket):
    protocol = "anthropic"


class TestOpenAI(OverTheSocket):
    protocol = "openai"


class TestOpenRouter(OverTheSocket):
    protocol = "openrouter"


class TestBedrock(OverTheSocket):
    protocol = "bedrock"


class TestVeiledByLoopbackInDisguise(OverTheSocket):
    """The de-identifying path: an address that is not loopback by name, reached on this machine."""

    protocol = "anthropic"

    def gateway(self, script: Script) -> Gateway:
        from bedside.models.build import build_providers
        from bedside.models.deidentify import Veiled
        from bedside.models.gateway import Chain
        from bedside.models.prices import bundled_prices
        from bedside.models.profiles import bundled_profiles

        config = config_for(self.fake(script), self.protocol)
        clock = SystemClock()
        chain = Chain(
            config,
            providers=build_providers(config, clock=clock),
            profiles=bundled_profiles(),
            prices=bundled_prices(),
            clock=clock,
            rng=random.Random(1),
        )
        return Veiled(chain, config=config, remote=frozenset({"anthropic"}))


def test_without_any_link_the_gateway_has_no_model() -> None:
    import asyncio

    from bedside.core.turn import NoModel
    from bedside.testing.provider_kit import collect

    config = ModelsConfig(egress=EgressConfig(allow=frozenset({"anthropic"})))
    gateway = build_gateway(config, clock=SystemClock(), rng=random.Random(1))
    with pytest.raises(NoModel) as caught:
        asyncio.run(collect(gateway))
    assert caught.value.calls == ()
