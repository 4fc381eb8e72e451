"""The model's loop over three protocols: what it may search, what it may say, what it cannot lose."""

from __future__ import annotations

import json
import re

import pytest

from bedside.testing.provider import FakeProvider, Fault, Said
from bedside.testing.provider_script import Asked, Received

from .conftest import KEYS, briefed, by_model, imported, number_of, written

P = "demo-adeyemi"
EGFR = "37 mL/min/1.73m2 (5 Nov 2026"
PROTOCOLS = ("anthropic", "openai", "bedrock")


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)


def search(query: object, at: str = "", **more: object) -> Asked:
    return Asked(
        name="search_clinical_guidelines",
        arguments={"query": query, **more},
        id=at or f"id-{query}",
    )


def falling(request: Received, **more: object) -> Said:
    """A good briefing: one flag with a quote of the record."""
    n = number_of(request.text, EGFR)
    return Said(
        text=written(
            {
                "title": "Falling kidney function",
                "description": f'eGFR was 37 mL/min/1.73m2 on 5 Nov 2026 [{n}: "{EGFR}"].',
            },
            **more,  # type: ignore[arg-type]
        )
    )


def scripted(*rounds):
    """A model that says one thing after the other; a function is given the request."""
    left = list(rounds)

    def say(request: Received):
        one = left.pop(0) if len(left) > 1 else left[0]
        return one(request) if callable(one) else one

    return say


def results_in(request: Received) -> list[tuple[str, str]]:
    """The tool results that a request carries last, as (call id, text), read from its raw JSON."""
    if request.protocol in {"openai", "openrouter"}:
        rows = [one for one in request.body["messages"] if one["role"] == "tool"]
        return [(one["tool_call_id"], _words(one["content"])) for one in rows]
    found = []
    for message in request.body["messages"]:
        if message["role"] != "user" or isinstance(message["content"], str):
            continue
        for part in message["content"]:
            if part.get("type") == "tool_result":
                found.append((part["tool_use_id"], _words(part["content"])))
            elif "toolResult" in part:
                result = part["toolResult"]
                found.append((result["toolUseId"], _words(result["content"])))
    return found


def _words(content) -> str:
    return content if isinstance(content, str) else "".join(one["text"] for one in content)


def may_not_search(request: Received) -> bool:
    """Is the tool withheld? Bedrock has no such choice: the results alone say so."""
    choice = request.body.get("tool_choice")
    if request.protocol == "anthropic":
        return choice == {"type": "none"}
    if request.protocol == "bedrock":
        return "Write the briefing now" in request.last
    return choice == "none"


def ai(turn):
    return [flag for flag in turn["briefing"]["flags"] if flag["source"] == "ai"]


def rule_titles(turn):
    return {flag["title"] for flag in turn["briefing"]["flags"] if flag["source"] == "rule"}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_model_searches_then_writes_and_its_flag_is_cited(home, name):
    with FakeProvider(scripted(Said(tools=(search("metformin dose"),)), falling)) as provider:
        turn = by_model(home, P, provider, name)
        requests = provider.of(name)
    assert turn["answered_by"].startswith("model:")
    assert len(requests) == 2
    (flag,) = ai(turn)
    assert flag["evidence"][0]["quote"] == EGFR
    (use,) = turn["briefing"]["loop"]
    assert json.loads(use["arguments"]) == {"query": "metformin dose"}
    assert use["results"] > 0
    assert use["error"] is None
    assert "Falling kidney function" in turn["answer"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_model_that_searches_nothing_may_write_at_once(home, name):
    with FakeProvider(scripted(falling)) as provider:
        turn = by_model(home, P, provider, name)
    assert len(turn["calls"]) == 1
    assert turn["briefing"]["loop"] == []
    assert ai(turn)


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_after_three_searches_the_model_is_asked_to_write_and_may_not_search(home, name):
    rounds = [Said(tools=(search(f"question {k}"),)) for k in range(3)]
    with FakeProvider(scripted(*rounds, falling)) as provider:
        turn = by_model(home, P, provider, name)
        last = provider.of(name)[-1]
    assert len(turn["calls"]) == 4
    assert [use["turn"] for use in turn["briefing"]["loop"]] == [1, 2, 3]
    assert ai(turn)
    assert may_not_search(last)


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_parallel_searches_count_singly_and_the_fourth_is_refused_with_an_order_to_write(
    home, name
):
    four = Said(tools=tuple(search(f"question {k}", at=f"t{k}") for k in range(4)))
    with FakeProvider(scripted(four, falling)) as provider:
        turn = by_model(home, P, provider, name)
        requests = provider.of(name)
    loop = turn["briefing"]["loop"]
    assert [use["error"] is None for use in loop] == [True, True, True, False]
    assert [use["turn"] for use in loop] == [1, 1, 1, 1]
    assert "Write the briefing now" in loop[3]["error"]
    assert len(requests) == 2
    told = results_in(requests[1])
    assert [call for call, _ in told] == ["t0", "t1", "t2", "t3"]  # each call has its own answer
    assert all("<clinical_guidelines>" in text for _, text in told[:3])
    assert "Write the briefing now" in told[3][1]
    assert may_not_search(requests[1])
    assert ai(turn)


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_fourth_search_on_the_last_turn_is_refused_with_an_order_and_the_model_writes(home, name):
    rounds = [Said(tools=(search(f"question {k}"),)) for k in range(4)]
    with FakeProvider(scripted(*rounds, falling)) as provider:
        turn = by_model(home, P, provider, name)
        requests = provider.of(name)
    assert [use["error"] is None for use in turn["briefing"]["loop"]] == [True, True, True, False]
    assert [use["turn"] for use in turn["briefing"]["loop"]] == [1, 2, 3, 4]
    assert len(requests) == 5  # four turns, and the one repair
    assert "Write the briefing now" in requests[4].last
    assert turn["answered_by"].startswith("model:")
    assert ai(turn)
    assert not [one for one in turn["degraded"] if one.startswith("model:")]


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_last_turn_is_told_to_write_beside_the_third_result(home, name):
    rounds = [Said(tools=(search(f"question {k}"),)) for k in range(3)]
    with FakeProvider(scripted(*rounds, falling)) as provider:
        by_model(home, P, provider, name)
        requests = provider.of(name)
    assert "Write the briefing now" in requests[3].last
    assert "Write the briefing now" not in requests[2].text


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_model_that_never_stops_searching_is_cut_off_and_the_rules_brief(home, name):
    with FakeProvider(lambda _request: Said(tools=(search("again"),))) as provider:
        turn = by_model(home, P, provider, name)
        asked = len(provider.of(name))
    assert asked == 5  # four turns, and the one repair
    assert sum(use["error"] is None for use in turn["briefing"]["loop"]) == 3
    assert turn["answered_by"] == "rules"
    assert turn["status"] == "complete"
    assert any(one.startswith("model:") for one in turn["degraded"])
    assert turn["briefing"]["flags"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": ["metformin"]},
        {"query": "x" * 401},
        {"query": "metformin", "max_results": 11},
        {"query": "metformin", "max_results": "5"},
        {"query": "metformin", "patient": "demo-chow"},
        {},
    ],
)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_bad_arguments_get_an_error_to_act_on_and_cost_no_search(home, name, wrong):
    bad = Asked(name="search_clinical_guidelines", arguments=wrong, id="bad")
    rounds = (Said(tools=(bad,)), Said(tools=(search("metformin dose"),)), falling)
    with FakeProvider(scripted(*rounds)) as provider:
        turn = by_model(home, P, provider, name)
        told = results_in(provider.of(name)[1])
    assert [call for call, _ in told] == ["bad"]
    assert "must be" in told[0][1] or "schema" in told[0][1]
    first, second = turn["briefing"]["loop"]
    assert first["error"]
    assert "schema" in first["error"] or "must be" in first["error"]
    assert second["results"] > 0
    assert ai(turn)


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(
    "broken", ['{"query": "metformin', "metformin dose", '["metformin"]', "[" * 3_000]
)
def test_broken_json_gets_an_error_to_act_on_and_is_asked_once(home, name, broken):
    bad = Asked(name="search_clinical_guidelines", arguments=broken, id="bad")
    rounds = (Said(tools=(bad,)), Said(tools=(search("metformin dose"),)), falling)
    with FakeProvider(scripted(*rounds)) as provider:
        turn = by_model(home, P, provider, name)
        requests = provider.of(name)
    first, second = turn["briefing"]["loop"]
    assert "Arguments are wrong" in first["error"]
    assert second["error"] is None
    assert len(requests) == 3
    assert "Arguments are wrong" in requests[1].last
    assert ai(turn)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_arguments_that_fill_the_loop_do_not_end_the_turn(home, name):
    huge = Asked(
        name="search_clinical_guidelines", arguments={"query": "metformin " * 3_500}, id="huge"
    )
    with FakeProvider(scripted(*[Said(tools=(huge,))] * 3, falling)) as provider:
        turn = by_model(home, P, provider, name)
    assert [bool(use["error"]) for use in turn["briefing"]["loop"]] == [True, True, True]
    assert turn["receipt"]["total"] <= 16_000
    assert ai(turn)


@pytest.mark.requirement("EN-K8")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_a_search_found_stands_as_clinical_guidelines_with_its_source(home, name):
    with FakeProvider(scripted(Said(tools=(search("metformin dose"),)), falling)) as provider:
        by_model(home, P, provider, name)
        told = provider.of(name)[-1].last
    assert "<clinical_guidelines>\n<source id=" in told
    head = re.search(r"<source id=\"\d+\" kind=\"guideline\"[^>]*>", told)[0]
    assert 'document="' in head
    assert re.search(r'score="\d+\.\d\d"', head)
    assert 'section="' in head


@pytest.mark.requirement("EN-K8")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_search_that_found_none_says_so_in_the_same_element(home, name):
    asked = Said(tools=(search("zzyzx", specialty="no such specialty"),))
    with FakeProvider(scripted(asked, falling)) as provider:
        by_model(home, P, provider, name)
        told = provider.of(name)[-1].last
    assert "<clinical_guidelines>\nNo relevant guidelines found.\n</clinical_guidelines>" in told


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_unknown_tool_gets_the_names_of_those_that_are_and_costs_no_search(home, name):
    wrong = Said(tools=(Asked(name="read_other_patients", arguments={}, id="w"),))
    with FakeProvider(scripted(wrong, falling)) as provider:
        turn = by_model(home, P, provider, name)
        told = results_in(provider.of(name)[1])
    (use,) = turn["briefing"]["loop"]
    assert "search_clinical_guidelines" in use["error"]
    assert [call for call, _ in told] == ["w"]
    assert "search_clinical_guidelines" in told[0][1]
    assert not may_not_search(provider.of(name)[1])
    assert ai(turn)


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_text_beside_a_tool_call_is_no_part_of_the_briefing(home, name):
    both = Said(text="I will look this up. The patient is fine.", tools=(search("metformin"),))
    with FakeProvider(scripted(both, falling)) as provider:
        turn = by_model(home, P, provider, name)
        told = results_in(provider.of(name)[1])
    assert [call for call, _ in told] == ["id-metformin"]
    assert "look this up" not in turn["answer"]
    assert "is fine" not in turn["answer"]
    assert ai(turn)


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("searched", [False, True], ids=["at once", "after a search"])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_stream_that_is_cut_leaves_the_rule_briefing_and_says_so(home, name, searched, after):
    alone = briefed(home, P)
    whole = Said(text=written({"title": "Cut short", "description": "Half of a sentence."}))
    half = Fault(kind="cut", said=whole, after=after)
    rounds = (Said(tools=(search("metformin dose"),)), half) if searched else (half,)
    with FakeProvider(scripted(*rounds)) as provider:
        turn = by_model(home, P, provider, name)
    assert turn["answered_by"] == "rules"
    assert not ai(turn)
    assert [flag["id"] for flag in turn["briefing"]["flags"]] == [
        flag["id"] for flag in alone["briefing"]["flags"]
    ]
    assert "Cut short" not in turn["answer"]
    assert any(one.startswith("model:") for one in turn["degraded"]) or (
        "broke off" in turn["answer"]
    )
    assert len(turn["briefing"]["loop"]) == searched


@pytest.mark.requirement("BR-06")
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_tool_call_that_is_cut_is_not_run(home, name, after):
    half = Fault(kind="cut", said=Said(tools=(search("metformin dose"),)), after=after)
    with FakeProvider([half]) as provider:
        turn = by_model(home, P, provider, name)
    assert turn["answered_by"] == "rules"
    assert turn["briefing"]["loop"] == []
    assert turn["briefing"]["flags"]
    assert any(one.startswith("model:") for one in turn["degraded"]) or (
        "broke off" in turn["answer"]
    )


@pytest.mark.requirement("BR-09")
@pytest.mark.parametrize(
    "hostile",
    [
        '{"summary": {"one_liner": "", "changes": []}, "flags": [], "suggested_actions": []}',
        written(
            {
                "title": "Metformin and Estimated glomerular filtration rate",
                "severity": "info",
                "description": "Metformin is safe at this eGFR and can continue unchanged.",
            },
            {"title": "Amoxicillin", "description": "The penicillin allergy can be ignored."},
            one_liner="A healthy woman; no interactions were found and all is well.",
        ),
        "I refuse.",
        "{" * 4_000,
        '{"flags": null}',
    ],
    ids=["empty", "denies", "prose", "braces", "null"],
)
def test_no_model_can_lose_soften_or_deny_a_rule_flag(home, hostile):
    alone = briefed(home, P)
    with FakeProvider(lambda _request: Said(text=hostile)) as provider:
        turn = by_model(home, P, provider)
    mine = {(f["title"], f["severity"], f["rule"]) for f in alone["briefing"]["flags"]}
    assert {(f["title"], f["severity"]) for f in alone["briefing"]["flags"]} >= {
        (title, severity) for title, severity, _ in mine
    }
    assert mine <= {(f["title"], f["severity"], f["rule"]) for f in turn["briefing"]["flags"]}
    assert not ai(turn)
    for lie in ("is safe", "can continue", "be ignored", "all is well", "healthy"):
        said = turn["answer"].replace("that is no statement that all is well", "")
        assert lie not in said


@pytest.mark.requirement("BR-08")
@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("Potassium was 9.9 mmol/L.", "uncited"),
        ('Potassium was 9.9 mmol/L [999: "9.9 mmol/L"].', "source_not_shown"),
        ('eGFR was 73 mL/min/1.73m2 [{n}: "73 mL/min/1.73m2"].', "quote_not_found"),
        ('eGFR was 73 mL/min/1.73m2 [{n}: "' + EGFR + '"].', "figure_not_in_source"),
    ],
)
def test_a_claim_without_source_with_a_wrong_one_or_a_wrong_figure_is_sent_back_then_removed(
    home, claim, why
):
    def wrong(request: Received) -> Said:
        n = number_of(request.text, EGFR)
        return Said(text=written({"title": "A claim", "description": claim.replace("{n}", str(n))}))

    with FakeProvider(wrong) as provider:
        turn = by_model(home, P, provider)
        requests = provider.of("anthropic")
    assert len(requests) == 2
    assert "<correction>" in requests[1].last
    assert not ai(turn)
    assert why in {removed["why"] for removed in turn["removed"]}


@pytest.mark.requirement("EN-G5")
@pytest.mark.requirement("BR-08")
def test_one_repair_mends_a_bad_answer(home):
    bad = Said(text=written({"title": "A claim", "description": "Potassium was 9.9 mmol/L."}))
    with FakeProvider(scripted(bad, falling)) as provider:
        turn = by_model(home, P, provider)
    assert [flag["title"] for flag in ai(turn)] == ["Falling kidney function"]
    assert not [one for one in turn["removed"] if "9.9" in one["claim"]]


@pytest.mark.requirement("BR-10")
def test_a_sources_number_is_the_same_in_every_search(home):
    def two(request: Received) -> Said:
        return Said(tools=(search("metformin dose in kidney disease", at="second"),))

    rounds = (Said(tools=(search("metformin kidney", at="first"),)), two, falling)
    with FakeProvider(scripted(*rounds)) as provider:
        by_model(home, P, provider)
        text = provider.of("anthropic")[-1].text
    numbers: dict[str, set[str]] = {}
    for number, document in re.findall(
        r'<source (?:n|id)="(\d+)" kind="guideline"[^>]*?document="([^"]*)"', text
    ):
        numbers.setdefault(document, set()).add(number)
    assert numbers
    assert all(len(found) == 1 for found in numbers.values())
    assert len({next(iter(found)) for found in numbers.values()}) == len(numbers)


@pytest.mark.requirement("BR-17")
def test_every_call_of_the_loop_stays_within_the_budget(home):
    rounds = [Said(tools=(search(f"kidney {k}", max_results=10),)) for k in range(3)]
    with FakeProvider(scripted(*rounds, falling)) as provider:
        turn = by_model(home, P, provider)
        sizes = [request.body["max_tokens"] for request in provider.of("anthropic")]
    receipt = turn["receipt"]
    assert receipt["limit"] == 16_000
    assert receipt["total"] <= 16_000
    loop = sum(row["given"] for row in receipt["blocks"] if row["name"] == "results")
    assert loop <= 7_500
    assert set(sizes) == {4_096}


@pytest.mark.requirement("BR-17")
def test_the_budget_is_a_setting(home):
    environ = {
        "BEDSIDE_BRIEFING_CONTEXT_TOKENS": "12000",
        "BEDSIDE_BRIEFING_LOOP_TOKENS": "3000",
        "BEDSIDE_BRIEFING_OUTPUT_TOKENS": "2048",
    }
    rounds = [Said(tools=(search(f"kidney {k}", max_results=10),)) for k in range(3)]
    with FakeProvider(scripted(*rounds, falling)) as provider:
        turn = by_model(home, P, provider, environ=environ)
        sizes = {request.body["max_tokens"] for request in provider.of("anthropic")}
    assert turn["receipt"]["limit"] == 12_000
    assert turn["receipt"]["total"] <= 12_000
    rows = [row["given"] for row in turn["receipt"]["blocks"] if row["name"] == "results"]
    assert sum(rows) <= 3_000
    assert sizes == {2_048}


@pytest.mark.requirement("BR-12")
def test_the_trace_holds_every_turn_and_no_patient_text(home):
    import anyio

    from bedside.settings import load_settings
    from bedside.wiring import build_engine

    with FakeProvider(scripted(Said(tools=(search("metformin dose"),)), falling)) as provider:
        turn = by_model(home, P, provider)

    async def trace():
        engine = build_engine(load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none"}))
        try:
            return await engine.trace(turn["turn_id"], engine.local())
        finally:
            await engine.close()

    events = anyio.run(trace)["events"]
    tools = [one for one in events if one["event"] == "tool"]
    assert [one["name"] for one in tools] == ["search_clinical_guidelines"]
    assert tools[0]["items"] > 0
    assert tools[0]["took_ms"] > 0
    assert "metformin" not in json.dumps(events).lower()
    assert "Adeyemi" not in json.dumps(events)


@pytest.mark.requirement("BR-09")
def test_a_record_too_long_for_any_prompt_is_briefed_on_by_rule(home, tmp_path):
    """Allergies may not be left out of a prompt; where they alone fill it, no model is asked."""
    body = {
        "id": "many", "name": "Many Allergies", "sex": "female", "birth_date": "1960-01-01",
        "allergies": [
            {"name": f"Substance number {k} of a long list", "reaction": "a rash of the forearm"}
            for k in range(700)
        ] + [{"name": "Penicillin"}],
        "medications": [{"name": "Amoxicillin 500 mg", "started": "2026-11-01"}],
    }  # fmt: skip
    (tmp_path / "many.json").write_text(json.dumps(body), encoding="utf-8")
    imported(home, tmp_path / "many.json")
    with FakeProvider(lambda _request: Said(text="{}")) as provider:
        turn = by_model(home, "many", provider)
        assert provider.requests == []
    alone = briefed(home, "many")
    for one in (turn, alone):
        assert one["status"] == "complete"
        assert "drug-allergy" in {flag["rule"] for flag in one["briefing"]["flags"]}
    assert "no model was asked" in turn["answer"]
    assert "no model was asked" not in alone["answer"]
