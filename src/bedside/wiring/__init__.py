"""Where rooms meet doors: builds the real ones and offers the engine's operations."""

from __future__ import annotations

from bedside.wiring.ask import Ask, Who
from bedside.wiring.build import build_engine
from bedside.wiring.engine import Engine
from bedside.wiring.running import Event

__all__ = ["Ask", "Engine", "Event", "Who", "build_engine"]
