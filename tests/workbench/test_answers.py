"""The workbench in a real browser: what a clinician sees, clicks and reads back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

P = "demo-adeyemi"


def ask(page, question: str) -> None:
    page.fill("#question", question)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".answer .actions:not([hidden])")


def test_opening_a_patient_shows_the_banner_and_at_most_three_priorities(page):
    """CO-16: with no question and no model."""
    page.goto("/")
    page.click("text=Ruth Adeyemi")
    banner = page.inner_text(".banner")
    for part in (
        "Ruth Adeyemi",
        "17 Apr 1958",
        P,
        "Penicillin",
        "Record as of",
        "nothing leaves this machine",
    ):
        assert part in banner
    assert 1 <= page.locator(".priorities > li").count() <= 3
    assert "critical" in page.locator(".priorities > li").first.inner_text().lower()


def test_a_click_on_a_citation_shows_the_very_words_and_escape_returns(page):
    page.goto(f"/patients/{P}")
    ask(page, "latest HbA1c?")
    cite = page.locator(".answer .text .cite").first
    stored = page.request.get(
        f"/v1/sources/{cite.get_attribute('data-source')}"
        f"?start={cite.get_attribute('data-start')}&end={cite.get_attribute('data-end')}"
        f"&revision={cite.get_attribute('data-revision')}"
    ).json()["text"]
    cite.click()
    page.wait_for_selector("#drawer mark")
    assert page.inner_text("#drawer mark") == stored
    assert "8.6 %" in stored
    page.keyboard.press("Escape")
    assert page.locator("#drawer").is_hidden()
    assert page.evaluate("document.activeElement.className").startswith("cite")


def test_tab_stays_in_the_drawer_both_ways_until_escape(page):
    page.goto(f"/patients/{P}")
    ask(page, "latest HbA1c?")
    page.locator(".answer .text .cite").first.press("Enter")
    page.wait_for_selector("#drawer mark")
    for key in ("Tab", "Shift+Tab"):
        been = set()
        for _ in range(5):
            page.keyboard.press(key)
            assert page.evaluate("document.activeElement.closest('#drawer') !== null")
            been.add(page.evaluate("document.activeElement.textContent"))
        assert len(been) == page.locator("#drawer button, #drawer [tabindex]").count() == 3
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.answer') !== null")


def test_the_answer_streams_and_ends_as_a_draft_that_can_be_accepted_and_reported(page):
    page.goto(f"/patients/{P}")
    ask(page, "What is the trend in eGFR?")
    assert "37" in page.inner_text(".answer .text")
    assert "Draft" in page.inner_text(".answer .said")
    page.click("text=Report as wrong")
    page.fill(".answer form.report input[name=note]", "please check")
    page.click("text=Send to safety")
    page.wait_for_selector("text=Reported to safety")
    page.click("text=Accept")
    page.wait_for_selector("text=Accepted")
    page.goto("/safety")
    assert "please check" in page.inner_text("main")
    assert "is whole" in page.inner_text("main")


def test_inspecting_shows_the_receipt_as_a_picture_the_trace_and_the_prompt(page):
    page.goto(f"/patients/{P}")
    ask(page, "summarise this patient")
    page.goto(page.get_attribute("[data-do=inspect]", "href"))
    page.wait_for_selector("#picture svg rect")
    text = page.inner_text("main")
    assert "of 6,000 tokens" in text
    assert "allergies and alerts" in text
    assert "Prompt as sent" in text
    blocks = page.locator("table.receipt tbody tr").count()
    assert page.locator("#picture rect").count() == blocks >= 5
    assert "{" not in page.inner_text("table.trace")


def test_an_upload_is_read_and_answered_from(page, tmp_path: Path):
    note = tmp_path / "cardiology.md"
    note.write_text(
        "# Cardiology letter\n\nEchocardiogram: ejection fraction 35 %.\n", encoding="utf-8"
    )
    page.goto(f"/patients/{P}")
    page.set_input_files("input[name=file]", str(note))
    ask(page, "What was the ejection fraction in the letter?")
    assert "35 %" in page.inner_text(".answer .text")
    assert page.locator(".answer .sources li").count() >= 1


def test_a_wrong_file_says_why_and_the_next_question_works(page, tmp_path: Path):
    bad = tmp_path / "scan.pdf"
    bad.write_bytes(b"%PDF-1.4 broken")
    page.goto(f"/patients/{P}")
    page.set_input_files("input[name=file]", str(bad))
    page.fill("#question", "what is in the scan?")
    page.click("button.primary")
    page.wait_for_selector("text=No answer:")
    page.errors.clear()  # the browser notes the refused upload
    page.set_input_files("input[name=file]", [])
    ask(page, "latest HbA1c?")


def test_document_text_is_shown_as_text_and_never_run(page, tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text(
        "# Dermatology letter\n\nMelanoma <img src=x onerror=alert(1)> excised <script>document.title='owned'</script> on the left arm.\n",
        encoding="utf-8",
    )
    page.goto(f"/patients/{P}")
    page.set_input_files("input[name=file]", str(note))
    ask(page, "What did the dermatology letter say about melanoma?")
    assert page.locator(".answer .text img, .answer .text script").count() == 0
    assert page.title() != "owned"


@pytest.mark.parametrize(
    "path", ["/", f"/patients/{P}", "/ask", "/knowledge", "/safety", "/settings"]
)
def test_every_page_fits_a_phone(opened, path):
    page = opened(width=360, scheme="dark")
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


def test_the_form_of_a_report_fits_a_phone_beside_a_long_sentence(opened):
    page = opened(width=360)
    page.goto(f"/patients/{P}")
    ask(page, "Is metformin still safe for her?")
    page.click("text=Report as wrong")
    for part in page.locator(".answer form.report").locator("input, select, button").all():
        place = part.bounding_box()
        assert place["x"] + place["width"] <= 360


def test_a_question_without_a_patient_is_answered_from_guidelines(page):
    page.goto("/ask")
    ask(page, "When is metformin reduced in chronic kidney disease?")
    assert page.locator(".answer .text .cite.g").count() >= 1


def test_the_page_loads_what_it_needs_from_its_own_server(page, address):
    """`page` itself fails where anything is loaded from elsewhere."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"/patients/{P}")
    assert any(url.startswith(f"{address}/static/") for url in asked)


def delta(text: str) -> str:
    return f"event: delta\ndata: {json.dumps({'text': text})}\n\n"


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (delta("HbA1c is 8.6 %. "), "broke off (the connection ended"),
        ("", "No answer: the connection ended"),
        (
            delta("HbA1c is 8.6 %. ") + 'event: error\ndata: {"title": "Unavailable"}\n\n',
            "broke off (Unavailable)",
        ),
    ],
)
def test_a_stream_that_ends_early_is_named_and_what_was_shown_stays(page, stream, said):
    page.goto(f"/patients/{P}")
    page.route(
        "**/v1/ask",
        lambda route: route.fulfill(
            status=200, headers={"content-type": "text/event-stream"}, body=stream
        ),
    )
    page.fill("#question", "latest HbA1c?")
    page.click("button.primary")
    page.wait_for_selector(f'.answer .status:has-text("{said}")')
    assert page.inner_text(".answer .text").strip() == ("HbA1c is 8.6 %." if stream else "")
    assert page.locator(".answer .actions").is_hidden()


def test_an_incomplete_answer_says_so_and_cannot_be_accepted(page):
    page.goto(f"/patients/{P}")

    def cut(route):
        answer = route.fetch()
        route.fulfill(
            response=answer,
            body=answer.text().replace('"status": "complete"', '"status": "incomplete"'),
        )

    page.route("**/v1/ask", cut)
    ask(page, "latest HbA1c?")
    assert "broke off" in page.inner_text(".answer .status")
    assert page.locator("[data-do=accept]").is_disabled()
