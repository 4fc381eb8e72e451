"""What the doctor says where the store is not in the home, and of turns that are open."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from bedside.settings import load_settings
from bedside.wiring import build_engine


def test_a_home_that_was_never_made_does_not_stop_the_doctor(tmp_path: Path) -> None:
    """The store is elsewhere, by setting; the free space is that of the nearest folder there is."""
    home = tmp_path / "never" / "made"
    database = f"sqlite:///{tmp_path / 'store.db'}"
    environ = {"BEDSIDE_EMBEDDER": "none", "BEDSIDE_DATABASE": database}

    async def look() -> dict[str, Any]:
        engine = build_engine(load_settings(home=home, environ=environ))
        found = await engine.doctor()
        await engine.close()
        return found

    found = asyncio.run(look())
    details = {check["name"]: check["detail"] for check in found["checks"]}
    assert details["disk"].endswith("GB free")
    assert details["turns"] == "none is open"
    assert not home.exists()
