"""Intake on a phone, and at the coordinator's desk."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Guarded

KNEE = "I need a knee replacement on the left. I am 61 and I live in Kenya."


def settled(page) -> None:
    page.wait_for_selector("#reply:not(.waiting)")


def begin(page) -> str:
    page.goto("/intake")
    page.click("#begin")
    page.wait_for_selector("#keep:not([hidden])")
    settled(page)
    return page.url.rsplit("/", 1)[1]


def say(page, text: str) -> str:
    before = page.locator("#earlier ol li").count()
    page.fill("#text", text)
    page.click("#answer .go")
    page.wait_for_function(
        "n => document.querySelectorAll('#earlier ol li').length > n", arg=before
    )
    settled(page)
    return page.inner_text("#reply")


@pytest.fixture
def phone(opened):
    return opened(width=360, locale="en-GB")


def test_the_page_says_who_reads_and_asks_one_question_at_a_time(phone):
    phone.goto("/intake")
    assert "human coordinator reads" in phone.inner_text(".who")
    assert phone.locator("nav").count() == 0  # a bare page of its own
    begin(phone)
    answer = say(phone, KNEE)
    assert answer.count("?") == 1
    assert phone.input_value("#text") == ""
    left = phone.inner_text("#left")
    assert left.startswith("About ")
    case = phone.request.get(f"/v1/intake/cases/{phone.url.rsplit('/', 1)[1]}").json()
    assert case["state"]["fields"]["age"]["value"] == 61
    phone.click("#noted summary")
    assert "Kenya" in phone.inner_text("#noted")


def test_skip_and_a_person_are_one_touch_away_and_the_emergency_line_stays_in_sight(phone):
    case = begin(phone)
    say(phone, KNEE)
    question = phone.inner_text("#reply")
    phone.click("#skip")
    phone.wait_for_function("it => document.querySelector('#reply').innerText !== it", arg=question)
    settled(phone)
    phone.click("#person")
    phone.wait_for_function(
        "() => document.querySelector('#reply').innerText.includes('coordinator')"
    )
    settled(phone)
    for wanted in ("#person", "footer .urgent"):
        box = phone.locator(wanted).bounding_box()
        assert box["y"] + box["height"] <= 740
    kinds = [one["kind"] for one in phone.request.get(f"/v1/intake/cases/{case}").json()["alerts"]]
    assert any(kind.startswith("person") for kind in kinds)


def test_an_emergency_is_answered_as_one(phone):
    begin(phone)
    answer = say(phone, "I have crushing chest pain right now and my arm is numb")
    assert "emergency" in answer
    assert "urgent" in phone.get_attribute("#reply", "class")


def test_a_conversation_comes_back_by_its_address_with_what_was_said(phone):
    begin(phone)
    say(phone, KNEE)
    asked = phone.inner_text("#reply")
    address = phone.input_value("#link")
    phone.goto("/")
    phone.goto(address)
    phone.wait_for_selector("#earlier:not([hidden])")
    settled(phone)
    assert phone.inner_text("#reply") == asked
    phone.click("#earlier summary")
    assert KNEE in phone.inner_text("#earlier")


def test_what_was_written_stays_when_it_does_not_arrive(phone):
    begin(phone)
    phone.route("**/messages", lambda route: route.abort())
    phone.fill("#text", KNEE)
    phone.click("#answer .go")
    phone.wait_for_selector("#trouble:not([hidden])")
    assert "did not arrive" in phone.inner_text("#trouble")
    assert phone.input_value("#text") == KNEE
    assert phone.inner_text("#reply").strip()
    phone.unroute("**/messages")
    phone.errors.clear()  # the browser notes the cut request
    phone.click("#answer .go")
    phone.wait_for_selector("#earlier:not([hidden])")


def test_a_file_says_what_is_true_of_it_and_nothing_from_it_is_run(phone, tmp_path: Path):
    begin(phone)
    say(phone, KNEE)
    paper = tmp_path / "<img src=x onerror=alert(1)>.txt"
    paper.write_text("KNEE X-RAY\nImpression: osteoarthritis.\n", encoding="utf-8")
    phone.set_input_files("#file", str(paper))
    phone.wait_for_selector("#papers li")
    row = phone.locator("#papers li")
    assert row.get_attribute("data-status") in {"queued", "processing", "complete", "stored"}
    assert "<img src=x" in row.inner_text()
    assert phone.locator("#intake img").count() == 0


def test_arabic_runs_from_right_to_left_and_hindi_does_not(phone):
    phone.goto("/intake")
    phone.select_option("#language", "ar")
    assert phone.evaluate("document.documentElement.dir") == "rtl"
    heading, choice = (phone.locator(it).bounding_box()["x"] for it in ("h1", "#language"))
    assert heading > choice
    phone.click("#begin")
    phone.wait_for_selector("#keep:not([hidden])")
    settled(phone)
    assert any("\u0600" <= char <= "\u06ff" for char in phone.inner_text("#reply"))
    assert phone.evaluate("document.documentElement.scrollWidth") <= 360
    phone.select_option("#language", "hi")
    assert phone.evaluate("document.documentElement.dir") == "ltr"
    assert phone.evaluate("document.documentElement.lang") == "hi"


def test_the_desk_puts_first_who_needs_a_person_and_shows_where_each_field_is_from(opened):
    phone, desk = opened(width=360, locale="en-GB"), opened()
    case = begin(phone)
    say(phone, KNEE)
    say(phone, "can I talk to a person please")
    desk.goto("/coordinator")
    first = desk.locator("#desk section").first
    assert "A person is needed now" in first.inner_text()
    row = first.locator(f'a[href="/coordinator/{case}"]')
    assert "WANTS TO TALK TO A PERSON" in row.inner_text().upper()
    row.click()
    desk.wait_for_load_state()
    age = desk.locator('tr[data-field="age"]')
    assert "61" in age.inner_text()
    assert "P turn" in age.inner_text()
    age.locator("button.cite").click()
    desk.wait_for_selector("#drawer mark")
    assert "61" in desk.inner_text("#drawer mark")
    assert KNEE in desk.inner_text("#drawer .sourcetext")


def test_a_coordinator_sets_a_field_in_words_and_it_says_so(opened):
    phone, desk = opened(width=360, locale="en-GB"), opened()
    case = begin(phone)
    say(phone, KNEE)
    desk.goto(f"/coordinator/{case}")
    age = desk.locator('tr[data-field="age"]')
    age.get_by_role("button", name="Set").click()
    desk.keyboard.type("not an age at all")
    desk.keyboard.press("Enter")
    age.locator(".failed").wait_for()
    desk.errors.clear()  # the browser notes the refusal
    age.locator("input").fill("63")
    desk.keyboard.press("Enter")
    desk.wait_for_selector('tr[data-field="age"]:has-text("coordinator local")')
    assert "63" in desk.inner_text('tr[data-field="age"]')


def test_a_contract_with_an_order_in_it_is_not_saved_and_a_sound_one_is(page):
    page.goto("/coordinator/sops")
    assert page.get_attribute("a:has-text('Total knee')", "href") == "/coordinator/sops/TKR"
    page.goto("/coordinator/sops/TKR")
    shipped = page.input_value("#yaml")
    page.fill("#yaml", shipped.replace('description: "', 'description: "You should stop. ', 1))
    page.click("#save")
    page.wait_for_selector("#problems li")
    assert "Not saved" in page.inner_text("#said")
    assert "speaks to the person" in page.inner_text("#problems")
    page.fill("#yaml", shipped.replace("\ntitle: ", "\ntitle: Adult ", 1))
    page.click("#save")
    page.wait_for_selector("#said:has-text('Saved as version')")
    page.goto("/coordinator/sops")
    assert "Adult " in page.inner_text("main")
    page.goto("/coordinator/sops/TKR")
    page.click("#back")
    page.wait_for_selector("#state:has-text('As shipped')")
    assert page.input_value("#yaml") == shipped


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_pages_fit(opened, width, scheme):
    page = opened(width=width, scheme=scheme, locale="en-GB")
    case = begin(page)
    say(page, KNEE)
    for path in (
        None,
        "/coordinator",
        f"/coordinator/{case}",
        "/coordinator/sops",
        "/coordinator/sops/TKR",
    ):
        if path:
            page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_stranger_sees_the_bare_page_and_nothing_of_any_case(guarded: Guarded):
    """With a token secret the page is public and empty: what is in a case needs the link's token."""
    made = guarded.post(
        "/v1/intake/cases", json={}, headers=guarded.bearer(roles=("clinician", "coordinator"))
    ).json()
    stranger = guarded.get(f"/intake/{made['case']}", headers={"Accept": "text/html"})
    assert stranger.status_code == 200
    assert made["turn"]["answer"][:30] not in stranger.text
    path = f"/v1/intake/cases/{made['case']}"
    assert guarded.get(path).status_code == 401
    linked = {"Authorization": f"Bearer {made['link']}"}
    assert guarded.get(path, headers=linked).status_code == 200
    other = guarded.post(
        "/v1/intake/cases", json={}, headers=guarded.bearer(roles=("clinician", "coordinator"))
    ).json()
    assert guarded.get(f"/v1/intake/cases/{other['case']}", headers=linked).status_code == 403
    board = guarded.get("/coordinator", headers={**linked, "Accept": "application/json"})
    assert board.status_code == 403
