"""The companion by clicking: two people, each signed in with a token of their own, on one guarded server."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bedside.server.auth import token

from .conftest import SECRET, served

PRIVATE = "the blue envelope from Lisbon"
HEARD = (
    "Yes, let us begin.", "I lie awake since the diagnosis.", "I feel alone with the bills.",
    "I was hurt when nobody asked me.", "Yes, I feel heard.",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a token secret: everybody signs in."""
    home = tmp_path_factory.mktemp("two-logins") / "home"
    with served(shutil.copytree(demo_home, home), BEDSIDE_TOKEN_SECRET=SECRET) as base:
        yield base


def signed_in(opened: Callable[..., Any], actor: str, **more: Any) -> Any:
    page = opened(**more)
    page.goto("/companion")
    page.get_by_label("Access token").fill(
        token(SECRET, actor=actor, expires=int(time.time()) + 600)
    )
    page.get_by_role("button", name="Sign in").click()
    page.goto("/companion")
    return page


def says(page: Any, text: str) -> None:
    before = page.locator(".talk li").count()
    page.locator(".say textarea").fill(text)
    page.locator(".say .go").click()
    page.wait_for_function("n => document.querySelectorAll('.talk li').length > n", arg=before)
    page.locator(".say .go:not([disabled])").wait_for()


def gives(page: Any, text: str) -> None:
    page.locator(".write summary").click()
    page.locator(".write textarea").fill(text)
    page.locator(".write button").click()
    page.get_by_role("button", name="Share…").click()
    assert page.locator(".preview blockquote").inner_text() == text
    page.get_by_role("button", name="Share exactly this").click()
    page.get_by_role("button", name="Take it back").wait_for()


def shot(page: Any, name: str) -> None:
    if folder := os.environ.get("BEDSIDE_SHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("CM-12")
def test_two_people_with_logins_of_their_own_give_read_and_take_back_by_clicking(opened):
    anna, ben, carl = (signed_in(opened, who, width=width) for who, width in
                       (("anna", 1280), ("ben", 390), ("carl", 1280)))  # fmt: skip
    anna.locator("#begin textarea").fill(f"We argue about {PRIVATE}.")
    anna.get_by_role("button", name="Begin with one other person").click()
    anna.locator(".talk li").nth(1).wait_for()
    anna.locator(".invite input").fill("ben")
    anna.locator(".invite button").click()
    anna.locator(".invite").wait_for(state="hidden")
    address = anna.url

    ben.reload()
    ben.get_by_role("link", name="You are invited: With anna").click()
    says(ben, "Hello")
    for text in HEARD:
        says(anna, text)
    shot(anna, "1-anna-heard")
    shot(ben, "2-ben-begun")

    text = "I imagine that you felt <i>left alone</i> with it."
    gives(anna, text)
    shot(anna, "3-anna-shared")
    ben.reload()
    shared = ben.locator(".theirs blockquote")
    assert shared.inner_text() == text
    ben.get_by_role("button", name="I have read it").click()
    ben.get_by_text("You have read it.").wait_for()
    shot(ben, "4-ben-read")
    assert PRIVATE not in ben.content()
    anna.reload()
    anna.get_by_text("ben has read it.").wait_for()
    anna.get_by_role("button", name="Take it back").click()
    anna.get_by_text("Taken back; it is nowhere else any more.").wait_for()
    ben.reload()
    ben.get_by_text("Taken back by its author.").wait_for()
    assert "left alone" not in ben.content()
    shot(ben, "5-ben-taken-back")

    # A third person with a good login sees neither the conversation nor that there is one.
    assert "Your conversations" not in carl.content()
    found = carl.goto(address)
    assert found.status == 404
    assert PRIVATE not in carl.content()
    carl.errors.clear()  # the browser's own word on the 404
    ben.locator(".consents summary").click()
    ben.get_by_role("button", name="Allow").first.click()
    ben.get_by_role("button", name="Take back").first.wait_for()
    shot(ben, "6-ben-consent")
    ben.get_by_role("button", name="Leave quickly").click()
    ben.wait_for_url(lambda url: "/companion" not in url)
