"""Who may do what: tokens, roles, patients, tenants."""

from __future__ import annotations

import time

import jwt
import pytest
from fastapi.testclient import TestClient

from bedside.core.errors import InvalidArgument
from bedside.server import serve
from bedside.server.app import create_app
from bedside.server.auth import token

from .conftest import engine_of

SECRET = "s" * 40
P = "demo-adeyemi"


@pytest.fixture
def client(home):
    with TestClient(
        create_app(engine_of(home, BEDSIDE_TOKEN_SECRET=SECRET)), raise_server_exceptions=False
    ) as made:
        yield made


def bearer(**more) -> dict[str, str]:
    given = {"actor": "dr", "expires": int(time.time()) + 600, **more}
    return {"Authorization": f"Bearer {token(SECRET, **given)}"}


def forged() -> list[str]:
    good = {"sub": "dr", "aud": "bedside", "roles": ["clinician"], "exp": int(time.time()) + 600}

    def sign(claims, key=SECRET, algorithm="HS256"):
        return jwt.encode(claims, key, algorithm=algorithm)

    return [
        "",
        "nonsense",
        sign(good, key="x" * 40),
        jwt.encode(good, None, algorithm="none"),
        sign({**good, "exp": int(time.time()) - 1}),
        sign({key: item for key, item in good.items() if key != "exp"}),
        sign({**good, "aud": "another"}),
        sign({key: item for key, item in good.items() if key != "aud"}),
        sign({key: item for key, item in good.items() if key != "sub"}),
        sign(good)[:-3] + "abc",
    ]


@pytest.mark.requirement("RELIABILITY-16")
@pytest.mark.parametrize("text", forged())
def test_a_forged_token_is_rejected(client, text):
    said = client.get("/v1/patients", headers={"Authorization": f"Bearer {text}"})
    assert said.status_code == 401
    assert said.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_good_token_without_a_role_of_ours_is_known_and_refused(client):
    said = client.get("/v1/patients", headers=bearer(roles=("root",)))
    assert (said.status_code, "WWW-Authenticate" in said.headers) == (403, False)


OPEN = {
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/login",
    "/logout",  # takes a cookie away, whosever it is
    "/v1/schema/{name}",
    "/static",
    "/intake",  # the person's bare page, the same for everybody: a link's token is in its fragment
    "/intake/{case}",
}


@pytest.mark.requirement("RELIABILITY-16")
def test_every_route_but_the_named_ones_asks_for_a_token(client):
    """Walked from the application's own routes, so a new route cannot be forgotten."""
    checked = 0
    for route in _routes(client.app):
        path = route.path
        if path in OPEN:
            continue
        for method in (getattr(route, "methods", None) or {"GET"}) - {"HEAD", "OPTIONS"}:
            url = (
                path.replace("{patient}", P)
                .replace("{turn}", "t")
                .replace("{source}", "s")
                .replace("{name}", "turn")
            )
            assert client.request(method, url).status_code == 401, (method, path)
            checked += 1
    assert checked >= 25


def _routes(app):
    found = []
    for route in app.routes:
        if hasattr(route, "path") and hasattr(route, "endpoint"):
            found.append(route)
        elif hasattr(route, "original_router"):
            found += list(_included(route))
    return found


def _included(route):
    prefix = getattr(route, "prefix", "") or getattr(
        getattr(route, "include_context", None), "prefix", ""
    )

    class Seen:
        def __init__(self, inner):
            self.path, self.methods = prefix + inner.path, inner.methods

    return [Seen(inner) for inner in route.original_router.routes]


ROLES = {
    "/v1/audit": ("GET", "safety"),
    "/v1/audit/verify": ("GET", "safety"),
    "/v1/reports": ("GET", "safety"),
    "/v1/doctor": ("GET", "engineer"),
    "/v1/catalogue/price": ("GET", "admin"),
}


@pytest.mark.parametrize("path", sorted(ROLES))
def test_a_role_opens_only_its_own_doors(client, path):
    method, role = ROLES[path]
    assert client.request(method, path, headers=bearer(roles=(role,))).status_code == 200
    for other in {"clinician", "patient", "safety", "engineer", "admin"} - {role}:
        assert client.request(method, path, headers=bearer(roles=(other,))).status_code == 403


@pytest.mark.requirement("EN-R6")
def test_a_token_for_one_patient_reaches_nothing_of_another(client):
    mine = bearer(patients=(P,))
    theirs = bearer(patients=("demo-chow",))
    turn = client.post(
        "/v1/ask", json={"question": "latest HbA1c?", "patient": P}, headers=mine
    ).json()
    source = turn["citations"][0]["source"]["id"]
    assert client.get(f"/v1/sources/{source}", headers=mine).status_code == 200
    for path in (
        f"/v1/sources/{source}",
        f"/v1/turns/{turn['turn_id']}",
        f"/v1/turns/{turn['turn_id']}/prompt",
        f"/v1/turns/{turn['turn_id']}/trace",
        f"/v1/patients/{P}/opening",
        f"/v1/patients/{P}/documents",
        f"/v1/patients/{P}/turns",
        f"/patients/{P}",
        f"/inspect/{turn['turn_id']}",
    ):
        assert client.get(path, headers=theirs).status_code in (403, 404), path
    assert [item["id"] for item in client.get("/v1/patients", headers=mine).json()] == [P]
    asked = client.post("/v1/ask", json={"question": "x", "patient": P}, headers=theirs)
    assert asked.status_code == 403
    taken_over = client.post(
        "/v1/ask",
        json={"question": "x", "patient": "demo-chow", "session": turn["session_id"]},
        headers=theirs,
    )
    assert taken_over.status_code == 404


@pytest.mark.requirement("EN-S3")
def test_another_tenant_sees_nothing(client):
    other = bearer(tenant="elsewhere", roles=("clinician", "safety", "engineer"))
    assert client.get("/v1/patients", headers=other).json() == []
    assert client.get(f"/v1/patients/{P}/opening", headers=other).status_code == 404
    assert (
        client.post("/v1/search", json={"query": "metformin"}, headers=other).json()["hits"] == []
    )
    assert client.get("/v1/documents", headers=other).json() == []


@pytest.mark.parametrize("secret", ["short", "s" * 31])
def test_a_secret_that_can_be_guessed_is_refused_at_the_start(home, secret):
    with pytest.raises(InvalidArgument, match="BEDSIDE_TOKEN_SECRET") as raised:
        engine_of(home, BEDSIDE_TOKEN_SECRET=secret)
    assert secret not in str(raised.value)


def test_without_a_secret_only_this_machine_is_served(home):
    engine = engine_of(home)
    with pytest.raises(InvalidArgument, match="BEDSIDE_TOKEN_SECRET"):
        serve(engine, host="0.0.0.0", port=1)
    engine.store.close()
