"""A clinician's consent to notes about their work, over HTTP."""

from __future__ import annotations

import time

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token

from .conftest import engine_of

SECRET = "s" * 40
P = "demo-adeyemi"


def bearer(actor: str, role: str = "clinician") -> dict[str, str]:
    given = {"actor": actor, "roles": (role,), "expires": int(time.time()) + 600}
    return {"Authorization": f"Bearer {token(SECRET, **given)}"}


@pytest.mark.requirement("CO-12")
def test_nothing_is_kept_before_consent_and_each_clinician_has_their_own(home):
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET, BEDSIDE_MEMORIES="true"))
    mine, hers = bearer("dr-1"), bearer("dr-2")
    asked = {"question": "Remember that I prefer HbA1c in mmol/mol. Latest HbA1c?", "patient": P}
    with TestClient(app) as client:

        def notes(who) -> list[dict]:
            return client.get("/v1/memories", headers=who).json()["notes"]

        assert client.post("/v1/ask", json=asked, headers=mine).status_code == 200
        assert notes(mine) == []
        assert client.put("/v1/memories/consent", headers=mine).json()["consent"]
        assert client.post("/v1/ask", json=asked, headers=mine).status_code == 200
        (note,) = notes(mine)
        assert note["text"] == "I prefer HbA1c in mmol/mol."
        assert notes(hers) == []
        assert client.delete(f"/v1/memories/notes/{note['id']}", headers=hers).status_code == 404
        assert client.get("/v1/memories", headers=bearer("dr-1", "patient")).status_code == 403
        gone = client.delete("/v1/memories/consent", headers=mine).json()
        assert (gone["consent"], gone["removed"]["memory_fact"]) == (None, 1)
        assert notes(mine) == []


@pytest.mark.requirement("CO-12")
def test_where_memories_are_off_consent_is_refused(client):
    assert client.get("/v1/memories").json()["switched_on"] is False
    answer = client.put("/v1/memories/consent")
    assert answer.status_code == 403
    assert "BEDSIDE_MEMORIES" in answer.json()["detail"]
