"""What OpenRouter adds to the OpenAI protocol. Pure; no SDK."""

from __future__ import annotations

from typing import Any

from bedside.models.provider import Call
from bedside.models.providers.openai.wire import request as openai_request

__all__ = ["request"]


def request(call: Call) -> dict[str, Any]:
    """The body of a chat-completions request to OpenRouter.

    It asks for the call's own cost, for hosts that keep no data, and, where a schema or tools are
    sent, for hosts that honour them.
    """
    body = openai_request(call)
    body["usage"] = {"include": True}
    if call.budget:
        body["reasoning"] = {"max_tokens": call.budget, "exclude": True}
    hosts: dict[str, Any] = {"data_collection": "deny"}
    if "response_format" in body or "tools" in body:
        hosts["require_parameters"] = True
    body["provider"] = hosts
    return body
