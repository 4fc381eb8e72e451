"""Who asks: a bearer token (JWT, HS256), or the one local user on loopback.

Without `BEDSIDE_TOKEN_SECRET` the server binds to loopback only and everybody on this machine is
the local user. With it every `/v1` and workbench route needs a token with `sub`, `exp` and `aud`
("bedside"), and optionally `tenant`, `roles` and `patients` (ids, or "*").
"""

from __future__ import annotations

from typing import Annotated

import jwt
from fastapi import Depends, Request

from bedside.core.errors import AccessDenied
from bedside.core.ids import ActorId, TenantId
from bedside.wiring import Engine, Who

__all__ = [
    "COOKIE",
    "Caller",
    "Unauthenticated",
    "caller",
    "holder",
    "same_origin",
    "token",
]

COOKIE = "bedside_token"
AUDIENCE = "bedside"
ROLES = frozenset({"clinician", "patient", "coordinator", "safety", "admin", "engineer"})


class Unauthenticated(AccessDenied):
    """Nobody knows who asks: 401, where a known caller who may not do it gets 403."""

    title = "Not authenticated"


def token(
    secret: str,
    *,
    actor: str,
    tenant: str = "default",
    roles: tuple[str, ...] = ("clinician",),
    patients: tuple[str, ...] | None = None,
    expires: int,
) -> str:
    """Sign a token; `expires` is seconds since the epoch. `patients` `None` is every patient."""
    claims: dict[str, object] = {
        "sub": actor,
        "aud": AUDIENCE,
        "tenant": tenant,
        "roles": list(roles),
        "exp": expires,
    }
    if patients is not None:
        claims["patients"] = list(patients)
    return jwt.encode(claims, secret, algorithm="HS256")


async def caller(request: Request) -> Who:
    """The caller of this request. It waits for nothing; were it not async, a thread would be asked.

    Raises:
        Unauthenticated: a secret is set and the token is missing, forged, expired or not for us.
        AccessDenied: the token is good and names no role of ours, or no list of patients.
    """
    scheme, _, presented = request.headers.get("authorization", "").partition(" ")
    bearer = scheme.lower() == "bearer"
    return holder(
        request.app.state.engine, presented if bearer else request.cookies.get(COOKIE, "")
    )


def holder(engine: Engine, text: str) -> Who:
    """Whoever holds this token; where no secret is set, the local user.

    Raises:
        Unauthenticated: a secret is set and the token is missing, forged, expired or not for us.
        AccessDenied: the token is good and names no role of ours, or no list of patients.
    """
    secret, tenant = engine.settings.token_secret, engine.settings.tenant
    if not secret:
        return Who(tenant=TenantId(tenant))
    try:
        claims = jwt.decode(
            text,
            secret,
            algorithms=["HS256"],
            audience=AUDIENCE,
            options={"require": ["exp", "sub", "aud"]},
        )
    except jwt.PyJWTError:
        raise Unauthenticated("this request", need="a valid bearer token") from None
    given, patients = claims.get("roles"), claims.get("patients")
    roles = frozenset(map(str, given)) & ROLES if isinstance(given, list) else frozenset[str]()
    if not roles:
        raise AccessDenied("this request", need="a token with a role")
    if patients not in (None, "*") and not isinstance(patients, list):
        raise AccessDenied("this request", need="a token whose patients are a list, or '*'")
    return Who(
        tenant=TenantId(str(claims.get("tenant", tenant))),
        actor=ActorId(str(claims["sub"])),
        roles=roles,
        patients=None if patients in (None, "*", ["*"]) else frozenset(map(str, patients)),
    )


Caller = Annotated[Who, Depends(caller)]


async def same_origin(request: Request) -> None:
    """Refuse a browser's cross-site write (a cookie may ride along with it).

    Browsers send `Sec-Fetch-Site`, and older ones `Origin`, with a write; tools send neither and
    carry no cookie of ours.

    Raises:
        AccessDenied: the write comes from another site.
    """
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    site = request.headers.get("sec-fetch-site")
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    if site not in (None, "same-origin", "none") or (
        site is None and origin is not None and origin.partition("://")[2] != host
    ):
        raise AccessDenied("a write from another site")
