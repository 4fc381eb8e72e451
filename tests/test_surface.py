"""The surface is chosen, light and frozen; conventions are tests."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bedside

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_the_public_names_are_these() -> None:
    assert bedside.__all__ == [
        "AsyncBedside", "Bedside", "BedsideError", "Block", "Budget", "BudgetTooSmall",
        "CallerError", "Item", "NotFound", "OutsideError", "Refusal", "SourceText", "Turn",
        "__version__", "assemble", "check", "resolve",
    ]  # fmt: skip
    for name in bedside.__all__:
        assert getattr(bedside, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        _ = bedside.nothing


def test_importing_does_no_work_and_loads_no_heavy_library() -> None:
    code = (
        "import sys, json, time; t = time.perf_counter(); import bedside; "
        "ms = (time.perf_counter() - t) * 1000; "
        "print(json.dumps([ms, [m for m in ('numpy','fastapi','sqlalchemy','pydantic','yaml') if m in sys.modules]]))"
    )
    times = []
    for _ in range(3):
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        ms, loaded = json.loads(found.stdout)
        assert loaded == []
        times.append(ms)
    assert min(times) < 150


def test_the_command_line_tells_its_commands_without_loading_the_engine() -> None:
    code = (
        "import sys\nfrom bedside.cli.parser import build_parser\nbuild_parser()\n"
        "print([m for m in ('bedside.wiring', 'sqlalchemy', 'numpy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_formats_of_a_note_on_the_command_line_are_those_that_are_rendered() -> None:
    from bedside.cli.options import FORMATS as OFFERED
    from bedside.flows.notes.outputs import FORMATS

    assert OFFERED == FORMATS


@pytest.mark.requirement("EN-S9")
def test_the_parts_load_on_the_base_dependencies_alone() -> None:
    """With every app library made unimportable, each part still imports."""
    block = "numpy sqlalchemy fastapi onnxruntime onnx lxml docx httpx alembic jinja2 anthropic openai boto3 pypdfium2 tokenizers cv2"
    code = (
        f"import sys\nfor name in {block.split()!r}: sys.modules[name] = None\n"
        "import importlib, pkgutil, bedside\n"
        "for part in ('core', 'language', 'clinical', 'context', 'grounding', 'sop'):\n"
        "    package = importlib.import_module('bedside.' + part)\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr[-800:]


@pytest.mark.requirement("EN-S9")
def test_the_base_install_has_at_most_five_dependencies() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert 1 <= len(project["dependencies"]) <= 5
    heavy = re.compile(
        r"^(numpy|fastapi|sqlalchemy|anthropic|openai|boto3|uvicorn)\b", re.IGNORECASE
    )
    assert not [name for name in project["dependencies"] if heavy.match(name)]


def test_no_file_outgrows_its_noun() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in SOURCES
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 600
    }
    assert long == {}


def test_broad_excepts_stand_only_at_process_edges() -> None:
    broad = re.compile(r"^\s*except( \(?(Base)?Exception\b.*)?:", re.MULTILINE)
    allowed = {
        "src/bedside/cli/__init__.py": 1,
        "src/bedside/flows/turn.py": 2,
        "src/bedside/server/edge.py": 1,
        "src/bedside/server/openai_compat.py": 1,
        "src/bedside/server/sse.py": 1,
        "src/bedside/evals/intake_simulate.py": 1,  # a measure counts crashes, it does not die of one
        "src/bedside/flows/intake/architectures.py": 1,  # notes the kind for the chain, and raises
        "src/bedside/jobs/runner.py": 1,  # the worker's edge: one job must not end it
        "src/bedside/knowledge/within.py": 1,  # carries a thread's error to its caller, as it is
        "src/bedside/storage/batch.py": 1,  # likewise, that of one write among several
        "src/bedside/storage/store.py": 1,  # likewise, that of their transaction
    }
    found = {
        str(p.relative_to(ROOT)): n
        for p in SOURCES
        if (n := len(broad.findall(p.read_text(encoding="utf-8"))))
    }
    extra = {name: n for name, n in found.items() if n > allowed.get(name, 0)}
    assert extra == {}


@pytest.mark.requirement("RELIABILITY-28")
def test_locks_pin_with_hashes_and_name_no_host() -> None:
    for lock in (ROOT / "requirements").glob("*.txt"):
        text = lock.read_text(encoding="utf-8")
        pins = re.findall(r"^[A-Za-z0-9_.-]+==[^\s\\;]+", text, re.MULTILINE)
        assert pins
        assert text.count("--hash=sha256:") >= len(pins)
        assert "://" not in text
        assert not re.search(
            r"^\s*(-i|--index-url|--extra-index-url|--find-links)", text, re.MULTILINE
        )


def test_every_value_of_core_is_frozen() -> None:
    import dataclasses
    import importlib
    import pkgutil

    import bedside.core

    for found in pkgutil.iter_modules(bedside.core.__path__):
        module = importlib.import_module(f"bedside.core.{found.name}")
        for name in getattr(module, "__all__", ()):
            it = getattr(module, name)
            if isinstance(it, type) and dataclasses.is_dataclass(it):
                assert it.__dataclass_params__.frozen, name


def _imports(path: Path) -> set[str]:
    """The names of modules that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return found | {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }


@pytest.mark.requirement("BR-01")
def test_ingest_and_search_share_only_the_store_and_its_forms() -> None:
    """Neither reaches the other through what it imports, however far."""

    def reach(name: str) -> set[str]:
        seen: set[str] = set()
        todo = [name]
        while todo:
            module = todo.pop()
            path = SOURCE / (module.replace(".", "/") + ".py")
            if module in seen or not path.is_file():
                continue
            seen.add(module)
            todo += [one for one in _imports(path) if one.startswith("bedside.")]
        return seen

    assert "bedside.knowledge.ingest" not in reach("bedside.knowledge.search")
    assert "bedside.knowledge.search" not in reach("bedside.knowledge.ingest")
    assert "bedside.knowledge.writing" in reach("bedside.knowledge.ingest")


@pytest.mark.requirement("EN-T1")
def test_every_flow_is_a_declaration_and_none_is_a_class_of_its_own() -> None:
    made: dict[str, int] = {}
    for path in sorted((SOURCE / "bedside/flows").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = {getattr(getattr(b, "value", b), "id", "") for b in node.bases}
                assert "Flow" not in bases, path.name
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Flow":
                folder = path.parent.name
                made[folder] = made.get(folder, 0) + 1
    assert set(made) == {"copilot", "briefing", "notes", "companion", "intake"}
