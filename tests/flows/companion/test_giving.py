"""A private draft goes out by a plain order alone: never by a question, a wish, a fear or an account."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from house import House

DRAFT = "I imagine that you felt afraid in the ward."


def after(home: Path, text: str, *, between: bool = True):
    """The state of Anna's draft after her words, and what Ben is shown then."""

    async def go():
        house = House(home)
        try:
            await house.both_heard()
            ident = (await house.says("anna", draft=DRAFT))["draft"]["id"]
            if between:
                await house.says("anna", "I slept badly this week.")
            turn = await house.says("anna", text.format(id=ident))
            seen = await house.says("ben", "What is there for me?")
            return turn, DRAFT in seen["answer"]
        finally:
            await house.engine.close()

    return anyio.run(go)


@pytest.mark.requirement("CM-11")
@pytest.mark.parametrize(
    "text",
    [
        "Should I share it?",
        "I am afraid to share it.",
        "Do you think that I should send it to him",
        "I want to share it one day.",
        "I would never give it to him.",
        "Share it? I do not know.",
        "What happens when I share that?",
        "Please share with me what he said.",
        "I share that.",
        "Share it later.",
        "Send it to me.",
    ],
)
def test_a_question_a_wish_or_a_fear_gives_nothing_out(tmp_path, text):
    turn, shown = after(tmp_path, text)
    assert turn["status"] == "complete"
    assert turn["answer"]
    assert not shown


@pytest.mark.requirement("CM-11")
def test_a_question_whether_to_give_it_shows_the_draft_that_waits(tmp_path):
    turn, _ = after(tmp_path, "Should I share it?")
    assert DRAFT in turn["answer"]
    assert "still with you alone" in turn["answer"]


@pytest.mark.requirement("CM-12")
@pytest.mark.parametrize("between", [True, False])
@pytest.mark.parametrize(
    "text",
    ["Share it.", "Yes, please share it with him now.", "OK, send it to Ben.", "Yes, share.",
     "I approve and share {id}."],
)  # fmt: skip
def test_a_plain_order_gives_the_draft_out(tmp_path, text, between):
    assert after(tmp_path, text, between=between)[1]
