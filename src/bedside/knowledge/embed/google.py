"""A Google service account: the address of a model, and access tokens that last an hour."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import httpx

from bedside.core.clock import Clock
from bedside.core.errors import InvalidArgument, Unavailable

__all__ = ["ServiceAccount"]

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_LASTS = timedelta(hours=1)
_EARLY = 300.0
"""Seconds before its end at which a token is changed for a new one."""


class ServiceAccount:
    """Who calls. Of what is embedded nothing goes to the token address: a signed claim alone."""

    def __init__(self, key: dict[str, Any], *, client: httpx.Client, clock: Clock) -> None:
        self._key, self._client, self._clock = key, client, clock
        self._lock, self._token, self._until = threading.Lock(), "", float("-inf")

    @classmethod
    def read(cls, path: str, *, client: httpx.Client, clock: Clock) -> Self:
        """Read the JSON file of a service account's key; nothing is sent.

        Raises:
            InvalidArgument: There is no such file, or it is the file of something else.
        """
        want = "the JSON file of a service account's key"
        try:
            key = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InvalidArgument("GOOGLE_APPLICATION_CREDENTIALS", found=path, want=want) from None
        named = ("project_id", "client_email", "private_key", "token_uri")
        if not isinstance(key, dict) or not all(isinstance(key.get(one), str) for one in named):
            raise InvalidArgument("GOOGLE_APPLICATION_CREDENTIALS", found=path, want=want)
        return cls(key, client=client, clock=clock)

    def predict_url(self, model: str, *, region: str, base: str = "") -> str:
        """Where Vertex AI serves a model of Google's; `base` is another server of the same shape."""
        host = base.rstrip("/") or f"https://{region}-aiplatform.googleapis.com/v1"
        place = f"projects/{self._key['project_id']}/locations/{region}"
        return f"{host}/{place}/publishers/google/models/{model}:predict"

    def token(self) -> str:
        """An access token with at least five minutes left.

        Raises:
            Unavailable: Google gave none.
        """
        with self._lock:
            if self._clock.monotonic() >= self._until - _EARLY:
                self._token, seconds = self._fetched()
                self._until = self._clock.monotonic() + seconds
            return self._token

    def _fetched(self) -> tuple[str, float]:
        import jwt

        now = self._clock.now()
        claim = {
            "iss": self._key["client_email"],
            "scope": _SCOPE,
            "aud": self._key["token_uri"],
            "iat": now,
            "exp": now + _LASTS,
        }
        what = "google: access token"
        try:
            signed = jwt.encode(claim, self._key["private_key"], algorithm="RS256")
        except (jwt.PyJWTError, NotImplementedError, ValueError, TypeError) as error:
            raise Unavailable(
                what, why="its key cannot sign", do="Check the file, and install cryptography."
            ) from error
        try:
            answer = self._client.post(
                self._key["token_uri"], data={"grant_type": _GRANT, "assertion": signed}
            )
            answer.raise_for_status()
            found = answer.json()
            return str(found["access_token"]), float(found["expires_in"])
        except httpx.HTTPStatusError as error:
            raise Unavailable(what, why=f"HTTP {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise Unavailable(what, why=type(error).__name__) from error
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable(what, why="its answer has another shape") from error
