"""Identifiers leave as placeholders and come back, whatever the chunks. EN-S7."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bedside.core.context import Item, Message, ToolCall, ToolResult
from bedside.core.turn import Route
from bedside.models.build import build_providers
from bedside.models.config import EgressConfig, ModelsConfig
from bedside.models.deidentify import Veiled
from bedside.models.gateway import Chain
from bedside.models.identifiers import PLACEHOLDER, Unveiler, Veil
from bedside.models.prices import bundled_prices
from bedside.models.profiles import bundled_profiles
from bedside.testing.provider import Asked, FakeProvider, Received, Said
from bedside.testing.provider_kit import (
    PROTOCOLS,
    SystemClock,
    collect,
    config_for,
    prompt_of,
    text_of,
)

KNOWN = (
    "María José García-López",
    "O'Neil",
    "1962-03-04",
    "MRN-0048812",
    "+91 98765 43210",
    "Ng",
)
VEIL = Veil(KNOWN, key=b"installation")


@pytest.mark.requirement("EN-S7")
@pytest.mark.parametrize(
    "identifier",
    [
        "María José García-López",
        "MARÍA JOSÉ GARCÍA-LÓPEZ",
        "Maria Jose Garcia-Lopez",
        "María\nJosé  García-López",
        "García-López",
        "O'Neil",
        "Ng",
        "1962-03-04",
        "04/03/1962",
        "3/4/1962",
        "4 March 1962",
        "Mar 4, 1962",
        "MRN-0048812",
        "+91 98765 43210",
        "maria.garcia+x@clinic.example.org",
        "123-45-6789",
        "4321 8765 2109",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        "(555) 123-4567",
        "555-123-4567",
        "9876543210",
        "+44 20 7946 0958",
        "42 Wallaby Way Street",
        "1187 Old Mill Road, Apt 4",
    ],
)
def test_an_identifier_does_not_stay_in_the_text(identifier: str) -> None:
    text = f"Seen today: {identifier}, potassium 4.1 mmol/L."
    hidden = VEIL.hide(text)
    assert identifier not in hidden
    assert PLACEHOLDER.search(hidden)
    assert "potassium 4.1 mmol/L." in hidden
    assert VEIL.show(hidden) == text


@pytest.mark.requirement("EN-S7")
@pytest.mark.parametrize(
    ("label", "identifier"),
    [
        ("MRN: ", "A12345"),
        ("MRN ", "0048991"),
        ("Patient ID: ", "PX-55512"),
        ("Hospital no. ", "778812"),
        ("passport ", "K1234567"),
        ("Policy number: ", "ZX-99-1234"),
        ("DOB: ", "12/11/1950"),
        ("born on ", "3 May 1971"),
        ("Date of birth ", "1971-05-03"),
        ("Tel: ", "020 7946 0958"),
        ("mobile no. ", "98765-43210"),
        ("Address: ", "Flat 4B, 12 Rose Gardens, Pune 411001"),
        ("ZIP code: ", "02139"),
    ],
)
def test_a_labelled_identifier_does_not_stay_in_the_text(label: str, identifier: str) -> None:
    text = f"Patient seen. {label}{identifier}\nPotassium 4.1 mmol/L."
    hidden = Veil(()).hide(text)
    assert identifier not in hidden
    assert label.strip() in hidden
    assert "Potassium 4.1 mmol/L." in hidden


@pytest.mark.parametrize(
    "text",
    [
        "pH: 7.35 (7.35-7.45), pCO2 40 mmHg, HCO3 24",
        "BP 120/80 mmHg on 2026-11-02, pulse 72",
        "Creatinine 1.2 mg/dL (2026-01-15), 1.4 mg/dL (2026-03-20)",
        "Metformin 500 mg 1-0-1, atorvastatin 40 mg 0-0-1",
        "eGFR 38 mL/min/1.73 m2; platelets 150000 /uL; WBC 11200",
        "NNT 24 (95 % CI 18-37), n = 1535, PMID 29320641",
        "Steps to address hyperkalaemia: calcium 1000 mg IV over 10 min",
        "In 64 cases per 100000; 250 patients; policy of 2018",
        "I21.9, E11.65, LOINC 2823-3, SNOMED 44054006, RxNorm 860975",
        "The young woman may walk.",
    ],
)
def test_clinical_text_stays_as_it_is(text: str) -> None:
    veil = Veil(("Grace Young", "Ed May", "Walker"))
    assert veil.hide(text) == text


def test_placeholders_are_fixed_for_a_case_and_differ_between_cases() -> None:
    """The cached prefix survives; a provider cannot join two cases."""
    text = "García-López rang 9876543210 and wrote to a@b.org."
    again = Veil(KNOWN, key=b"installation")
    later = again.hide("Something else about 9876543210 first. " + text)
    assert later.endswith(VEIL.hide(text))
    other_case = Veil((*KNOWN, "Someone Else"), key=b"installation")
    other_house = Veil(KNOWN, key=b"another")
    assert other_case.hide(text) != VEIL.hide(text)
    assert other_house.hide(text) != VEIL.hide(text)


def test_people_keep_their_numbers_in_all_their_spellings() -> None:
    hidden = Veil(("Ana Silva", "Rui Costa")).hide("Ana Silva, SILVA, Rui Costa; Mrs Costa")
    first, second, third, fourth = PLACEHOLDER.findall(hidden)
    assert first == "[PERSON_1]"
    assert second.startswith("[PERSON_1_")
    assert third == "[PERSON_2]"
    assert fourth.startswith("[PERSON_2_")


def test_a_placeholder_that_stood_in_the_text_comes_back_as_itself() -> None:
    text = "The form says [PERSON_1] and [DATE_abc]; Ana Silva signed."
    veil = Veil(("Ana Silva",))
    assert veil.show(veil.hide(text)) == text


def test_an_invented_placeholder_stays_and_a_recased_one_is_understood() -> None:
    veil = Veil(("Ana Silva",))
    veil.hide("Ana Silva")
    assert veil.show("[PERSON_9] and [Person_1]") == "[PERSON_9] and Ana Silva"


def test_json_stays_json_with_quotes_in_a_name() -> None:
    veil = Veil(('Ann "Annie" Bell',))
    asked = json.dumps({"who": 'Ann "Annie" Bell', "n": 3})
    hidden = veil.hide_json(asked)
    assert "Annie" not in hidden
    assert json.loads(veil.show(hidden, in_json=True)) == json.loads(asked)


_WORDS = st.sampled_from(
    [*KNOWN, "García-López", "JOSÉ", "[PERSON_1]", "[", "]", "_", "PERSON", "a@b.co", "4.1", "\n",
     "9876543210", "MRN: A12345", " ", ", ", "[n]", "[3]", "&amp;", '"', "\\", "é", "123-45-6789"]
)  # fmt: skip
_TEXT = st.lists(st.one_of(_WORDS, st.text(max_size=8)), max_size=14).map("".join)


@settings(max_examples=300, deadline=None)
@given(_TEXT)
@pytest.mark.requirement("EN-S7")
def test_what_is_hidden_comes_back_exactly(text: str) -> None:
    veil = Veil(KNOWN, key=b"k")
    assert veil.show(veil.hide(text)) == text


@settings(max_examples=300, deadline=None)
@given(_TEXT, st.lists(st.integers(0, 400), max_size=12), st.booleans())
@pytest.mark.requirement("EN-S7")
def test_any_chunking_gives_the_same_text(text: str, cuts: list[int], in_json: bool) -> None:
    veil = Veil(KNOWN, key=b"k")
    hidden = veil.hide(text)
    back = Unveiler(veil, in_json=in_json)
    at, told = 0, ""
    for cut in sorted(cuts):
        told += back.feed(hidden[at:cut]) if cut > at else ""
        at = max(at, cut)
    told += back.feed(hidden[at:]) + back.finish()
    assert told == veil.show(hidden, in_json=in_json)


# ---- round the chain, on the socket


def veiled(config: ModelsConfig) -> Veiled:
    """A gateway that takes its loopback provider for a remote one."""
    clock = SystemClock()
    chain = Chain(
        config,
        providers=build_providers(config, clock=clock),
        profiles=bundled_profiles(),
        prices=bundled_prices(),
        clock=clock,
        rng=random.Random(1),
    )
    return Veiled(chain, config=config, remote=frozenset(PROTOCOLS))


def run(gateway: Any, *args: Any, **more: Any) -> list[Any]:
    async def go() -> list[Any]:
        try:
            return await collect(gateway, *args, **more)
        finally:
            await gateway.aclose()

    return asyncio.run(go())


CASE = prompt_of(
    Message(role="system", parts=("You are careful.",), tokens=3, cache_break=True),
    Message(
        role="user", parts=("María José García-López, born 1962-03-04, MRN-0048812.",), tokens=9
    ),
    Message(
        role="assistant",
        parts=(ToolCall(id="t", name="look", arguments='{"who": "Mar\\u00eda Jos\\u00e9"}'),),
        tokens=5,
    ),
    Message(
        role="user",
        parts=(
            ToolResult(
                id="t",
                items=(Item('<source n="1" title="Letter to García-López">\nK 4.1\n</source>\n'),),
            ),
        ),
        tokens=9,
    ),
)
ROUTE = Route(role="writer", veil=KNOWN)


@pytest.mark.requirement("EN-S7")
@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_identifier_is_on_the_wire_and_the_answer_has_them_back(fake: Any, name: Any) -> None:
    def script(received: Received) -> Said:
        placeholder = "[PERSON_1]"
        assert placeholder in received.text
        pieces = ("For [PER", "SON_1", "]: K 4.1 [", "1]. [PERSON_", "1] is well [")
        tools = (Asked(name="look", arguments={"who": placeholder}),)
        return Said(pieces=pieces, tools=tools)

    provider: FakeProvider = fake(script)
    events = run(veiled(config_for(provider, name)), CASE, route=ROUTE, may_call=True)
    wire = provider.requests[0].raw.decode() + json.dumps(dict(provider.requests[0].headers))
    wire = json.dumps(json.loads(provider.requests[0].raw), ensure_ascii=False) + wire
    # Bedrock's headers hold digests, in which four digits of a year stand by chance.
    for secret in ("García", r"Garc\\u00eda", "José", r"(?<![0-9a-f])1962(?![0-9a-f])", "0048812"):
        assert re.search(secret, wire) is None, secret
    assert text_of(events) == (
        "For María José García-López: K 4.1 [1]. María José García-López is well ["
    )
    (call,) = [event for event in events if isinstance(event, ToolCall)]
    assert json.loads(call.arguments) == {"who": "María José García-López"}


def test_a_structured_answer_stays_json_when_names_come_back(fake: Any) -> None:
    provider = fake([Said(pieces=('{"who": "[PERS', 'ON_1]"}'))])
    route = Route(role="writer", veil=('Ann "Annie" Bell',))
    prompt = prompt_of(Message(role="user", parts=('Ann "Annie" Bell asks',), tokens=4))
    events = run(
        veiled(config_for(provider, "openai")), prompt, route=route, schema={"type": "object"}
    )
    assert json.loads(text_of(events)) == {"who": 'Ann "Annie" Bell'}


@pytest.mark.parametrize("how", ["switched off", "loopback"])
def test_text_is_untouched_where_identifiers_stay(fake: Any, how: str) -> None:
    provider = fake([Said(text="Fine.")])
    off = how == "switched off"
    config = config_for(provider, "openai", egress=EgressConfig(deidentify=not off))
    gateway = veiled(config)
    if not off:
        gateway = Veiled(gateway._inner, config=config, remote=frozenset())
    run(gateway, CASE, route=ROUTE)
    assert "MRN-0048812" in provider.requests[0].raw.decode()


# ---- on real records


def strings(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [each for found in node.values() for each in strings(found)]
    if isinstance(node, list):
        return [each for found in node for each in strings(found)]
    return []


def test_a_synthetic_patients_identifiers_leave_no_trace_in_the_whole_record(
    shared_data: Path,
) -> None:
    """Every name, number, address line and birth date of eight patients, in all text of theirs."""
    folder = shared_data / "records" / "synthea_r4"
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_size)[:10]
    assert files
    checked = 0
    for path in files:
        bundle = json.loads(path.read_text(encoding="utf-8"))
        resources = [entry["resource"] for entry in bundle.get("entry", [])]
        patients = [each for each in resources if each["resourceType"] == "Patient"]
        if len(patients) != 1:
            continue  # hospitals and practitioners
        (patient,) = patients
        names = [" ".join([*name.get("given", []), name["family"]]) for name in patient["name"]]
        known = [
            *names,
            patient["birthDate"],
            *(each["value"] for each in patient["identifier"]),
            *(each["value"] for each in patient.get("telecom", [])),
            *(line for where in patient["address"] for line in where.get("line", [])),
        ]
        veil = Veil(known)
        text = "\n".join(strings(bundle))[:400_000]
        hidden = veil.hide(text)
        assert veil.show(hidden) == text
        words = {word for name in names for word in name.split() if len(word) > 2}
        for secret in {*known, *words}:
            whole = [at for at in range(len(hidden)) if hidden.startswith(secret, at)]
            alone = [
                at
                for at in whole
                if not hidden[at - 1 : at].isalnum()
                and not hidden[at + len(secret) : at + len(secret) + 1].isalnum()
            ]
            assert not alone, (path.stem[:8], len(alone))
            checked += 1
    assert checked > 8 * 5
