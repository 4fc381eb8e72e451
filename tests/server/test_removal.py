"""A document of the knowledge is removed by an administrator, over HTTP or by the command."""

from __future__ import annotations

import json
import time

import pytest
from fastapi.testclient import TestClient

from bedside.cli import main
from bedside.server.app import create_app
from bedside.server.auth import token

from .conftest import engine_of

SECRET = "s" * 40
PAGE = b"# Zebra fever\n\nGive zebracillin for zebra fever.\n"


def bearer(*roles: str, tenant: str = "default") -> dict[str, str]:
    given = {"actor": "a", "tenant": tenant, "expires": int(time.time()) + 600, "roles": roles}
    return {"Authorization": f"Bearer {token(SECRET, **given)}"}


@pytest.mark.requirement("RELIABILITY-18")
def test_what_is_removed_is_neither_found_nor_listed_nor_opened_and_the_trail_has_it(home) -> None:
    app = create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET))
    admin = bearer("admin", "clinician", "safety")
    with TestClient(app, raise_server_exceptions=False) as client:

        def found() -> list[str]:
            body = client.post("/v1/search", json={"query": "zebracillin"}, headers=admin).json()
            return [hit["document_id"] for hit in body["hits"]]

        for edition in (PAGE, PAGE + b"\nTwice daily.\n"):
            files = {"files": ("zebra.md", edition)}
            client.post("/v1/documents", data={"id": "zebra"}, files=files, headers=admin)
        assert found() == ["zebra"]
        for refused in (bearer("clinician"), bearer("engineer")):
            assert client.delete("/v1/documents/zebra", headers=refused).status_code == 403
        elsewhere = bearer("admin", tenant="other")
        assert client.delete("/v1/documents/zebra", headers=elsewhere).status_code == 404
        assert found() == ["zebra"]

        gone = client.delete("/v1/documents/zebra", headers=admin)
        assert (gone.status_code, gone.json()) == (200, {"document_id": "zebra", "editions": 2})
        assert found() == []
        listed = client.get("/v1/documents", headers=admin).json()
        assert "zebra" not in {row["document_id"] for row in listed}
        assert client.get("/v1/sources/zebra", headers=admin).status_code == 404
        assert client.delete("/v1/documents/zebra", headers=admin).status_code == 404
        trail = client.get("/v1/audit", headers=admin).json()

        own = [(row["action"], row["purpose"]) for row in trail if row["action"] == "erase"]
        assert own == [("erase", "document zebra")]


@pytest.mark.parametrize("kind", ["document", "record", "note"])
def test_nothing_but_knowledge_is_removed_by_that_door(home, kind) -> None:
    engine = engine_of(home)
    with TestClient(create_app(engine), base_url="http://127.0.0.1") as client:
        client.post("/v1/documents", data={"id": "it"}, files={"files": ("it.md", PAGE)})
        engine.store.write_now(
            lambda c: c.exec_driver_sql(f"UPDATE source SET kind = '{kind}' WHERE id = 'it'")
        )
        assert client.delete("/v1/documents/it").status_code == 404
        assert client.get("/v1/sources/it").status_code == 200


def test_the_command_removes_a_document_once(tmp_path, capsys) -> None:
    page = tmp_path / "zebra.md"
    page.write_bytes(PAGE)
    at = ["--home", str(tmp_path / "home"), "--json"]
    assert main(["ingest", str(page), "--id", "zebra", *at]) == 0
    capsys.readouterr()
    assert main(["remove", "zebra", *at]) == 0
    assert json.loads(capsys.readouterr().out) == {"document_id": "zebra", "editions": 1}
    assert main(["remove", "zebra", *at]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "NotFound"
