"""OpenRouter: the OpenAI protocol at another address."""

from __future__ import annotations

from typing import Any

from bedside.models.provider import Call
from bedside.models.providers.openai.client import OpenAI
from bedside.models.providers.openrouter.wire import request

__all__ = ["OpenRouter"]


class OpenRouter(OpenAI):
    """Many models behind one address; its own cost report is kept."""

    name = "openrouter"

    def body(self, call: Call) -> dict[str, Any]:
        """The request's body."""
        return request(call)
