"""Contracts from YAML: checked at the edge, frozen inside."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator
from pydantic import Field as Described

from bedside.clinical.packs import PackFile, parse_pack
from bedside.sop.contract import (
    Contract,
    Field,
    Finding,
    Interpretation,
    Kind,
    RequiredDocument,
    SafetyRule,
    Section,
    When,
)

__all__ = ["contract_schema", "read_contract", "shared_parts"]

_SHARED = ("fields", "documents", "interpretation")


@functools.cache
def shared_parts() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Fields, documents and readings that contracts may `use`, by list and by id or type."""
    path = resources.files("bedside.sop") / "data" / "shared.yaml"
    raw = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)  # noqa: S506 - only strings
    return {part: {one.get("id") or one["type"]: one for one in raw[part]} for part in _SHARED}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _used(raw: Any, part: str) -> Any:
    """A part that says `use` takes what it does not say itself from the shared one."""
    if not isinstance(raw, Mapping) or "use" not in raw:
        return raw
    name = str(raw["use"])
    shared = shared_parts()[part].get(name)
    if shared is None:
        known = ", ".join(sorted(shared_parts()[part]))
        raise ValueError(f"uses {name!r}, which is none of the shared {part}: {known}")
    return {**shared, **{key: found for key, found in raw.items() if key != "use"}}


class _Field(_Part):
    @model_validator(mode="before")
    @classmethod
    def _shared(cls, raw: Any) -> Any:
        return _used(raw, "fields")

    id: str = Described(pattern=r"[a-z][a-z0-9_]{1,40}")
    label: str
    section: Section
    when: When
    kind: Kind = "text"
    ask: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    cues: tuple[str, ...] = ()
    unit: str = ""
    low: float | None = None
    high: float | None = None
    gap: Literal["", "coordinator"] = ""
    only_if: tuple[str, str] | None = None

    @model_validator(mode="after")
    def _english_is_there(self) -> _Field:
        if self.when != "optional" and "en" not in self.ask:
            raise ValueError(f"the field {self.id} has no question in English")
        if self.kind == "choice" and not self.choices:
            raise ValueError(f"the field {self.id} is a choice without choices")
        return self


class _Document(_Part):
    @model_validator(mode="before")
    @classmethod
    def _shared(cls, raw: Any) -> Any:
        return _used(raw, "documents")

    type: str
    label: str
    when: When
    severity: Literal["required", "helpful"] = "required"
    names: tuple[str, ...] = ()


class _Finding(_Part):
    name: str
    label: str
    kind: Kind = "text"
    unit: str = ""
    cues: tuple[str, ...] = ()
    required: bool = False


class _Interpretation(_Part):
    @model_validator(mode="before")
    @classmethod
    def _shared(cls, raw: Any) -> Any:
        return _used(raw, "interpretation")

    type: str
    findings: tuple[_Finding, ...]


class _Rule(_Part):
    id: str
    description: str
    source: str
    field: str
    values: tuple[str, ...] = ()
    over: float | None = None
    under: float | None = None


class _Sop(PackFile):
    id: str = Described(pattern=r"[A-Z_a-z][A-Za-z0-9_]{1,40}")
    title: str
    codes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    fields: tuple[_Field, ...]
    documents: tuple[_Document, ...] = ()
    rules: tuple[_Rule, ...] = ()
    interpretation: tuple[_Interpretation, ...] = ()
    sources: tuple[str, ...]

    @model_validator(mode="after")
    def _names_hold_together(self) -> _Sop:
        ids = [field.id for field in self.fields]
        if len(set(ids)) != len(ids):
            raise ValueError("a field stands twice")
        for rule in self.rules:
            if rule.field not in ids:
                raise ValueError(f"the rule {rule.id} rests on {rule.field}, which is no field")
        for field in self.fields:
            if field.only_if is not None and field.only_if[0] not in ids:
                raise ValueError(f"the field {field.id} hangs on {field.only_if[0]}, which is none")
        types = {document.type for document in self.documents}
        for one in self.interpretation:
            if one.type not in types:
                raise ValueError(f"an interpretation of {one.type}, which is no document here")
        return self


def read_contract(text: str, *, what: str) -> Contract:
    """Read one contract from YAML text.

    Raises:
        BadInput: it is no contract; the message names the first places.
    """
    raw = parse_pack(_Sop, text, what=what)
    return Contract(
        id=raw.id,
        version=raw.pack.version,
        title=raw.title,
        codes=raw.codes,
        names=raw.names,
        fields=tuple(Field(**dict(field)) for field in raw.fields),
        documents=tuple(RequiredDocument(**dict(one)) for one in raw.documents),
        rules=tuple(SafetyRule(**dict(rule)) for rule in raw.rules),
        interpretation=tuple(
            Interpretation(
                type=one.type, findings=tuple(Finding(**dict(found)) for found in one.findings)
            )
            for one in raw.interpretation
        ),
        sources=raw.sources,
        review_status=raw.pack.review_status,
        reviewer=raw.pack.reviewer,
        unlike=raw.unlike,
    )


def contract_schema() -> dict[str, object]:
    """The JSON Schema of a contract file, for editors."""
    return _Sop.model_json_schema()
