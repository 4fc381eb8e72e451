"""The companion's pages: one person's space, the exact preview, leaving, and what the other sees."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from .conftest import Guarded

PRIVATE = "the blue envelope from Lisbon"
SHARED = "I think you feel watched <b>when</b> I ask about money."


def say(page, place: int, text: str) -> None:
    space = page.locator(".space").nth(place)
    before = space.locator(".talk li").count()
    space.locator(".say textarea").fill(text)
    space.locator(".say .go").click()
    page.wait_for_function(
        "a => document.querySelectorAll('.space')[a[0]].querySelectorAll('.talk li').length > a[1]",
        arg=[place, before],
    )
    space.locator(".say .go:not([disabled])").wait_for()


def pair(page) -> tuple:
    """Two people who have begun; the first has said something private."""
    page.goto("/companion/demo")
    say(page, 0, f"We argue about money, and about {PRIVATE}.")
    ana, ben = page.locator(".space").nth(0), page.locator(".space").nth(1)
    ana.locator(".invite input").fill("ben")
    ana.locator(".invite button").click()
    ana.locator(".invite").wait_for(state="hidden")
    say(page, 1, "Hello. I am tired of the fights.")
    return ana, ben


def draft(space) -> None:
    space.locator(".write summary").click()
    space.locator(".write textarea").fill(SHARED)
    space.locator(".write button").click()
    space.locator(".drafts blockquote").wait_for()


def test_the_preview_shows_the_exact_text_and_whom_it_goes_to_before_anything_goes(page):
    ana, ben = pair(page)
    draft(ana)
    ana.get_by_role("button", name="Share…").click()
    preview = ana.locator(".preview")
    assert preview.locator("blockquote").inner_text() == SHARED
    assert "ben will read exactly this" in preview.inner_text()
    preview.get_by_role("button", name="Not now").click()
    ana.get_by_role("button", name="Share…").wait_for()
    assert "watched" not in ben.inner_text()
    assert ana.locator("blockquote b").count() == 0  # the text is text


def test_what_is_shared_crosses_word_for_word_is_read_and_is_taken_back(page):
    ana, ben = pair(page)
    for said in (
        "Yes, let us begin.",
        "I feel invisible when money is spent and nobody tells me.",
        "It has been like that for two years and it makes me sad.",
        "Yes, that is right. I feel heard.",
        "Yes, I feel heard.",
    ):
        if "Step 3" not in ana.locator(".stage").inner_text():
            say(page, 0, said)
    assert "Step 3 of 5" in ana.locator(".stage").inner_text()
    draft(ana)
    ana.get_by_role("button", name="Share…").last.click()
    ana.get_by_role("button", name="Share exactly this").click()
    ben.locator(".theirs blockquote").wait_for()
    assert ben.locator(".theirs blockquote").inner_text() == SHARED
    assert PRIVATE not in ben.inner_html()
    ben.get_by_role("button", name="I have read it").click()
    ana.locator("text=ben has read it.").wait_for()
    ana.get_by_role("button", name="Take it back").click()
    ben.locator("text=Taken back by its author.").wait_for()
    assert ben.locator(".theirs blockquote").count() == 0


def test_one_space_never_holds_the_other_s_words(page):
    _ana, ben = pair(page)
    say(page, 0, "Yes, let us begin.")
    assert PRIVATE not in ben.inner_html()
    seen = page.request.get("/v1/companion?person=ben").json()[0]["session_id"]
    page.goto(f"/companion/demo/{seen}")
    page.locator(".talk li").first.wait_for()
    assert PRIVATE in page.locator(".space").nth(0).inner_text()
    assert PRIVATE not in page.locator(".space").nth(1).inner_html()


def test_consent_is_given_and_taken_back_and_the_page_says_which(page):
    ana, _ben = pair(page)
    ana.locator(".consents summary").click()
    recall = ana.locator(".consents ul:not(.facts) li").first
    assert recall.locator("b").inner_text() == "no"
    recall.get_by_role("button", name="Allow").click()
    page.wait_for_selector(
        ".space >> nth=0 >> .consents ul:not(.facts) li >> nth=0 >> b:has-text('yes')"
    )
    recall.get_by_role("button", name="Take back").click()
    page.wait_for_selector(
        ".space >> nth=0 >> .consents ul:not(.facts) li >> nth=0 >> b:has-text('no')"
    )


@pytest.mark.parametrize("how", ["button", "escape"])
def test_leaving_is_one_move_and_back_does_not_return(opened, how):
    page = opened(width=360)
    page.goto("/knowledge")
    page.goto("/companion")
    if how == "button":
        page.click("#leave")
    else:
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    page.wait_for_url("about:blank")
    page.go_back()
    assert page.url.endswith("/knowledge")


def test_a_person_s_own_page_opens_where_it_was_begun_and_fits_a_phone(opened):
    page = opened(width=360, scheme="dark")
    page.goto("/companion")
    page.fill("#begin textarea", "We argue about money.")
    page.click("#begin button")
    page.wait_for_selector(".talk li")
    assert page.locator(".space").count() == 1
    assert "We argue about money." in page.inner_text(".talk")
    assert "not been clinically reviewed" in page.inner_text(".wall")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_with_logins_nobody_opens_another_s_space_and_nothing_stands_side_by_side(
    guarded: Guarded,
):
    ana = {**guarded.bearer(actor="ana"), "Accept": "text/html"}
    made = guarded.post("/v1/companion", json={"text": f"About {PRIVATE}."}, headers=ana).json()
    path = f"/companion/{made['session_id']}"
    assert guarded.get(path, headers=ana).status_code == 200
    assert guarded.get(path, headers={**ana, **guarded.bearer(actor="eve")}).status_code == 404
    assert guarded.get("/companion/demo", headers=ana).status_code == 403
    assert (
        guarded.get(path, headers={"Accept": "text/html"}, follow_redirects=False).status_code
        == 303
    )


def test_it_is_off_until_a_deployer_switches_it_on(off: TestClient):
    for path in ("/companion", "/companion/demo", "/companion/x"):
        assert off.get(path, headers={"Accept": "text/html"}).status_code == 403


def test_what_is_kept_is_shown_line_by_line_and_taken_out(opened):
    page = opened()
    page.goto("/companion")
    page.fill("#begin textarea", "We argue about money.")
    page.click("#begin .go")
    page.wait_for_selector(".talk li")
    say(page, 0, "Yes, let us begin.")
    say(page, 0, "My sister Priya says that I should wait.")
    page.click(".consents summary")
    page.fill(".prefer input", "shorter answers please")
    page.click(".prefer button")
    page.wait_for_selector(".kept li:has-text('Shorter answers please.')")
    page.reload()
    page.wait_for_selector(".talk li")
    page.click(".consents summary")
    page.wait_for_selector(".people li:has-text('Priya (sister)')")
    assert "You asked to have something kept." in page.inner_text(".talk")
    page.get_by_role("button", name="Take out: Priya (sister)").click()
    page.wait_for_selector(".people li:has-text('Nothing.')")


def test_a_space_of_ones_own_is_linked_shares_nothing_and_is_unlinked(opened):
    page = opened(width=390)
    page.goto("/companion")
    page.fill("#begin textarea", "We argue about money.")
    page.click("#begin .go")
    page.wait_for_selector(".talk li")
    page.click(".think a")
    page.wait_for_selector("#begin")
    assert "linked to your conversation" in page.inner_text("#begin")
    page.fill("#begin textarea", "I always say that it is fine.")
    page.click("#begin button")
    page.wait_for_selector(".linked button")
    assert page.locator(".sharing").is_hidden()
    assert "nobody is invited" in page.inner_text(".alone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.click(".linked button")
    page.wait_for_selector(".linking", state="hidden")
