"""Requests made at random from the API's own description: valid ones, broken ones, and whole chains.

`make test` takes a seeded sample; `make nightly` takes a hundred of each, with new seeds.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    ignored_auth,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

sys.path.insert(0, str(Path(__file__).parent))
from served import Served, serve

from bedside.cli import main

EXAMPLES = 100 if os.environ.get("BEDSIDE_NIGHTLY") else 4
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    ignored_auth,
]
LONG = pytest.mark.timeout(3_000 if os.environ.get("BEDSIDE_NIGHTLY") else 240)
KNOBS = settings(
    max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BEDSIDE_EMBEDDER", "none")
        assert main(["demo", "--no-serve", "--home", str(folder / "home"), "--json"]) == 0
    with serve(folder / "home", folder / "log") as made:
        yield made
    assert "Traceback" not in (folder / "log").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def schema(server: Served) -> Any:
    return schemathesis.openapi.from_url(f"{server.base}/openapi.json")


@pytest.fixture(scope="module")
def ids(server: Served) -> dict[str, list[str]]:
    """Things that are there, by the name of the parameter that takes them."""
    with httpx.Client(base_url=server.base, headers=server.bearer(), timeout=60) as client:
        asked = client.post(
            "/v1/ask", json={"question": "Any allergies?", "patient": "demo-adeyemi"}
        )
        case = client.post("/v1/intake/cases", json={"procedure": "TKR"})
        told = client.post("/v1/companion/fuzz/turns", json={"text": "Hello."})
        assert (asked.status_code, case.status_code, told.status_code) == (200, 200, 200)
        return {
            "patient": ["demo-adeyemi"],
            "turn": [asked.json()["turn_id"], told.json()["turn_id"]],
            "source": [one["source"]["id"] for one in asked.json()["citations"]],
            "case": [case.json()["case"]],
            "session": ["fuzz"],
            "sop": ["TKR"],
            "name": ["turn"],
            "field": ["age"],
            "kind": ["price", "prompt", "flag"],
        }


@LONG
@pytest.mark.requirement("RELIABILITY-12")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_from_the_schema_fails_or_leaves_the_schema_or_skips_the_token(
    server: Served, schema: Any, ids: dict[str, list[str]], mode: GenerationMode
) -> None:
    """Half of the ids in addresses are of things that are there."""
    seen: Counter[int] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()

        @KNOBS
        @given(case=operation.as_strategy(generation_mode=mode), pick=st.integers(0, 11))
        def ask(case: Any, pick: int) -> None:
            for name, values in ids.items():
                if name in (case.path_parameters or {}) and pick % 2:
                    case.path_parameters[name] = values[pick % len(values)]
            if case.method == "DELETE":
                case.path_parameters = dict.fromkeys(case.path_parameters, f"nobody-{pick}")
            said = case.call(headers=server.bearer(), timeout=60)
            seen[said.status_code] += 1
            case.validate_response(said, checks=CHECKS, headers=server.bearer())

        try:
            ask()
        except Unsatisfiable:  # a request without parameters or body cannot be broken
            assert mode is GenerationMode.NEGATIVE, operation.label
            assert not any((operation.body, operation.query, operation.path_parameters))
    assert sum(seen.values()) > 40 * EXAMPLES
    assert seen[404] > 0
    assert seen[422] > 0
    assert mode is GenerationMode.NEGATIVE or seen[200] > EXAMPLES


@LONG
@pytest.mark.requirement("RELIABILITY-12")
def test_chains_of_requests_along_the_descriptions_links_never_fail(
    server: Served, schema: Any
) -> None:
    """A turn is asked, then read, reviewed and reported; a case is opened, then written to."""
    seen: Counter[tuple[int, str]] = Counter()

    linked = schema.include(path_regex="^/v1/(ask|brief|turns|notes/|intake/cases)")

    class Chains(linked.as_state_machine()):  # type: ignore[misc]
        def before_call(self, case: Any) -> None:
            if case.path in {"/v1/ask", "/v1/brief"} and isinstance(case.body, dict):
                case.body["patient"] = "demo-adeyemi"

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": server.bearer(), "timeout": 60}

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            case.validate_response(response, checks=CHECKS[:-1], headers=more["headers"])
            seen[response.status_code, case.operation.label] += 1

    Chains.run(settings=settings(KNOBS, stateful_step_count=6, max_examples=5 * EXAMPLES))
    assert seen.total() > 10 * EXAMPLES
    assert any(
        code == 200 and label.endswith(("{turn}", "/review", "/reports", "{case}", "/messages"))
        for code, label in seen
    )
