"""What comes while too much is under way is refused at once, and what is under way is done."""

from __future__ import annotations

import anyio
import httpx
import pytest

from bedside.flows.sources import Sources
from bedside.server.app import create_app

from .conftest import engine_of

P = "demo-adeyemi"


@pytest.fixture
def gate(monkeypatch) -> anyio.Event:
    """Every turn waits at its sources until the gate opens."""
    opened = anyio.Event()
    gather = Sources.gather

    async def wait(self, needs, grant):
        await opened.wait()
        return await gather(self, needs, grant)

    monkeypatch.setattr(Sources, "gather", wait)
    return opened


@pytest.mark.anyio
@pytest.mark.requirement("RELIABILITY-8")
async def test_one_turn_too_many_is_told_to_come_back_and_the_others_are_answered(home, gate):
    app = create_app(engine_of(home, BEDSIDE_MAX_TURNS="2", BEDSIDE_MAX_REQUESTS="1"))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
    ) as client:
        answers: list[httpx.Response] = []
        refused = anyio.Event()

        async def ask() -> None:
            body = {"question": "Considering everything, how is she?", "patient": P}
            answers.append(await client.post("/v1/ask", json=body))
            if len(answers) == 3:
                refused.set()

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask)
            with anyio.fail_after(20):
                await refused.wait()
            assert [one.status_code for one in answers] == [503] * 3
            assert answers[0].headers["Retry-After"] == "1"
            assert answers[0].headers["Content-Type"] == "application/problem+json"
            assert (await client.get("/v1/documents")).status_code == 200
            assert (await client.get("/healthz")).status_code == 200
            gate.set()
        assert [one.status_code for one in answers[3:]] == [200, 200]
        await ask()
        assert answers[-1].status_code == 200
    await app.state.engine.close()
