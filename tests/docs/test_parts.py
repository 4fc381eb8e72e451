"""The recipes of docs/parts: each file runs, on the dependencies that it claims."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ROOT / "docs_src" / "parts"
NOTE = "HbA1c 8.2 % on 12 May 2026. Potassium 5.1 mmol/L. No chest pain."


def load(name: str) -> ModuleType:
    """A recipe's module, from its file."""
    spec = importlib.util.spec_from_file_location(f"recipe_{name}", PARTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def base_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the locked base dependencies and nothing else."""
    uv = Path(sys.executable).parent / "uv"
    if not uv.exists():
        pytest.skip("uv is not here: no environment of its own for the base install")
    folder = tmp_path_factory.mktemp("base") / "venv"
    python = folder / "bin" / "python"
    lock = str(ROOT / "requirements" / "base.txt")
    for command in (
        [str(uv), "venv", "--quiet", "--python", sys.executable, str(folder)],
        [str(uv), "pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(python), "-r", lock],
    ):  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            pytest.skip("the base dependencies are not in uv's cache, and tests use no network")
    return python


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.requirement("EN-S9")
def test_the_compiler_the_checker_the_evaluator_and_the_intake_run_on_the_locked_base_dependencies(
    base_python: Path,
) -> None:
    for name in ("compiler", "checker", "evaluator", "intake"):
        program = (
            f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import runpy; "
            f"runpy.run_path({str(PARTS / f'{name}.py')!r}, run_name='__main__'); "
            "import importlib.util as u; "
            "print([m for m in ('numpy', 'fastapi', 'sqlalchemy', 'anthropic') if u.find_spec(m)])"
        )
        done = subprocess.run(
            [str(base_python), "-c", program], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-1000:]
        assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.requirement("EN-C2")
def test_the_middleware_keeps_rules_and_question_and_the_newest_messages() -> None:
    seen: list[list[dict[str, str]]] = []

    def model(messages: list[dict[str, str]]) -> str:
        seen.append(messages)
        return "ok"

    from bedside.context import Item

    sources = [Item("eGFR 38, 2 Nov", source="obs/77")]
    ask = load("middleware").compiled(model, rules="Be brief.", sources=sources, tokens=300)
    history = [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n:02} " + "words " * 30}
        for n in range(20)
    ]
    assert ask([*history, {"role": "user", "content": "Is metformin safe?"}]) == "ok"
    text = "\n".join(message["content"] for message in seen[0])
    assert "Be brief." in text
    assert "Is metformin safe?" in text
    kept = [n for n in range(20) if f"message {n:02}" in text]
    assert kept == list(range(20 - len(kept), 20))
    assert 0 < len(kept) < 20


def test_the_middleware_refuses_a_question_that_cannot_fit() -> None:
    from bedside.core.errors import BudgetTooSmall

    ask = load("middleware").compiled(lambda _: "never", rules="Be brief.", sources=[], tokens=60)
    with pytest.raises(BudgetTooSmall, match="question"):
        ask([{"role": "user", "content": "why " * 200}])


@pytest.mark.requirement("EN-G2")
def test_a_wrong_figure_is_sent_back_once_and_then_removed() -> None:
    from bedside.grounding import SourceText

    note = SourceText("note-1", NOTE)
    prompts: list[str] = []

    def stubborn(prompt: str) -> str:
        prompts.append(prompt)
        return "HbA1c is 8.2 % [1]. Potassium is 5.7 mmol/L [1]."

    report = load("retry").answer_checked(stubborn, "Latest results?", sources=[note])
    assert len(prompts) == 2
    assert "5.7" in prompts[1]
    assert "8.2 %" in report.text
    assert "5.7" not in report.text
    assert [why for _, why in report.removed] == ["figure_not_in_source"]


@pytest.mark.requirement("NO-08")
def test_the_evaluators_recipe_passes_in_pytest_and_fails_on_a_bad_summary(
    tmp_path: Path,
) -> None:
    recipe = load("evaluator")
    recipe.test_every_item_of_the_summary_holds(tmp_path)
    recipe.test_what_is_wrong_is_named()
    assert "Left knee pain" in (tmp_path / "report.html").read_text(encoding="utf-8")
    recipe.GOOD[1]["text"] = "Fever"
    with pytest.raises(AssertionError, match="negation"):
        recipe.test_every_item_of_the_summary_holds(tmp_path)


@pytest.mark.requirement("IN-12")
def test_the_intakes_loop_cuts_advice_and_keeps_no_fact_without_its_words() -> None:
    """The recipe's turn with a model that diagnoses, promises and invents."""
    from bedside.sop import Contract, State

    def careless(prompt: dict[str, object]) -> str:
        assert "coordinator" in str(prompt["system"])
        said = "You have arthritis. You will walk again. How old are you?"
        facts = {
            "age": {"value": 61, "quote": "sixty-one"},
            "nonsense": {"value": 1, "quote": "left"},
        }
        return json.dumps({"message": said, "extracted_data": facts})

    sop = Contract.find("TKR")
    history: list[object] = []
    state, answer = load("intake").turn(sop, State.new(sop), history, "left, please", careless)
    assert answer == "How old are you?"
    assert dict(state.fields) == {}
    assert len(history) == 2


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_flow_of_ones_own_is_found_by_its_entry_point_and_cites_the_record(
    demo: Path, tmp_path: Path
) -> None:
    """A package with nothing but metadata and the recipe's file, put on the path."""
    (tmp_path / "my_own_flow.py").write_text(
        (PARTS / "own_flow.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    info = tmp_path / "my_own_flow-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: my-own-flow\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text(
        "[bedside.flows]\nallergy-card = my_own_flow:ALLERGY_CARD\n", encoding="utf-8"
    )
    program = f"""
import asyncio, json, shutil, sys
from pathlib import Path
sys.path.insert(0, {str(tmp_path)!r})
from bedside.settings import load_settings
from bedside.wiring import Ask, build_engine

async def main():
    home = Path({str(tmp_path / "home")!r})
    shutil.copytree({str(demo)!r}, home)
    engine = build_engine(load_settings(home=home, environ={{}}))
    ask = Ask(question="Any allergies?", patient="demo-adeyemi", flow="allergy-card")
    turn = await engine.asker.ask(ask, engine.local())
    texts = [
        (await engine.source(c["source"]["id"], engine.local(), start=c["start"], end=c["end"]))["text"]
        for c in turn["citations"]
    ]
    await engine.close()
    print(json.dumps([turn, texts]))

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    turn, texts = json.loads(done.stdout.splitlines()[-1])
    assert turn["flow"] == "allergy-card"
    assert turn["answered_by"] == "extractive"
    # The bundled record holds these two allergies (src/bedside/demo/patients/demo-adeyemi.json).
    assert "Penicillin" in turn["answer"]
    assert "Lisinopril" in turn["answer"]
    assert texts == [cited["quote"] for cited in turn["citations"]]
    assert len(texts) == 2
    assert turn["receipt"]["total"] <= turn["receipt"]["limit"] == 2000


@pytest.mark.filterwarnings("ignore")
def test_the_langchain_middleware_compiles_what_the_agent_sends() -> None:
    pytest.importorskip("langchain", reason="langchain is no dependency of Bedside")
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage

    from bedside.context import Item

    seen: list[list[object]] = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages, *args, **kwargs):
            seen.append(messages)
            return super()._generate(messages, *args, **kwargs)

    middleware = load("langchain_middleware").CompiledContext(
        rules="Be brief.", sources=[Item("eGFR 38, 2 Nov", source="obs/77")], tokens=300
    )
    agent = create_agent(Model(messages=iter([AIMessage("ok")])), middleware=[middleware])
    history = [
        {"role": ("user", "assistant")[n % 2], "content": f"message {n:02} " + "words " * 30}
        for n in range(20)
    ]
    done = agent.invoke({"messages": [*history, {"role": "user", "content": "Metformin?"}]})
    assert done["messages"][-1].content == "ok"
    text = "\n".join(str(message.content) for message in seen[0])
    assert "Be brief." in text
    assert "eGFR 38" in text
    assert "Metformin?" in text
    assert "message 00" not in text
    assert "message 19" in text


@pytest.mark.filterwarnings("ignore")
def test_the_pydantic_ai_validator_asks_again_and_then_removes() -> None:
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is no dependency of Bedside")
    from pydantic_ai.messages import ModelResponse, TextPart
    from pydantic_ai.models.function import FunctionModel

    from bedside.grounding import SourceText

    calls: list[int] = []

    def stubborn(messages, info):
        calls.append(len(messages))
        return ModelResponse(parts=[TextPart("HbA1c is 8.2 % [1]. Potassium is 5.7 mmol/L [1].")])

    agent = load("pydantic_ai_validator").grounded_agent(
        FunctionModel(stubborn), sources=[SourceText("note-1", NOTE)]
    )
    answer = agent.run_sync("Latest results?").output
    assert len(calls) == 2
    assert "8.2 %" in answer
    assert "5.7" not in answer
