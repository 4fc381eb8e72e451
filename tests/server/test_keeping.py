"""Erasure over HTTP: for administrators, by exact id, with its receipt."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from bedside.server.app import create_app
from bedside.server.auth import token

from .conftest import engine_of

SECRET = "s" * 40
P, OTHER = "demo-adeyemi", "demo-chow"


@pytest.fixture
def client(home: Path) -> Iterator[TestClient]:
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET))
    with TestClient(app, raise_server_exceptions=False) as made:
        yield made


def bearer(*roles: str, **more: object) -> dict[str, str]:
    given = {"actor": "a", "expires": int(time.time()) + 600, "roles": roles, **more}
    return {"Authorization": f"Bearer {token(SECRET, **given)}"}  # type: ignore[arg-type]


@pytest.mark.requirement("RELIABILITY-16")
@pytest.mark.parametrize("role", ["clinician", "patient", "safety", "engineer"])
def test_only_an_administrator_erases(client: TestClient, role: str) -> None:
    assert client.delete(f"/v1/patients/{P}", headers=bearer(role)).status_code == 403
    assert client.delete(f"/v1/patients/{P}").status_code == 401
    bound = bearer("admin", patients=(OTHER,))
    assert client.delete(f"/v1/patients/{P}", headers=bound).status_code == 403
    seen = client.get("/v1/patients", headers=bearer("clinician")).json()
    assert P in [item["id"] for item in seen]


@pytest.mark.requirement("EN-S3")
def test_an_erasure_answers_with_its_receipt_and_the_patient_is_gone(client: TestClient) -> None:
    admin = bearer("admin")
    for wrong in ("Ruth Adeyemi", "demo-adey", "nobody"):
        assert client.delete(f"/v1/patients/{wrong}", headers=admin).status_code == 404
    receipt = client.delete(f"/v1/patients/{P}", headers=admin).json()
    assert receipt["patient"] == P
    assert receipt["residual_bytes"] == 0
    assert receipt["removed"]["patient"] == 1
    assert client.get(f"/v1/patients/{P}/opening", headers=bearer("clinician")).status_code == 404
    seen = client.get("/v1/patients", headers=bearer("clinician")).json()
    assert [item["id"] for item in seen].count(OTHER) == 1
    assert P not in [item["id"] for item in seen]
    assert client.get("/v1/audit/verify", headers=bearer("safety")).json()["ok"]
