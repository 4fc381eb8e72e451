"""A provider that was given up is set aside for the rest of its turn, and for no other."""

from __future__ import annotations

import anyio
import pytest

from bedside.context import Block, Budget, assemble
from bedside.core.turn import Ended, NoModel, Route
from bedside.models.fakes import FakeGateway, Written
from bedside.wiring.models import Routed

PROMPT = assemble([Block("rules", "Answer.", trust="ours")], budget=Budget(1_000))


class Down(FakeGateway):
    """Fails every call with this outcome."""

    def __init__(self, outcome: str) -> None:
        super().__init__()
        self.call = Ended(usage={}, model="m", provider="fake", outcome=outcome)

    async def stream(self, prompt, *, route, **rest):
        try:
            async for event in super().stream(prompt, route=route, **rest):
                yield event
        except NoModel:
            raise NoModel("down", [self.call]) from None


def asked(turn: Routed) -> None:
    async def go() -> None:
        try:
            async for _ in turn.stream(PROMPT, route=Route(role="writer")):
                pass
        except NoModel:
            pass

    anyio.run(go)


@pytest.mark.parametrize(
    ("gateway", "aside"),
    [
        (Down("server_error_500"), {"fake"}),
        (Down("bad_request_400"), set()),
        (FakeGateway([Written(text="Half of", cut=True)]), set()),
    ],
    ids=["down", "our own fault", "broke off"],
)
def test_only_who_was_given_up_is_passed_over_by_the_next_call_of_the_turn(gateway, aside) -> None:
    turn = Routed(gateway, veil=(), exempt=True)
    for other in (turn, turn, Routed(gateway, veil=(), exempt=True)):
        asked(other)
    assert [one.route.aside for one in gateway.requests] == [set(), aside, set()]
