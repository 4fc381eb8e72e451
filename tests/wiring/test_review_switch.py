"""Content that nobody reviewed is shown in demonstration homes only, or by the officer's switch."""

from __future__ import annotations

import shutil
from pathlib import Path

import anyio
import pytest

from bedside.settings import load_settings
from bedside.wiring import Ask, build_engine

QUESTION = "Which drugs slow progression of chronic kidney disease in type 2 diabetes?"


def blocks(home: Path, **environ: str) -> set[str]:
    async def go():
        engine = build_engine(
            load_settings(home=home, environ={"BEDSIDE_EMBEDDER": "none", **environ})
        )
        try:
            return await engine.asker.ask(Ask(question=QUESTION, call=False), engine.local())
        finally:
            await engine.close()

    return {row["name"] for row in anyio.run(go)["receipt"]["blocks"]}


@pytest.mark.requirement("EN-K9")
def test_unreviewed_hard_data_needs_a_demo_home_or_the_switch(
    demo_home: Path, tmp_path: Path
) -> None:
    assert "evidence bank" not in blocks(tmp_path / "a")
    assert "evidence bank" in blocks(tmp_path / "b", BEDSIDE_UNREVIEWED_CONTENT="true")
    assert "evidence bank" in blocks(shutil.copytree(demo_home, tmp_path / "c"))
