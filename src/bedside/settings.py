"""One frozen `Settings`, read once: environment, then `bedside.toml`, then defaults.

Every setting knows where it came from; secrets are masked wherever a setting is shown.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from bedside.core.errors import BadInput, InvalidArgument
from bedside.core.value import value

__all__ = ["Origin", "Settings", "default_home", "load_settings"]

LEAST_SECRET_BYTES = 32
"""A shorter key of HS256 can be found by trying (RFC 7518, section 3.2)."""


@value
class Origin:
    """Where a setting came from: "environment", a file's name, or "default"."""

    name: str
    shown: str
    origin: str
    variable: str
    about: str


def _setting(
    default: Any,
    about: str,
    *,
    env: str,
    toml: str,
    secret: bool = False,
    least: float | None = None,
) -> Any:
    return field(
        default=default,
        metadata={"about": about, "env": env, "toml": toml, "secret": secret, "least": least},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every default is a setting (spec). Units stand in the names: `_ms`, `_seconds`, `_tokens`."""

    home: Path = field(
        metadata={
            "about": "Folder of the embedded store.",
            "env": "BEDSIDE_HOME",
            "toml": "",
            "secret": False,
            "least": None,
        }
    )
    tenant: str = _setting("default", "Tenant of commands.", env="BEDSIDE_TENANT", toml="tenant")
    database: str = _setting(
        "",
        "SQLAlchemy address; empty is SQLite in the home folder.",
        env="BEDSIDE_DATABASE",
        toml="storage.database",
        secret=True,
    )
    writer: str = _setting(
        "extractive",
        "Models that write, as provider:model,...; extractive uses none.",
        env="BEDSIDE_WRITER",
        toml="models.writer",
    )
    mechanic: str = _setting(
        "extractive",
        "Models for small work, as provider:model,....",
        env="BEDSIDE_MECHANIC",
        toml="models.mechanic",
    )
    model_window: int = _setting(
        8_192,
        "Context window of models that Bedside does not know, in tokens.",
        env="BEDSIDE_MODEL_WINDOW",
        toml="models.window",
        least=1,
    )
    egress_allow: tuple[str, ...] = _setting(
        (),
        "Providers that text may be sent to; a key alone sends nothing.",
        env="BEDSIDE_EGRESS_ALLOW",
        toml="egress.allow",
    )
    egress_identifiers: str = _setting(
        "remove",
        "Direct identifiers before a remote call: remove, or keep.",
        env="BEDSIDE_EGRESS_IDENTIFIERS",
        toml="egress.identifiers",
    )
    embedder: str = _setting(
        "local",
        "Embeddings: local, none, openai:MODEL@COLUMNS, google:text-embedding-005, or "
        "bedrock:amazon.titan-embed-text-v2:0; one elsewhere must stand in egress.allow.",
        env="BEDSIDE_EMBEDDER",
        toml="knowledge.embedder",
    )
    vectors: str = _setting(
        "memory",
        "Where knowledge above the bound below is searched by meaning: memory, pgvector, qdrant.",
        env="BEDSIDE_VECTORS",
        toml="knowledge.vectors",
    )
    vectors_in_memory: int = _setting(
        250_000,
        "Most vectors of knowledge held in memory where vectors names another place.",
        env="BEDSIDE_VECTORS_IN_MEMORY",
        toml="knowledge.vectors_in_memory",
        least=0,
    )
    qdrant: str = _setting(
        "",
        "Qdrant: the server's address (http://host:6333), or a folder for trying it.",
        env="BEDSIDE_QDRANT",
        toml="knowledge.qdrant",
    )
    qdrant_key: str = _setting(
        "", "Qdrant: its API key.", env="BEDSIDE_QDRANT_KEY", toml="", secret=True
    )
    country: str = _setting(
        "IN",
        "Country (ISO 3166-1 alpha-2) whose guideline order and references are named.",
        env="BEDSIDE_COUNTRY",
        toml="clinical.country",
    )
    unreviewed_content: bool = _setting(
        False,
        "Safety officer's switch: use clinical packs that nobody has reviewed.",
        env="BEDSIDE_UNREVIEWED_CONTENT",
        toml="clinical.unreviewed_content",
    )
    patient_audience: bool = _setting(
        False,
        "Allow answers written for the patient (CO-10).",
        env="BEDSIDE_PATIENT_AUDIENCE",
        toml="copilot.patient_audience",
    )
    companion: bool = _setting(
        False,
        "Serve the companion over HTTP and in the workbench.",
        env="BEDSIDE_COMPANION",
        toml="companion.enabled",
    )
    hints: bool = _setting(
        False,
        "Companion: listen a second time, with the local embedder, for danger that a message hints at, and ask.",
        env="BEDSIDE_HINTS",
        toml="companion.hints",
    )
    thinking_tokens: int = _setting(
        0,
        "Companion: most that a large model may think before it answers, where it takes such a budget, "
        "in tokens; 0 asks for none, and a budget below 1,024 is raised to it.",
        env="BEDSIDE_THINKING_TOKENS",
        toml="companion.thinking_tokens",
        least=0,
    )
    memories: bool = _setting(
        False,
        "Allow remembered notes about the doctor's work (CO-12; consent is needed too).",
        env="BEDSIDE_MEMORIES",
        toml="copilot.memories",
    )
    context_tokens: int = _setting(
        6_000,
        "Copilot: context limit, in tokens.",
        env="BEDSIDE_CONTEXT_TOKENS",
        toml="copilot.context_tokens",
        least=1,
    )
    output_tokens: int = _setting(
        4_096,
        "Copilot: most that a model may write, in tokens.",
        env="BEDSIDE_OUTPUT_TOKENS",
        toml="copilot.output_tokens",
        least=1,
    )
    briefing_context_tokens: int = _setting(
        16_000,
        "Briefing: context limit, in tokens.",
        env="BEDSIDE_BRIEFING_CONTEXT_TOKENS",
        toml="briefing.context_tokens",
        least=1,
    )
    briefing_loop_tokens: int = _setting(
        7_500,
        "Briefing: of its context, what searches and earlier turns may take, in tokens.",
        env="BEDSIDE_BRIEFING_LOOP_TOKENS",
        toml="briefing.loop_tokens",
        least=1,
    )
    briefing_output_tokens: int = _setting(
        4_096,
        "Briefing: most that a model may write, in tokens.",
        env="BEDSIDE_BRIEFING_OUTPUT_TOKENS",
        toml="briefing.output_tokens",
        least=1,
    )
    interactions: tuple[str, ...] = _setting(
        (),
        "Briefing: files of your own interaction tables (YAML), read before the bundled one.",
        env="BEDSIDE_INTERACTIONS",
        toml="clinical.interactions",
    )
    dosing: tuple[str, ...] = _setting(
        (),
        "Briefing: files of your own renal dosing tables (YAML), read before the bundled one.",
        env="BEDSIDE_DOSING",
        toml="clinical.dosing",
    )
    history_messages: int = _setting(
        6,
        "Messages of the conversation kept verbatim.",
        env="BEDSIDE_HISTORY_MESSAGES",
        toml="copilot.history_messages",
        least=0,
    )
    deadline_ms: int = _setting(
        30_000,
        "Deadline of a turn to its first token, in milliseconds.",
        env="BEDSIDE_DEADLINE_MS",
        toml="models.deadline_ms",
        least=1,
    )
    search_deadline_ms: int = _setting(
        2_500,
        "Deadline of a search before bulk text serves, in milliseconds.",
        env="BEDSIDE_SEARCH_DEADLINE_MS",
        toml="knowledge.deadline_ms",
        least=1,
    )
    lease_seconds: int = _setting(
        90,
        "How long a turn holds its conversation if its process dies, in seconds.",
        env="BEDSIDE_LEASE_SECONDS",
        toml="storage.lease_seconds",
        least=1,
    )
    host: str = _setting(
        "127.0.0.1", "Address to serve on.", env="BEDSIDE_HOST", toml="server.host"
    )
    port: int = _setting(8321, "Port to serve on.", env="BEDSIDE_PORT", toml="server.port", least=0)
    token_secret: str = _setting(
        "",
        "Key that signs bearer tokens; without one only loopback is served, to one user.",
        env="BEDSIDE_TOKEN_SECRET",
        toml="server.token_secret",
        secret=True,
    )
    upload_bytes: int = _setting(
        200_000_000,
        "Largest file that is read, in bytes.",
        env="BEDSIDE_UPLOAD_BYTES",
        toml="server.upload_bytes",
        least=1,
    )
    max_requests: int = _setting(
        128,
        "Most requests under way at once; what comes beyond is refused with 503 and Retry-After.",
        env="BEDSIDE_MAX_REQUESTS",
        toml="server.max_requests",
        least=1,
    )
    max_turns: int = _setting(
        256,
        "The same for turns, which mostly wait for a model.",
        env="BEDSIDE_MAX_TURNS",
        toml="server.max_turns",
        least=1,
    )
    worker_hands: int = _setting(
        2,
        "Jobs that a process does at once; readings of files leave one hand free where there are two.",
        env="BEDSIDE_WORKER_HANDS",
        toml="jobs.hands",
        least=1,
    )
    otlp_endpoint: str = _setting(
        "",
        "OpenTelemetry collector (http://host:4318) for traces without patient content; empty sends nothing.",
        env="BEDSIDE_OTLP_ENDPOINT",
        toml="telemetry.otlp_endpoint",
    )
    openai_base_url: str = _setting(
        "", "OpenAI-compatible server.", env="OPENAI_BASE_URL", toml="models.openai_base_url"
    )
    openai_api_key: str = _setting("", "Key.", env="OPENAI_API_KEY", toml="", secret=True)
    anthropic_base_url: str = _setting(
        "",
        "Anthropic-compatible server.",
        env="ANTHROPIC_BASE_URL",
        toml="models.anthropic_base_url",
    )
    anthropic_api_key: str = _setting("", "Key.", env="ANTHROPIC_API_KEY", toml="", secret=True)
    openrouter_base_url: str = _setting(
        "",
        "OpenRouter-compatible server.",
        env="OPENROUTER_BASE_URL",
        toml="models.openrouter_base_url",
    )
    openrouter_api_key: str = _setting("", "Key.", env="OPENROUTER_API_KEY", toml="", secret=True)
    bedrock_base_url: str = _setting(
        "",
        "Bedrock-compatible server.",
        env="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        toml="models.bedrock_base_url",
    )
    bedrock_region: str = _setting(
        "us-east-1", "AWS region of Bedrock.", env="AWS_REGION", toml="models.bedrock_region"
    )
    google_base_url: str = _setting(
        "",
        "Server shaped as Vertex AI (https://host/v1), for embeddings.",
        env="GOOGLE_VERTEX_BASE_URL",
        toml="knowledge.google_base_url",
    )
    google_region: str = _setting(
        "us-central1",
        "Region of Vertex AI.",
        env="GOOGLE_CLOUD_LOCATION",
        toml="knowledge.google_region",
    )
    google_credentials: str = _setting(
        "",
        "File of a Google service account's key, for embeddings.",
        env="GOOGLE_APPLICATION_CREDENTIALS",
        toml="knowledge.google_credentials",
    )
    origins: tuple[Origin, ...] = field(default=(), compare=False, repr=False)

    def __repr__(self) -> str:
        shown = ", ".join(f"{origin.name}={origin.shown}" for origin in self.origins)
        return f"Settings({shown})"

    @property
    def cache(self) -> Path:
        """Folder for what can be built again (the quantised embedding model)."""
        return self.home / "cache"


def default_home(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """The user's data folder: XDG on Linux, Application Support on macOS, LOCALAPPDATA on Windows."""
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "bedside"
    if platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"]) / "bedside"
    return Path(environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "bedside"


def load_settings(
    *,
    home: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read the settings once.

    `bedside.toml` is looked for in the home folder, then in the working folder; the first found
    serves. `overrides` (from a command's options) win over everything.

    Raises:
        BadInput: `bedside.toml` is no TOML, or holds a name that is no setting.
        InvalidArgument: a setting has the wrong type or is out of its range.
    """
    env = os.environ if environ is None else environ  # noqa: TID251 - the one reader
    given = dict(overrides or {})
    chosen = home or (Path(env["BEDSIDE_HOME"]) if env.get("BEDSIDE_HOME") else default_home(env))
    values, file = _read_toml(chosen)
    known = {item.metadata["toml"] for item in fields(Settings) if item.metadata.get("toml")}
    if unknown := sorted(set(values) - known):
        raise BadInput(
            file,
            why=f"no such setting: {', '.join(unknown)}",
            do="`bedside doctor` lists every setting.",
        )
    found: dict[str, Any] = {"home": chosen}
    where = "option" if home else ("environment" if env.get("BEDSIDE_HOME") else "default")
    origins = [
        Origin(
            name="home",
            shown=str(chosen),
            origin=where,
            variable="BEDSIDE_HOME",
            about="Folder of the embedded store.",
        )
    ]
    for item in fields(Settings):
        if item.name in ("home", "origins"):
            continue
        meta = item.metadata
        if item.name in given:
            raw, origin = given[item.name], "option"
        elif env.get(meta["env"], "") != "":
            raw, origin = env[meta["env"]], "environment"
        elif meta["toml"] and meta["toml"] in values:
            raw, origin = values[meta["toml"]], file
        else:
            raw, origin = item.default, "default"
        read = _convert(item, raw)
        found[item.name] = read
        origins.append(
            Origin(
                name=item.name,
                shown=_shown(item, read),
                origin=origin,
                variable=meta["env"],
                about=meta["about"],
            )
        )
    if found["egress_identifiers"] not in ("remove", "keep"):
        raise InvalidArgument(
            "BEDSIDE_EGRESS_IDENTIFIERS", found=found["egress_identifiers"], want="remove or keep"
        )
    if found["briefing_loop_tokens"] >= found["briefing_context_tokens"]:
        raise InvalidArgument(
            "BEDSIDE_BRIEFING_LOOP_TOKENS",
            found=found["briefing_loop_tokens"],
            want=f"less than the briefing's context of {found['briefing_context_tokens']} tokens",
        )
    _check_vectors(found)
    if 0 < (given_bytes := len(found["token_secret"].encode())) < LEAST_SECRET_BYTES:
        raise InvalidArgument(
            "BEDSIDE_TOKEN_SECRET",
            found=f"{given_bytes} bytes",
            want=f"at least {LEAST_SECRET_BYTES} random bytes, or empty to serve this machine alone",
        )
    return Settings(**found, origins=tuple(origins))


def _check_vectors(found: Mapping[str, Any]) -> None:
    """What the index of vectors needs.

    Raises:
        InvalidArgument: it names no index, or lacks the store or the address that it needs.
    """
    vectors, database = found["vectors"], found["database"]
    if vectors not in ("memory", "pgvector", "qdrant"):
        raise InvalidArgument("BEDSIDE_VECTORS", found=vectors, want="memory, pgvector or qdrant")
    if vectors == "pgvector" and (not database or database.startswith("sqlite")):
        raise InvalidArgument(
            "BEDSIDE_VECTORS", found=vectors, want="memory or qdrant where the store is SQLite"
        )
    if vectors == "qdrant" and not found["qdrant"]:
        raise InvalidArgument(
            "BEDSIDE_QDRANT", found="", want="the address of a server, as http://host:6333"
        )


def _read_toml(home: Path) -> tuple[dict[str, Any], str]:
    for path in (home / "bedside.toml", Path("bedside.toml")):
        if not path.is_file():
            continue
        try:
            tree = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput(
                str(path), why=f"it is no TOML ({type(error).__name__})", do="Mend it or remove it."
            ) from None
        return _flat(tree), str(path)
    return {}, "bedside.toml"


def _flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, item in tree.items():
        if isinstance(item, dict):
            flat.update(_flat(item, f"{prefix}{name}."))
        else:
            flat[prefix + name] = item
    return flat


def _convert(item: Field[Any], raw: Any) -> Any:
    default = item.default
    reader: Callable[[Any], Any]
    if isinstance(default, bool):
        reader = _bool
    elif isinstance(default, int):
        reader = int
    elif isinstance(default, tuple):
        reader = _names
    else:
        reader = str
    try:
        read = reader(raw)
    except (TypeError, ValueError):
        raise InvalidArgument(
            item.metadata["env"], found=raw, want=f"a {reader.__name__.strip('_')}"
        ) from None
    least = item.metadata["least"]
    if least is not None and read < least:
        raise InvalidArgument(item.metadata["env"], found=read, want=f"at least {least}")
    return read


def _bool(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    text = str(raw).strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise ValueError


def _names(raw: Any) -> tuple[str, ...]:
    parts = raw.split(",") if isinstance(raw, str) else list(raw)
    return tuple(str(part).strip() for part in parts if str(part).strip())


def _shown(item: Field[Any], read: Any) -> str:
    if item.metadata["secret"]:
        return "(set)" if read else "(not set)"
    return ",".join(read) if isinstance(read, tuple) else str(read)
