"""Notes in the workbench: the note beside its summary, and anybody's summary against its note."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTE = """CHIEF COMPLAINT:
Shortness of breath for two weeks.

HISTORY OF PRESENT ILLNESS:
The patient is a 61-year-old man with hypertension. He denies chest pain.

MEDICATIONS:
Metformin 500 mg twice daily. Lisinopril 10 mg daily.

ALLERGIES:
Penicillin, rash.

ASSESSMENT AND PLAN:
1. Heart failure, new. Start furosemide 40 mg daily.
2. Hypertension, not controlled. Increase lisinopril to 20 mg daily.
"""


def summarise(page, text: str = NOTE, *, at: str = "/notes") -> dict:
    page.goto(at)
    page.fill("#note", text)
    page.focus("#note")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".sides:not([hidden])")
    page.wait_for_selector(".first > *")
    return page.request.get(f"/v1/turns/{page.url.rsplit('/', 1)[1]}").json()


def facts(turn: dict) -> list[tuple[str, str]]:
    """Text and source of every item, as the turn has them."""
    rows = [(row["text"], row["source"]) for part in turn["summary"].values() for row in part]
    return rows + [
        (row["recommendation"], row["source"]) for row in turn["plan"]["recommendations"]
    ]


def test_pointing_at_an_item_lights_its_words_in_the_note_and_the_other_way_round(page):
    turn = summarise(page)
    rows = page.locator(".items .fact")
    assert rows.count() == len(facts(turn))
    for place, (text, source) in enumerate(facts(turn)):
        start, end = map(int, source.rsplit(":", 1)[1].split("-"))
        rows.nth(place).focus()
        lit = page.locator(".seg.on").all_inner_texts()
        assert "".join(lit) == NOTE[start:end]
        assert text in rows.nth(place).inner_text()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    assert page.locator(".seg.on").count() == 0
    words = page.locator(".seg", has_text="Penicillin, rash.")
    words.hover()
    assert "Penicillin, rash." in page.locator(".items .fact.on").inner_text()
    words.focus()
    page.keyboard.press("Enter")
    assert "Penicillin" in page.evaluate("document.activeElement.textContent")


def test_the_note_stands_as_it_was_given_whatever_it_holds(page):
    hostile = NOTE + (
        "\nLABS:\nPotassium 5.1 mmol/L <img src=x onerror=\"document.title='owned'\">"
        "<script>document.title='owned'</script> \U0001f9ea after the flask.\n"
    )
    summarise(page, hostile)
    assert page.locator(".notetext").evaluate("it => it.textContent") == hostile
    assert page.locator("#noteview img, #noteview script").count() == 0
    assert page.title() != "owned"


def test_a_hostile_title_and_a_hostile_patient_change_nothing(page, tmp_path: Path):
    name = "<img src=x onerror=alert(1)>"
    person = {
        "id": "hostile-1",
        "name": f"{name} Person",
        "sex": "female",
        "birth_date": "1956-03-02",
        "conditions": [{"name": f"{name} syndrome", "onset": "2011"}],
        "medications": [{"name": f"Warfarin {name} tablet", "started": "2026-02-01"}],
    }
    answer = page.request.post(
        "/v1/import",
        multipart={
            "files": {
                "name": "p.json",
                "mimeType": "application/json",
                "buffer": json.dumps(person).encode(),
            }
        },
    )
    assert answer.ok
    page.goto("/patients/hostile-1/briefing")
    page.wait_for_selector(".brief:not([hidden])")
    assert page.locator("main img").count() == 0
    assert name in page.inner_text("main")
    note = tmp_path / "a<b onclick=x>'&quot;.md"
    note.write_text(NOTE, encoding="utf-8")
    page.goto("/patients/hostile-1/notes")
    page.set_input_files("input[name=file]", str(note))
    page.wait_for_selector(".status:has-text('characters read')")
    page.click("button.primary")
    page.wait_for_selector(".sides:not([hidden])")
    assert page.inner_text(".banner h1") == f"{name} Person"
    assert page.inner_text("#noteview h2") == note.name
    page.goto("/patients/hostile-1/notes")
    assert page.locator(".people li").count() == 1


def test_a_summary_is_a_draft_until_accepted_and_says_who_wrote_it(page):
    turn = summarise(page)
    assert turn["extractive"] is True
    assert "no model wrote any of it" in page.inner_text(".how")
    assert "Draft" in page.inner_text(".said")
    page.click("[data-do=accept]")
    page.wait_for_selector(".said:has-text('Accepted by')")
    page.reload()
    page.wait_for_selector(".said:has-text('Accepted by')")


@pytest.mark.parametrize(
    ("form", "begins"), [("md", "#"), ("html", "<!doctype html>"), ("fhir", "{"), ("json", "{")]
)
def test_each_download_is_a_file_of_its_form(page, form, begins):
    turn = summarise(page)
    with page.expect_download() as waiting:
        page.click(f"[data-format={form}]")
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert text.startswith(begins)
    assert "Start furosemide 40 mg daily." in text
    ending = {"fhir": "fhir.json"}.get(form, form)
    assert waiting.value.suggested_filename == f"{turn['turn_id']}.{ending}"
    if form == "fhir":
        assert json.loads(text)["resourceType"] == "Bundle"


def test_removed_items_stand_first_with_why_and_so_does_what_no_model_wrote(page):
    turn = summarise(page)

    def changed(route):
        answer = route.fetch()
        body = answer.json()
        body["removed"] = [{"claim": "Takes <b>aspirin</b>.", "why": "quote_not_found"}]
        body["missing"] = ["plan: the note's own orders, because the model broke off"]
        body["summary"]["key_problems"][0]["text"] = "Shortness of breath for nine weeks."
        route.fulfill(response=answer, body=json.dumps(body))

    page.route(f"**/v1/turns/{turn['turn_id']}", changed)
    page.reload()
    page.wait_for_selector(".first .fact.wrong")
    first = page.inner_text(".first")
    assert first.index("To look at: 1 of") < first.index("because the model broke off")
    assert "Shortness of breath for nine weeks." in first
    assert "Takes <b>aspirin</b>. quote not found" in first
    top = page.locator(".first").bounding_box()["y"]
    assert top < page.locator(".items").bounding_box()["y"]


def vendor(**wrong: str) -> dict:
    """A summary of two items; its offsets are counted here, its chunks are the note's sections."""
    rows = {
        "medicines": ("Metformin 500 mg twice daily.", "MEDICATIONS section, chunk_2"),
        "allergies": ("Penicillin, rash.", "ALLERGIES section, chunk_3"),
    }
    found = {}
    for part, (text, where) in rows.items():
        start = NOTE.index(text)
        source = f"{where}:{start}-{start + len(text)}"
        found[part] = [{"text": wrong.get(part, text), "source": source}]
    return {"summary": found}


def check(page, summary: str, note: str = NOTE) -> None:
    page.goto("/notes/evaluate")
    page.fill("#e-note", note)
    page.fill("#e-summary", summary)
    page.click("button.primary")


def test_another_vendors_wrong_dose_comes_first_with_both_figures_and_its_place(page):
    check(page, json.dumps(vendor(medicines="Metformin 5000 mg twice daily.")))
    page.wait_for_selector(".result:not([hidden])")
    assert page.inner_text(".headline") == "1 of 2 items to look at"
    worst = page.locator(".first .fact").first
    text = worst.inner_text()
    assert "CRITICAL" in text
    assert "says “5000 mg”, the note “500 mg”" in text
    worst.focus()
    lit = "".join(page.locator(".seg.on").all_inner_texts())
    assert lit == "Metformin 500 mg twice daily."
    with page.expect_download() as waiting:
        page.click("[data-do=html]")
    assert "5000 mg" in Path(waiting.value.path()).read_text(encoding="utf-8")


def test_a_right_summary_is_called_held_and_nothing_more(page):
    check(page, json.dumps(vendor()))
    page.wait_for_selector(".result:not([hidden])")
    assert page.inner_text(".headline") == "All 2 items hold against the note"
    assert "does not judge medicine" in page.inner_text("#evaluate > .meta")
    assert "of the note that no item says" in page.inner_text(".first")


@pytest.mark.parametrize(
    ("summary", "said"),
    [("{not json", "not valid JSON"), ("[1]", "no JSON object"), ('{"a": 1}', "No item was found")],
)
def test_a_file_that_is_no_summary_says_so(page, summary, said):
    check(page, summary)
    page.wait_for_selector(f"text={said}")


def test_an_empty_note_and_a_broken_file_give_the_reason_and_the_form_stays(page, tmp_path: Path):
    page.goto("/notes")
    page.fill("#note", "   ---   ")
    page.click("button.primary")
    page.wait_for_selector(".status:has-text('No summary:')")
    assert "it is empty" in page.inner_text(".status")
    broken = tmp_path / "scan.pdf"
    broken.write_bytes(b"%PDF-1.4 broken")
    page.set_input_files("input[name=file]", str(broken))
    page.wait_for_selector(".status:has-text('The file was not read:')")
    page.errors.clear()  # the browser notes the two refusals
    summarise(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_pages_fit(opened, width, scheme):
    page = opened(width=width, scheme=scheme)
    summarise(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page, json.dumps(vendor(medicines="Metformin 5000 mg twice daily.")))
    page.wait_for_selector(".result:not([hidden])")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
