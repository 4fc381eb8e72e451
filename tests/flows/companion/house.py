"""A house for companion tests: a real engine on a real store, and people who talk in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bedside.core.ids import ActorId
from bedside.settings import load_settings
from bedside.wiring import build_engine
from bedside.wiring.companion import send, talk

SESSION = "s1"


class House:
    def __init__(self, home: Path, **environ: str) -> None:
        given = {"BEDSIDE_EMBEDDER": "none", **environ}
        self.engine = build_engine(load_settings(home=home, environ=given))

    async def says(self, person: str, text: str = "", *, session: str = SESSION, **act: str) -> Any:
        """One turn of a person's, with what it leaves to do done."""
        who = replace(self.engine.local(), actor=ActorId(person))
        deed = next(iter(act.items()), None)
        turn = await send(self.engine, talk(who, text=text, act=deed, session=session), who)
        await self.engine.turning.settled()
        return turn

    async def both_heard(self) -> None:
        """Anna and Ben, each through onboarding and witnessing."""
        await self.says("anna", invite="ben")
        for person in ("anna", "ben"):
            await self.says(person, "Hello")
            await self.says(person, "Yes, let us begin.")
            await self.says(person, "I feel alone since the operation.")
            await self.says(person, "I am worried about money every day.")
            await self.says(person, "I was hurt when nobody asked me.")
            turn = await self.says(person, "Yes, I feel heard.")
            assert turn["stage"] == 2, turn

    async def give(self, person: str, text: str) -> str:
        """A text of the person's own, approved and given; its id."""
        ident: str = (await self.says(person, draft=text))["draft"]["id"]
        await self.says(person, approve=ident)
        turn = await self.says(person, share=ident)
        assert turn["deed"]["outcome"] == "done", turn
        return ident

    async def both_received(self) -> dict[str, str]:
        """Each gave a statement and the other acknowledged it; ids by author."""
        ids = {
            "anna": await self.give("anna", "I imagine that you felt afraid in the ward."),
            "ben": await self.give("ben", "I imagine that you felt tired of the waiting room."),
        }
        await self.says("anna", acknowledge=ids["ben"])
        await self.says("ben", acknowledge=ids["anna"])
        return ids
