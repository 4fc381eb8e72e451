"""Who asks over MCP: the local user of a pipe, or the bearer of a token over HTTP."""

from __future__ import annotations

from collections.abc import Mapping

import jwt

from bedside.core.errors import AccessDenied
from bedside.core.ids import ActorId, TenantId
from bedside.wiring import Engine, Who

__all__ = ["Scope", "caller"]

_AUDIENCE = "bedside"
_ROLES = frozenset({"clinician", "patient", "safety", "admin", "engineer"})


class Scope:
    """What this server offers.

    `records` switches the patient tools on. `patients` are those that the server may show, `None`
    all that the caller may see; a token narrows it further, never widens it.
    """

    def __init__(self, *, records: bool = False, patients: frozenset[str] | None = None) -> None:
        self.records, self.patients = records, patients

    def narrowed(self, who: Who) -> Who:
        """The caller within this server's scope."""
        if self.patients is None:
            return who
        own = self.patients if who.patients is None else self.patients & who.patients
        return Who(tenant=who.tenant, actor=who.actor, roles=who.roles, patients=own)


def caller(engine: Engine, headers: Mapping[str, str] | None) -> Who:
    """The caller of one request.

    Args:
        engine: The engine; its token secret decides whether a token is needed.
        headers: The request's headers, `None` over a pipe.

    Raises:
        AccessDenied: a secret is set and the token is missing, forged, expired or not for us.
    """
    secret = engine.settings.token_secret
    if headers is None or not secret:
        return engine.local()
    scheme, _, presented = headers.get("authorization", "").partition(" ")
    try:
        if scheme.lower() != "bearer":
            raise jwt.InvalidTokenError
        claims = jwt.decode(
            presented,
            secret,
            algorithms=["HS256"],
            audience=_AUDIENCE,
            options={"require": ["exp", "sub", "aud"]},
        )
    except jwt.PyJWTError:
        raise AccessDenied("this request", need="a valid bearer token") from None
    given, patients = claims.get("roles"), claims.get("patients")
    roles = frozenset(map(str, given)) & _ROLES if isinstance(given, list) else frozenset[str]()
    if not roles or (patients not in (None, "*") and not isinstance(patients, list)):
        raise AccessDenied("this request", need="a token with a role and a list of patients")
    return Who(
        tenant=TenantId(str(claims.get("tenant", engine.settings.tenant))),
        actor=ActorId(str(claims["sub"])),
        roles=roles,
        patients=None if patients in (None, "*", ["*"]) else frozenset(map(str, patients)),
    )
