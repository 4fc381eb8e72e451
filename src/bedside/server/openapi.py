"""The API's own description: what a route may answer beside its success, who may call, what leads where."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from prometheus_client import CONTENT_TYPE_LATEST

__all__ = ["describe"]

PROBLEM = {
    "type": "object",
    "description": "A problem document (RFC 9457). It holds nothing of a patient.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
_MEANINGS = {
    "400": "The request makes no sense as it stands.",
    "401": "Nobody knows who asks: a valid bearer token is needed.",
    "403": "This caller may not do that, or the deployer has it switched off.",
    "404": "There is no such thing in the caller's scope.",
    "409": "Something else happened first.",
    "413": "The request is too large.",
    "421": "This server answers to other names.",
    "422": "The request is read and cannot be done; `detail` says why and what to do.",
    "502": "Something that this server asked failed.",
    "503": "A store is not there, or too much is under way; `Retry-After` says when to come back.",
    "504": "Something that this server asked took too long.",
}
_STREAMS = frozenset(
    [
        ("/v1/ask", "post"),
        ("/v1/brief", "post"),
        ("/v1/intake/cases/{case}/messages", "post"),
        ("/v1/companion", "post"),
        ("/v1/companion/{session}/turns", "post"),
        ("/v1/chat/completions", "post"),
    ]
)
_TEXT = {"schema": {"type": "string"}}
_TREE = {"schema": {"type": "object"}}
_OTHER_FORMS: dict[tuple[str, str], tuple[str, ...]] = {
    ("/v1/intake/figures", "get"): (CONTENT_TYPE_LATEST.partition(";")[0],),
    ("/v1/notes/{turn}/file", "get"): ("text/markdown", "text/html", "application/fhir+json"),
}
_TURN = {"turn": "$response.body#/turn_id"}
_LEADS: dict[tuple[str, str], tuple[tuple[str, str, dict[str, str]], ...]] = {
    ("/v1/ask", "post"): (
        ("/v1/turns/{turn}", "get", _TURN),
        ("/v1/turns/{turn}/prompt", "get", _TURN),
        ("/v1/turns/{turn}/trace", "get", _TURN),
        ("/v1/turns/{turn}/review", "post", _TURN),
        ("/v1/turns/{turn}/reports", "post", _TURN),
    ),
    ("/v1/brief", "post"): (("/v1/turns/{turn}/decisions", "post", _TURN),),
    ("/v1/notes/summarise", "post"): (("/v1/notes/{turn}/file", "get", _TURN),),
    ("/v1/intake/cases", "post"): (
        ("/v1/intake/cases/{case}", "get", {"case": "$response.body#/case"}),
        ("/v1/intake/cases/{case}/messages", "post", {"case": "$response.body#/case"}),
        ("/v1/intake/cases/{case}/documents", "post", {"case": "$response.body#/case"}),
    ),
}
"""What an answer leads to: the operation that takes a part of it, as OpenAPI links."""


def describe(app: FastAPI) -> None:
    """Let the application describe problems, tokens, streams and links beside what its routes declare."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    description=app.description,
                    routes=app.routes,
                )
            )
        return app.openapi_schema

    app.openapi = described


def _completed(tree: dict[str, Any]) -> dict[str, Any]:
    components = tree.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    }
    held = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, methods in tree["paths"].items():
        if not path.startswith("/v1/"):
            continue
        for method, operation in methods.items():
            if path != "/v1/schema/{name}":
                operation["security"] = [{"bearer": []}]
            answers = operation["responses"]
            answers.update(
                {
                    status: {"description": meaning, "content": held}
                    for status, meaning in _MEANINGS.items()
                }
            )
            content = answers["200"].setdefault("content", {})
            if (path, method) in _STREAMS:
                content["text/event-stream"] = _TEXT
            for form in _OTHER_FORMS.get((path, method), ()):
                content[form] = _TREE if form.endswith("json") else _TEXT
            leads = _LEADS.get((path, method), ())
            if leads:
                answers["200"]["links"] = {
                    f"{then} {target}".replace("/", "~1"): {
                        "operationId": tree["paths"][target][then]["operationId"],
                        "parameters": given,
                    }
                    for target, then, given in leads
                }
    components["schemas"].pop("HTTPValidationError", None)
    components["schemas"].pop("ValidationError", None)
    return tree
