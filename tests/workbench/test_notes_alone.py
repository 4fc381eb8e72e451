"""The two pages that stand alone, a note's summary and its evaluation, under a real pointer."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from bedside.flows.notes.outputs import to_page
from bedside.grounding import evaluate_note
from bedside.settings import load_settings
from bedside.wiring import build_engine
from bedside.wiring.notes import summarise

FILLER = "".join(f"She walked {n} miles on day {n}.\n" for n in range(1, 90))
NOTE = (
    f"HPI\n\n{FILLER}\nMEDICATIONS\n\nLisinopril 20 mg daily.\n\nASSESSMENT AND PLAN\n\nHypertension.\n"
    "- Increase lisinopril to 40 mg daily.\n"
)


@pytest.fixture(scope="module")
def turn(tmp_path_factory) -> dict[str, Any]:
    async def go() -> dict[str, Any]:
        home = tmp_path_factory.mktemp("home")
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            return await summarise(engine, engine.local(), text=NOTE, title="n.txt")
        finally:
            await engine.close()

    return anyio.run(go)


def test_each_item_of_a_summary_lights_up_its_own_words(turn, browser):
    page = browser.new_page(viewport={"width": 1200, "height": 700})
    page.set_content(to_page(turn, NOTE))
    items = page.locator("a.item")
    assert items.count() > 80
    for index in (0, 40, items.count() - 1):
        items.nth(index).hover()
        lit = "".join(page.locator("#note mark.on").all_inner_texts())
        assert lit == items.nth(index).inner_text()
    assert page.locator("b", has_text="Hypertension:").count() == 1
    page.close()


def test_an_evaluations_page_stays_still_under_the_pointer_and_brings_the_note_to_it(turn, browser):
    wrong = {
        "text": "Increase lisinopril to 400 mg daily.",
        "source": turn["plan"]["recommendations"][0]["source"],
    }
    report = evaluate_note({"plan": [wrong], "chunks": turn["chunks"]}, note=NOTE)
    page = browser.new_page(viewport={"width": 1200, "height": 700})
    page.set_content(report.html())
    one = page.locator("article").first
    one.scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    one.hover(timeout=5_000)
    assert page.evaluate("scrollY") == before
    assert "".join(page.locator("pre span.hot").all_inner_texts()) == (
        "Increase lisinopril to 40 mg daily."
    )
    place = page.locator("pre span.hot").first.bounding_box()
    assert place is not None
    assert 0 <= place["y"] <= 700
    page.close()
