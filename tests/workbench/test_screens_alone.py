"""The workbench's words, pages of failure and signing in: what needs no browser."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from fastapi.testclient import TestClient

from bedside.core.errors import DeadlineExceeded, Unavailable
from bedside.core.ids import TenantId
from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.server.workbench import pages, picture
from bedside.server.workbench.templates import day, moment, rule_source, target
from bedside.settings import load_settings
from bedside.wiring import Who, build_engine
from bedside.wiring.overseeing import cited_texts

SECRET = "s" * 40
HTML = {"Accept": "text/html"}


def test_a_wrong_token_is_said_to_be_wrong_and_a_right_one_opens_and_closes(guarded):
    refused = guarded.post("/login", data={"token": "nonsense"})
    assert (refused.status_code, "was not accepted" in refused.text) == (401, True)
    assert "set-cookie" not in refused.headers
    good = token(SECRET, actor="dr-okafor", expires=int(time.time()) + 600)
    assert guarded.post("/login", data={"token": good}).status_code == 200
    page = guarded.get("/", headers=HTML).text
    assert "dr-okafor" in page
    assert "Sign out" in page
    assert "/safety" not in page  # a clinician has no such page
    assert guarded.post("/logout").status_code == 200
    assert "Access token" in guarded.get("/", headers=HTML).text


@pytest.mark.parametrize(
    "path", ["/v1/egress", "/v1/erasures", "/v1/retention", "/safety", "/evaluations"]
)
def test_oversight_is_for_safety_officers(guarded, path):
    assert guarded.get(path, headers=guarded.bearer()).status_code == 403
    assert guarded.get(path, headers=guarded.bearer(roles=("safety",))).status_code == 200


ROLES = ("clinician", "patient", "coordinator", "safety", "admin", "engineer")


@pytest.mark.parametrize("role", ROLES)
def test_the_header_leads_nowhere_that_is_closed_to_whoever_reads_it(guarded, role):
    headers = {
        **guarded.bearer(roles=(role,), patients=("demo-adeyemi",) if role == "patient" else None),
        **HTML,
    }
    shown = guarded.get("/", headers=headers)
    assert shown.status_code == 200
    links = {link for link in re.findall(r'href="(/[a-z]*)"', shown.text) if link != "/static"}
    if "/patients/demo-adeyemi" in shown.text:
        patient = guarded.get("/patients/demo-adeyemi", headers=headers).text
        links |= set(re.findall(r'href="(/patients/[^"]+)"', patient))
    else:
        assert "Your sign-in shows you no patient" in shown.text
    assert "/" in links
    closed = {link: guarded.get(link, headers=headers).status_code for link in links}
    assert {link: status for link, status in closed.items() if status != 200} == {}


@pytest.mark.requirement("EN-S4")
def test_a_form_that_is_sent_before_its_script_runs_puts_nothing_in_an_address():
    """A form without a method is sent as a query: a question about a patient, in a server's log."""
    folder = Path(pages.__file__).parent / "templates"
    forms = [
        form
        for page in folder.glob("*.html")
        for form in re.findall(r"<form[^>]*>", page.read_text(encoding="utf-8"))
    ]
    assert len(forms) > 8
    assert [form for form in forms if 'method="post"' not in form] == []


def test_a_query_parameter_is_no_token(guarded):
    good = token(SECRET, actor="dr-okafor", expires=int(time.time()) + 600)
    for name in ("given", "text", "token"):
        assert guarded.get("/v1/patients", params={name: good}).status_code == 401


@pytest.mark.requirement("EN-S8")
def test_a_case_is_for_safety_officers_exported_with_its_trace_and_audited(guarded):
    asked = guarded.post(
        "/v1/ask",
        json={"question": "latest HbA1c?", "patient": "demo-adeyemi"},
        headers=guarded.bearer(),
    ).json()
    made = guarded.post(
        f"/v1/turns/{asked['turn_id']}/reports",
        json={"target": "claim:0", "kind": "unsafe", "note": "see"},
        headers=guarded.bearer(),
    ).json()
    path = f"/v1/reports/{made['id']}/case"
    assert guarded.get(path, headers=guarded.bearer()).status_code == 403
    officer = guarded.bearer(actor="officer", roles=("safety",))
    case = guarded.get(path, headers=officer).json()
    assert case["question"] == "latest HbA1c?"
    assert case["reported"]["by"] == "dr-1"
    assert "8.6 %" in case["answer"]
    assert "8.6 %" in case["sources"][0]["text"]
    assert "[1]" in case["answer"]
    assert case["trace"][0]["event"] == "opened"
    last = guarded.get("/v1/audit", headers=officer).json()
    assert ("export", "evaluation case", "demo-adeyemi") in {
        (one["action"], one["purpose"], one["patient"]) for one in last if one["actor"] == "officer"
    }
    assert guarded.get("/v1/reports/report-none/case", headers=officer).status_code == 404


def test_what_is_kept_is_counted_and_an_erasure_is_listed_without_a_name(guarded):
    officer = guarded.bearer(roles=("safety", "admin"))
    before = {one["kind"]: one["n"] for one in guarded.get("/v1/retention", headers=officer).json()}
    assert before["documents"] == 12
    assert guarded.get("/v1/erasures", headers=officer).json() == []
    assert guarded.delete("/v1/patients/demo-chow", headers=officer).status_code == 200
    after = {one["kind"]: one["n"] for one in guarded.get("/v1/retention", headers=officer).json()}
    assert after["documents"] == 9
    assert after["record entries"] < before["record entries"]
    (erased,) = guarded.get("/v1/erasures", headers=officer).json()
    assert erased["by"] == "dr-1"
    assert "chow" not in str(erased)
    page = guarded.get("/safety", headers={**officer, **HTML}).text
    assert erased["reference"] in page


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (Unavailable("the store", why="locked"), 503, "Not available now"),
        (DeadlineExceeded("the page", seconds=1), 504, "Not available now"),
    ],
)
def test_a_page_that_fails_says_what_kind_of_failure_it_is(tmp_path, error, status, words):
    engine = build_engine(load_settings(home=tmp_path, environ={"BEDSIDE_EMBEDDER": "none"}))

    async def broken(who):
        del who
        raise error

    engine.patients = broken
    with TestClient(create_app(engine), base_url="http://localhost") as client:
        answer = client.get("/", headers=HTML)
    assert answer.status_code == status
    assert f'<h1 class="pagehead">{words}</h1>' in answer.text


def test_dates_are_written_as_clinicians_write_them_and_partial_ones_stay():
    assert day("2026-11-05") == "5 Nov 2026"
    assert day("2026-11-05T09:00:00+00:00") == "5 Nov 2026"
    assert day("2015-03") == "2015-03"
    assert (day(None), day("", "not recorded")) == ("undated", "not recorded")
    at = datetime(2026, 11, 5, 9, 30, 12, tzinfo=UTC)
    assert moment(at.isoformat()) == "5 Nov 2026, 09:30:12"


def test_a_rules_sentence_is_parted_from_its_source():
    text = "Reassess below 45 (source: Metformin label, sections 2 and 4 (eGFR limits))."
    assert rule_source(text) == (
        "Reassess below 45.",
        "Metformin label, sections 2 and 4 (eGFR limits)",
    )
    assert rule_source("High (range up to 30).") == ("High (range up to 30).", "")


def test_a_reports_target_is_counted_as_people_count():
    assert [target(one) for one in ("answer", "claim:0", "flag:4")] == [
        "the whole",
        "sentence 1",
        "flag 5",
    ]


def test_a_receipt_is_drawn_from_the_left_and_compared_with_the_turn_before():
    def block(name: str, given: int) -> dict[str, object]:
        return {"name": name, "zone": "middle", "given": given, "wanted": 2 * given}

    drawn = picture.of(
        {"blocks": [block("a", 10), block("b", 30), block("c", 5)], "limit": 100},
        {"blocks": [block("a", 10), block("b", 50), block("gone", 1)]},
    )
    assert drawn is not None
    assert [(one["x"], one["change"]) for one in drawn["blocks"]] == [(0, 0), (10, -20), (40, None)]
    assert drawn["gone"] == ["gone"]
    assert drawn["blocks"][1]["share_wanted"] == 100
    assert picture.of(None, None) is None


def test_a_trace_is_told_in_words():
    assert picture.said({"clinical_guidelines": 3, "ok": True}) == "clinical guidelines 3, ok yes"
    assert [picture.said(one) for one in (None, 1.25, [], False)] == [
        "not known",
        "1.2",
        "none",
        "no",
    ]


def test_a_case_holds_the_cited_text_of_its_own_tenant(tmp_path):
    """The same id in two tenants: only one's own text, or what is shared by all, is exported."""

    async def go() -> list[dict]:
        engine = build_engine(load_settings(home=tmp_path, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            for tenant, text in (
                ("theirs", "TEXT OF THE OTHER TENANT"),
                ("mine", "Text of our own"),
            ):
                who = Who(tenant=TenantId(tenant), roles=frozenset({"admin"}))
                await engine.ingest_bytes([("g1.md", f"# Guide\n\n{text}.\n".encode())], who)
            cited = [
                {"n": 1, "source": {"id": "g1", "revision": 1, "kind": "guideline", "title": "G"}}
            ]
            found = []
            for tenant in ("mine", "third"):
                who = Who(tenant=TenantId(tenant))
                found.append(
                    await engine.store.read(lambda c, who=who: cited_texts(c, who, cited)[0])
                )
            return found
        finally:
            await engine.close()

    mine, third = anyio.run(go)
    assert [one["text"].strip().splitlines()[-1] for one in mine] == ["Text of our own."]
    assert third == []
