"""The copilot's memories over the whole engine: switched off, without consent, with it, taken back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bedside.cli import main
from bedside.core.errors import AccessDenied, NotFound
from bedside.core.ids import ActorId, TenantId
from bedside.settings import load_settings
from bedside.wiring import Ask, Engine, Who, build_engine, memories
from bedside.wiring.keeping import erase

DOCTOR = Who(tenant=TenantId("default"), actor=ActorId("dr-brown"))
OTHER = Who(tenant=TenantId("default"), actor=ActorId("dr-green"))
PREFERS = "I prefer HbA1c in mmol/mol."
SAID = f"Remember that {PREFERS} What is the latest HbA1c?"


def patient(ident: str) -> bytes:
    entry = {"resourceType": "Patient", "id": ident, "gender": "female", "birthDate": "1961-04-02",
             "name": [{"family": ident.title(), "given": ["Ada"]}]}  # fmt: skip
    tree = {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": entry}]}
    return json.dumps(tree).encode()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    made: list[Engine] = []

    def start(**environ: str) -> Engine:
        settings = load_settings(home=tmp_path, environ={"BEDSIDE_EMBEDDER": "none", **environ})
        made.append(build_engine(settings))
        return made[-1]

    yield start
    for engine in made:
        asyncio.run(engine.close())


def ask(engine: Engine, text: str, *, who: Who = DOCTOR, of: str | None = None) -> str:
    """What would be sent for a question: the whole prompt as one text."""

    async def run() -> Any:
        return await engine.asker.ask(Ask(question=text, patient=of, call=False), who)

    return json.dumps(asyncio.run(run())["prompt"], ensure_ascii=False)


def say(engine: Engine, text: str, *, who: Who = DOCTOR, of: str | None = None) -> None:
    asyncio.run(engine.asker.ask(Ask(question=text, patient=of), who))


def load(engine: Engine) -> None:
    files = [(f"{name}.json", patient(name)) for name in ("ada", "ben")]
    asyncio.run(engine.import_bytes(files, DOCTOR))


@pytest.mark.requirement("CO-12")
def test_nothing_is_remembered_unless_switched_on_and_agreed_to(opened: Any) -> None:
    off = opened()
    with pytest.raises(AccessDenied):
        asyncio.run(memories.give_consent(off, DOCTOR))
    say(off, SAID)
    assert "mmol/mol" not in ask(off, "What do guidelines say about HbA1c?")
    on = opened(BEDSIDE_MEMORIES="true")
    say(on, SAID)  # no consent is on record
    assert asyncio.run(memories.overview(on, DOCTOR))["notes"] == []
    assert "mmol/mol" not in ask(on, "What do guidelines say about HbA1c?")


@pytest.mark.requirement("CO-12")
def test_a_note_is_kept_word_for_word_shown_to_its_doctor_and_gone_with_the_consent(
    opened: Any,
) -> None:
    engine = opened(BEDSIDE_MEMORIES="true")
    load(engine)
    asyncio.run(memories.give_consent(engine, DOCTOR))
    say(engine, SAID)
    kept = asyncio.run(memories.overview(engine, DOCTOR))["notes"]
    assert [note["text"] for note in kept] == [PREFERS]
    assert SAID[kept[0]["start"] : kept[0]["end"]] == PREFERS
    assert PREFERS in ask(engine, "Is metformin safe in kidney disease?", of="ben")
    assert PREFERS not in ask(engine, "Is metformin safe in kidney disease?", who=OTHER)
    assert asyncio.run(memories.overview(engine, OTHER))["notes"] == []
    with pytest.raises(NotFound):
        asyncio.run(memories.forget(engine, OTHER, kept[0]["id"]))
    removed = asyncio.run(memories.withdraw(engine, DOCTOR))["removed"]
    assert removed == {"memory_fact": 1, "memory_consent": 1}
    assert PREFERS not in ask(engine, "Is metformin safe in kidney disease?")


@pytest.mark.requirement("CO-12")
def test_what_was_said_under_one_patient_is_not_shown_under_another(opened: Any) -> None:
    engine = opened(BEDSIDE_MEMORIES="true")
    load(engine)
    asyncio.run(memories.give_consent(engine, DOCTOR))
    said = "Remember that I prefer short answers with the zebrafinch plan first."
    say(engine, said, of="ada")
    assert "zebrafinch" in ask(engine, "What is the plan?", of="ada")
    assert "zebrafinch" not in ask(engine, "What is the plan?", of="ben")
    assert "zebrafinch" not in ask(engine, "What is the plan?")


@pytest.mark.requirement("CO-12")
@pytest.mark.parametrize(
    "said",
    [
        "Remember that Mr Smith is allergic to penicillin.",
        "Remember that she stopped her warfarin.",
        "Remember the patient has an appointment on 12/03/2026.",
        "Remember MRN 5550001.",
        "Do you remember what I prefer?",
        "I cannot remember whether metformin was stopped.",
    ],
)
def test_facts_about_patients_and_questions_are_no_notes(opened: Any, said: str) -> None:
    engine = opened(BEDSIDE_MEMORIES="true")
    asyncio.run(memories.give_consent(engine, DOCTOR))
    say(engine, said)
    assert asyncio.run(memories.overview(engine, DOCTOR))["notes"] == []


def test_the_command_line_shows_and_takes_back(
    opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("BEDSIDE_MEMORIES", "true")
    monkeypatch.setenv("BEDSIDE_EMBEDDER", "none")
    home = ["--home", str(tmp_path)]
    assert main(["memory", "consent", *home]) == 0
    say(opened(BEDSIDE_MEMORIES="true"), SAID, who=Who())
    assert main(["memory", "list", "--json", *home]) == 0
    listed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [note["text"] for note in listed["notes"]] == [PREFERS]
    assert main(["memory", "forget", listed["notes"][0]["id"], *home]) == 0
    assert "Nothing is remembered." in capsys.readouterr().out
    assert main(["memory", "forget", "fact-none", *home]) == 1
    assert main(["memory", "withdraw", *home]) == 0
    assert "Consent withdrawn; 0 notes removed." in capsys.readouterr().out


@pytest.mark.requirement("RELIABILITY-20")
def test_erasing_a_patient_takes_the_notes_said_under_them_and_no_others(opened: Any) -> None:
    engine = opened(BEDSIDE_MEMORIES="true")
    load(engine)
    asyncio.run(memories.give_consent(engine, DOCTOR))
    for of in ("ada", "ben", None):
        say(engine, SAID, of=of)  # the same words three times
    say(engine, "Remember that I prefer the zebrafinch plan first.", of="ada")
    before = asyncio.run(memories.overview(engine, DOCTOR))["notes"]
    assert [note["patient"] for note in before] == ["ada", None, "ben", "ada"]
    receipt = asyncio.run(erase(engine, "ada", DOCTOR))
    assert receipt["residual_bytes"] == 0, receipt["residual"]
    assert receipt["removed"]["memory_fact"] == 2
    after = asyncio.run(memories.overview(engine, DOCTOR))["notes"]
    assert after == [note for note in before if note["patient"] != "ada"]
