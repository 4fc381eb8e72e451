"""The official SDKs under our policy: every error mapped, nothing logged, nothing of the environment."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bedside.core.context import Message
from bedside.core.turn import NoModel
from bedside.models.failure import RULES, Failure, of_status
from bedside.testing.provider import FakeProvider, Fault, Said
from bedside.testing.provider_kit import PROTOCOLS, ask, config_for, prompt_of, text_of

CANARY = "Zebulon Quartermain"
PROMPT = prompt_of(Message(role="user", parts=(f"Is {CANARY} well?",), tokens=6))


@pytest.mark.requirement("EN-S4")
@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize(
    "turn",
    [Said(text=f"{CANARY} is well."), Fault(kind="server_error"), Fault(kind="malformed", after=2)],
    ids=["answered", "500", "malformed"],
)
def test_patient_text_is_in_no_log_even_at_the_debug_level(
    fake: Any, name: Any, turn: Any, caplog: pytest.LogCaptureFixture
) -> None:
    provider = fake([turn])
    with caplog.at_level(logging.DEBUG):
        failure: NoModel | None = None
        try:
            ask(config_for(provider, name), PROMPT)
        except NoModel as error:
            failure = error
    assert failure is None or CANARY not in repr(failure.calls) + str(failure)
    assert provider.requests
    assert not [record for record in caplog.records if CANARY in record.getMessage()]


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_no_sdk_error_is_left_without_a_meaning(name: str) -> None:
    """Every exception class of the SDK is either caught by a call or cannot come from one."""
    import importlib

    sdk = importlib.import_module(name)
    client = importlib.import_module(f"bedside.models.providers.{name}.client")
    caught = client._expected()
    public = [
        found
        for found in (getattr(sdk, each) for each in sdk.__all__)
        if isinstance(found, type) and issubclass(found, Exception)
    ]
    assert len(public) > 10
    for found in public:
        assert issubclass(found, caught), found


def test_no_aws_error_is_left_without_a_meaning() -> None:
    from botocore import exceptions as aws

    from bedside.models.providers.bedrock.client import _lost

    named = {
        aws.ConnectTimeoutError(endpoint_url="x"): "timeout",
        aws.ReadTimeoutError(endpoint_url="x"): "timeout",
        aws.EndpointConnectionError(endpoint_url="x"): "refused",
        aws.ConnectionClosedError(endpoint_url="x"): "reset",
        aws.NoCredentialsError(): "no_key",
        aws.ParamValidationError(report="x"): "bad_request",
    }
    for error, kind in named.items():
        assert _lost(error).kind == kind
    assert _lost(ConnectionResetError()).kind == "reset"
    assert _lost(ValueError()).kind == "malformed"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "rate_limited"), (529, "overloaded"), (503, "overloaded"), (500, "server_error"),
        (502, "server_error"), (504, "timeout"), (408, "timeout"), (400, "bad_request"),
        (401, "auth"), (402, "auth"), (403, "auth"), (404, "bad_request"), (413, "bad_request"),
    ],
)  # fmt: skip
def test_a_status_has_its_kind_and_every_kind_has_a_rule(status: int, kind: str) -> None:
    assert of_status(status).kind == kind
    assert kind in RULES
    assert all(1 <= rule.calls <= 3 for rule in RULES.values())


def test_a_failure_holds_no_message_of_the_provider() -> None:
    assert str(Failure("server_error", status=500)) == "server_error (HTTP 500)"


def test_the_environment_changes_neither_address_nor_key(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = fake([Said(text="caught")])
    for variable in (
        "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "HTTP_PROXY", "http_proxy", "ALL_PROXY",
    ):  # fmt: skip
        monkeypatch.setenv(variable, elsewhere.url)
    for variable in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "k-of-the-environment")
    for name in PROTOCOLS:
        provider: FakeProvider = fake([Said(text="Here.")])
        assert text_of(ask(config_for(provider, name))) == "Here."
        assert "k-of-the-environment" not in str(provider.requests[0].headers)
    assert elsewhere.requests == []


def test_asking_for_a_provider_without_its_sdk_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from bedside.core.errors import MissingExtra
    from bedside.models.build import build_providers
    from bedside.models.config import ModelsConfig, ProviderConfig, parse_chain
    from bedside.testing.provider_kit import SystemClock

    for name, extra in {"anthropic": "anthropic", "openai": "openai", "openrouter": "openai",
                        "bedrock": "bedrock"}.items():  # fmt: skip
        module = f"bedside.models.providers.{name}.client"
        if name == "openrouter":
            module = "bedside.models.providers.openai.client"
        import importlib

        monkeypatch.setattr(importlib.import_module(module), "find_spec", lambda _: None)
        config = ModelsConfig(
            writer=parse_chain(f"{name}:m"), providers={name: ProviderConfig(region="us-east-1")}
        )
        with pytest.raises(MissingExtra) as caught:
            build_providers(config, clock=SystemClock())
        assert caught.value.extra == extra


@pytest.mark.slow
def test_building_a_gateway_imports_no_sdk() -> None:
    code = """
import random, sys
from bedside.models.build import build_gateway
from bedside.models.config import ModelsConfig, ProviderConfig, parse_chain
from bedside.testing.provider_kit import SystemClock
config = ModelsConfig(
    writer=parse_chain("anthropic:m,openai:m,openrouter:m,bedrock:m"),
    providers={"bedrock": ProviderConfig(region="us-east-1")},
)
build_gateway(config, clock=SystemClock(), rng=random.Random(1))
assert not {"anthropic", "openai", "boto3"} & set(sys.modules), "an SDK was imported"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_fake_provider_runs_as_a_program(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "From the file."}, {"fault": "overloaded"}]', encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "bedside.testing.provider",
        "--port",
        "0",
        "--script",
        str(script),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            url = running.stderr.readline().removeprefix("listening on ").strip()
            from bedside.models.config import ModelsConfig, ProviderConfig, parse_chain

            config = ModelsConfig(
                writer=parse_chain("openai:gpt-4.1"),
                providers={"openai": ProviderConfig(base_url=f"{url}/v1")},
            )
            assert text_of(ask(config)) == "From the file."
        finally:
            running.terminate()


def test_a_script_with_a_mistake_is_refused(tmp_path: Path) -> None:
    from bedside.testing.provider import main

    script = tmp_path / "script.json"
    script.write_text('[{"fault": "gone fishing"}]', encoding="utf-8")
    assert main(["--script", str(script)]) == 2
