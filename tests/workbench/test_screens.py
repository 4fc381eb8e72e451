"""The screens as somebody between two patients meets them: names, contrast, failures, long content."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bedside.grounding import SourceText, check

P = "demo-adeyemi"
PAGES = (
    "/", f"/patients/{P}", f"/patients/{P}/briefing", f"/patients/{P}/notes", "/notes", "/notes/evaluate",
    "/ask", "/knowledge", "/safety", "/evaluations", "/settings", "/login", "/patients/nobody",
)  # fmt: skip

FAULTS = r"""() => {
  const out = [];
  const seen = (e) => { const box = e.getBoundingClientRect(); return (box.width > 0 || box.height > 0) && !e.closest("[hidden]"); };
  const name = (e) => e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join(" ").trim()
    || [...(e.labels || [])].map((one) => one.textContent).join(" ").trim() || (e.textContent || "").trim();
  for (const e of document.querySelectorAll("button, a[href], input, select, textarea, summary")) if (seen(e) && !name(e)) out.push(`no name: ${e.outerHTML.slice(0, 90)}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) out.push(`id twice: ${id}`);
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].filter(seen).map((h) => Number(h.tagName[1]));
  if (levels.filter((one) => one === 1).length !== 1) out.push(`h1: ${levels}`);
  levels.reduce((before, one) => { if (one > before + 1) out.push(`heading jumps: ${levels}`); return one; }, 0);
  if (!document.documentElement.lang || !document.querySelector("main") || !document.title) out.push("no language, main or title");
  const parse = (text) => { const found = text.match(/[\d.]+/g).map(Number); return text.startsWith("color(") ? [found[0] * 255, found[1] * 255, found[2] * 255, found[3] ?? 1] : [found[0], found[1], found[2], found[3] ?? 1]; };
  const light = (c) => { const f = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4); return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0.5) return c; } return [255, 255, 255, 1]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const e = node.parentElement;
    if (!node.textContent.trim() || !seen(e) || e.closest("script, style, template, option, .visually-hidden, .skip")) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) out.push(`contrast ${ratio.toFixed(2)}: ${node.textContent.trim().slice(0, 30)}`);
  }
  return out;
}"""


def ask(page, question: str) -> None:
    page.fill("#question", question)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".answer .actions:not([hidden])")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_screen_names_its_controls_orders_its_headings_and_can_be_read(
    browser, address, scheme
):
    """Contrast at least 4.5 to 1 for every text, as WCAG 2.2 AA has it for small letters."""
    context = browser.new_context(base_url=address, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(45_000)
    found = {}
    for path in PAGES:
        page.goto(path)
        if path.endswith("/briefing"):
            page.wait_for_selector(".brief:not([hidden])")
        found[path] = page.evaluate(FAULTS)
    page.goto(f"/patients/{P}")
    ask(page, "Is metformin still safe?")
    page.locator(".answer .text .cite").first.click()
    page.wait_for_selector("#drawer mark")
    found["answer"] = page.evaluate(FAULTS)
    page.goto(page.get_attribute("[data-do=inspect]", "href"))
    found["inspect"] = page.evaluate(FAULTS)
    context.close()
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_red_is_for_high_risk_allergies_and_an_alert_is_a_warning(page):
    page.goto(f"/patients/{P}")
    red = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--critical')")
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '<i id=probe></i>'); probe.style.color = '{red}'")  # fmt: skip
    red = page.evaluate("getComputedStyle(probe).color")
    texts = page.evaluate(
        "red => [...document.querySelectorAll('.banner *')].filter(e => getComputedStyle(e).color === red).map(e => e.textContent)",
        red,
    )
    assert texts == ["high risk"]
    assert page.inner_text(".banner .sev.warning").lower() == "warning"
    after = page.inner_text(".banner dl").split("HIGH RISK")[1]
    assert after.strip().startswith("Penicillin")  # anaphylaxis; the cough from lisinopril is not


def test_the_priorities_stand_beside_an_answer_and_below_the_box_before_one(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"/patients/{P}")
    box, first = page.locator("#ask").bounding_box(), page.locator(".patient .first").bounding_box()
    assert first["y"] >= box["y"] + box["height"]
    assert first["x"] == pytest.approx(box["x"], abs=2)
    ask(page, "latest HbA1c?")
    first = page.locator(".patient .first").bounding_box()
    assert first["x"] > box["x"] + box["width"]
    assert first["y"] < box["y"] + box["height"]


def test_an_answers_lines_are_paragraphs_and_lists_and_its_headline_is_the_first_line(page):
    page.goto(f"/patients/{P}")
    ask(page, "What medicines is she on?")
    assert page.locator(".answer .text li").count() >= 3
    assert "- " not in page.inner_text(".answer .text ul").splitlines()[0][:2]
    assert page.locator(".answer .text > :first-child .headline").count() == 1


def test_one_sentence_can_be_reported_and_its_case_taken_from_the_evaluations(page):
    page.goto(f"/patients/{P}")
    ask(page, "What is the latest creatinine?")
    answer = page.inner_text(".answer .text")
    page.click("text=Report as wrong")
    page.select_option(".answer form.report [name=target]", "claim:1")
    page.fill(".answer form.report [name=note]", "which laboratory?")
    page.click("text=Send to safety")
    page.wait_for_selector("text=Reported to safety")
    page.goto("/evaluations")
    row = page.locator("tr", has_text="which laboratory?").first
    assert "sentence 2" in row.inner_text()
    with page.expect_download() as taken:
        row.locator("text=Export").click()
    case = json.loads(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert case["question"] == "What is the latest creatinine?"
    assert case["reported"]["target"] == "claim:1"
    assert answer.split()[0] in case["answer"]
    assert case["trace"]
    assert case["prompt"]
    again = check(
        case["answer"],
        sources=[SourceText(one["id"], one["text"], kind=one["kind"]) for one in case["sources"]],
    )
    assert again.citations  # the case's numbers are those of its sources
    assert again.citations[0].quote in case["sources"][0]["text"]


def test_the_knowledge_page_lists_documents_and_no_rule_that_was_cited(page):
    page.goto(f"/patients/{P}/briefing")
    page.wait_for_selector(".brief:not([hidden])")
    assert page.locator('.cite[data-source^="pack:"]').count() > 0  # rules were cited
    page.goto("/knowledge")
    assert page.locator("tbody tr").count() == 13
    page.locator("tbody .cite").first.click()
    page.wait_for_selector("#drawer:not([hidden]) .sourcetext")
    assert page.inner_text("#drawer .meta").startswith("Guideline · edition of ")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (401, {"title": "Not authenticated"}, "No answer: you are no longer signed in"),
        (403, {"detail": "Not for this role."}, "No answer: Not for this role."),
        (409, {"detail": "The same key was used for another question."}, "No answer: The same key"),
        (503, {"title": "Unavailable", "detail": "The store does not answer."}, "No answer: The store does"),
        (500, None, "No answer: the server said 500"),
    ],
)  # fmt: skip
def test_a_refused_question_says_why_and_stays_in_its_box(page, status, body, said):
    page.goto(f"/patients/{P}")
    text = json.dumps(body) if body else "<html>"
    page.route("**/v1/ask", lambda route: route.fulfill(status=status, body=text))
    page.fill("#question", "latest HbA1c?")
    page.click("button.primary")
    page.wait_for_selector(f'.answer .status:has-text("{said}")')
    assert page.input_value("#question") == "latest HbA1c?"
    assert page.locator("button.primary").is_enabled()
    page.errors.clear()  # the browser notes the status


def test_what_was_not_at_hand_is_said_in_words_and_once(page):
    page.goto(f"/patients/{P}")
    page.route("**/v1/ask", degrade)
    ask(page, "latest HbA1c?")
    said = page.inner_text(".answer .degraded")
    assert said.startswith("Not everything was at hand: no model answered (it is overloaded), so")
    assert said.count("vectors") == 1
    assert "knowledge named" not in said
    assert page.inner_text(".answer .said").startswith("Draft, written by some-model;")


def degrade(route) -> None:
    answer = route.fetch()
    lines = [
        "documents: vectors not ready: 3 documents",
        "knowledge named: vectors not ready: 13 documents",
        "model: no model answered: it is overloaded",
    ]
    text = re.sub(r'"degraded": \[[^\]]*\]', f'"degraded": {json.dumps(lines)}', answer.text())
    text = text.replace('"answered_by": "rules"', '"answered_by": "model:some-model"')
    route.fulfill(response=answer, body=text)


def test_a_server_that_is_gone_is_said_to_be_gone_everywhere(page):
    page.goto(f"/patients/{P}")
    ask(page, "latest HbA1c?")
    page.route("**/v1/**", lambda route: route.abort())
    page.fill("#question", "and potassium?")
    page.click("button.primary")
    page.wait_for_selector('.answer .status:has-text("the server did not answer")')
    page.locator(".answer .text .cite").first.click()
    page.wait_for_selector('#drawer:has-text("This source cannot be shown")')
    assert "the server did not answer" in page.inner_text("#drawer .meta")
    page.keyboard.press("Escape")
    page.click('[data-do="accept"]:visible')
    page.wait_for_selector("text=Not accepted: the server did not answer")
    page.errors.clear()


def test_a_slow_question_can_be_stopped_and_the_next_one_asked(page):
    page.goto(f"/patients/{P}")
    page.route("**/v1/ask", lambda _route: None)  # never answered
    page.fill("#question", "latest HbA1c?")
    page.click("button.primary")
    page.wait_for_selector('.answer [data-do="stop"]:visible')
    assert page.locator("button.primary").is_disabled()
    page.click('.answer [data-do="stop"]')
    page.wait_for_selector('.answer .status:has-text("No answer: you stopped it")')
    page.unroute("**/v1/ask")
    ask(page, "latest HbA1c?")
    page.errors.clear()


def test_by_keyboard_alone_from_the_list_to_the_words_of_a_source_and_back(page):
    page.goto("/")
    page.keyboard.type("adeyemi")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/patients/{P}")  # loaded, scripts and all
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("latest HbA1c?")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".answer .actions:not([hidden])")
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.answer .text .cite')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#drawer mark")
    assert page.evaluate("document.activeElement.matches('#drawer .sourcetext')")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.answer .text .cite')")


LONG = {
    "id": "long-" + "0123456789abcdef" * 3,
    "name": "Wilhelmina Alexandria Montgomery-Featherstonehaugh van den Bergh-Oyelaran y Santisteban",
    "birth_date": "1931-01-02",
    "allergies": [{"name": f"Substance number {n}"} for n in range(12)],
    "medications": [{"name": f"Medicine {n} 10 mg oral tablet", "dosage": "10 mg once daily"} for n in range(40)],
}  # fmt: skip


def test_long_names_forty_medicines_and_nobody_at_all_fit_a_phone(page):
    for one in (LONG, {"id": "empty-1", "name": "Bo Ng"}):
        made = page.request.post(
            "/v1/import",
            multipart={"files": {"name": "one.json", "mimeType": "application/json", "buffer": json.dumps(one).encode()}},
        )  # fmt: skip
        assert made.ok, made.text()
    page.set_viewport_size({"width": 390, "height": 844})
    for ident, path in (
        (LONG["id"], ""),
        (LONG["id"], "/briefing"),
        ("empty-1", ""),
        ("empty-1", "/briefing"),
    ):
        page.goto(f"/patients/{ident}{path}")
        if path:
            page.wait_for_selector(".brief:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "No open problem is recorded." in page.inner_text("main")
    page.goto(f"/patients/{LONG['id']}")
    ask(page, "What medicines is she on?")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.mouse.wheel(0, 900)
    assert page.locator(".banner h1").bounding_box()["y"] < 200  # the name stays in sight
    page.goto("/patients/empty-1")
    assert "Allergies\nnot recorded" in page.inner_text(".banner")
