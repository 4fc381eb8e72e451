"""The list of knowledge is made once for each state of it, and shows every change in every process."""

from __future__ import annotations

import json
import time

import pytest
from fastapi.testclient import TestClient

from bedside.core.ids import TenantId
from bedside.server.app import create_app
from bedside.server.auth import token
from bedside.wiring import Who
from bedside.wiring.listing import MOST, Listing
from bedside.wiring.reading import read_knowledge

from .conftest import engine_of

SECRET = "s" * 40


def bearer(**more) -> dict[str, str]:
    given = {"actor": "dr", "expires": int(time.time()) + 600, "roles": ("admin",), **more}
    return {"Authorization": f"Bearer {token(SECRET, **given)}"}


def rows_of(engine, tenant: str = "default") -> list[dict]:
    """What the rows say, past any list that is held."""
    who = Who(tenant=TenantId(tenant))
    return engine.store.read_now(lambda c: read_knowledge(c, who=who))


@pytest.mark.anyio
async def test_every_change_of_knowledge_shows_at_once_in_another_process_too(home) -> None:
    one, other = engine_of(home), engine_of(home)
    who = one.local()
    body = b""
    first = b"# Gout\n\n## Treatment\n\nColchicine 0.5 mg twice daily until the pain is gone.\n"
    second = first.replace(b"twice", b"three times")
    lists = [await other.knowledge_json(who)]
    for name, text, meta in (
        ("gout.md", first, {"id": "gout", "published": "2020-01-01"}),
        ("gout.md", second, {"id": "gout", "published": "2021-01-01"}),
        ("new.md", second + b"\nMore.\n", {"id": "gout-2", "supersedes": "gout"}),
    ):
        await one.ingest_bytes([(name, text)], who, meta=meta)
        for engine in (one, other):
            body = await engine.knowledge_json(who)
            assert json.loads(body) == rows_of(engine)
        lists.append(body)
    assert len(set(lists)) == len(lists)  # each change did change it
    assert await other.knowledge_json(who) is await other.knowledge_json(who)  # and it is held
    for engine in (one, other):
        await engine.close()


@pytest.mark.requirement("RELIABILITY-15")
def test_a_held_list_is_served_to_its_own_tenant_alone(home) -> None:
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET))
    with TestClient(app) as client:
        mine = {"files": ("secret-protocol.md", b"# Canary protocol 7731\n\nGive nothing.\n")}
        for _ in range(2):
            assert client.get("/v1/documents", headers=bearer(tenant="b")).json() == []
            shown = client.get("/v1/documents", headers=bearer()).json()
            assert len(shown) > 10
        sent = client.post("/v1/documents", files=mine, headers=bearer(tenant="b"))
        assert sent.status_code == 200
        assert client.get("/v1/documents", headers=bearer()).json() == shown
        own = client.get("/v1/documents", headers=bearer(tenant="b")).json()
        assert [one["title"] for one in own] == ["Canary protocol 7731"]


def test_no_more_lists_are_held_than_the_bound(home) -> None:
    engine, listing = engine_of(home), Listing()
    for n in range(2 * MOST):
        who = Who(tenant=TenantId(f"t{n}"))
        engine.store.read_now(lambda c, who=who: listing.of(c, who))
    assert len(listing._held) == MOST
    engine.store.close()


@pytest.mark.requirement("RELIABILITY-15")
def test_a_caller_whose_patients_change_is_asked_anew_each_time(home) -> None:
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET))
    path = "/v1/patients/demo-adeyemi/documents"
    with TestClient(app) as client:
        for _ in range(2):
            for patients, status in ((("demo-adeyemi",), 200), (("demo-chow",), 403), (None, 200)):
                headers = bearer(roles=("clinician",), patients=patients)
                assert client.get(path, headers=headers).status_code == status
