"""What each model can do and how its provider wants to be asked. Data, not code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.core.yaml_text import read_yaml
from bedside.models.config import Link

__all__ = ["Profile", "Profiles", "bundled_profiles", "read_profiles"]


@value
class Profile:
    """One model's abilities. Token figures are the provider's own tokens.

    `minimum` is the smallest cacheable prefix, `window` the context window, `output` the most it
    writes in one reply. `correction` is its tokens per o200k token. `json` says how a schema is
    asked for: held by the provider, valid JSON only, or in words alone. `thinks`: it takes a budget of
    tokens to think in before it answers. `extra` is merged into
    the request body.
    """

    tools: bool = True
    json: Literal["schema", "object", "none"] = "none"
    images: bool = False
    cache: Literal["markers", "automatic", "none"] = "none"
    minimum: int = 0
    window: int = 8_192
    output: int = 4_096
    correction: float = 1.0
    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    thinks: bool = False
    version: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def can(self) -> frozenset[str]:
        """The abilities by name, as a flow's `Opened.can` holds them."""
        named = {"tools": self.tools, "images": self.images, "json": self.json != "none"}
        return frozenset({"model", *(name for name, able in named.items() if able)})


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tools: bool | None = None
    json_: Literal["schema", "object", "none"] | None = Field(default=None, alias="json")
    images: bool | None = None
    cache: Literal["markers", "automatic", "none"] | None = None
    minimum: int | None = Field(default=None, ge=0)
    window: int | None = Field(default=None, ge=1)
    output: int | None = Field(default=None, ge=1)
    correction: float | None = Field(default=None, gt=0)
    temperature: bool | None = None
    limit: Literal["max_tokens", "max_completion_tokens"] | None = None
    thinks: bool | None = None
    version: str | None = None
    extra: dict[str, Any] | None = None

    def known(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True, exclude={"match"})


class _Matched(_Row):
    match: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    as_of: date
    defaults: _Row = _Row()
    profiles: list[_Matched]


@value
class Profiles:
    """The table of a file. `rows` are (glob over "provider:model", profile), first match wins."""

    as_of: date
    rows: tuple[tuple[str, Profile], ...]
    default: Profile

    def of(self, link: Link) -> Profile:
        """The profile of that model; the file's defaults where no row matches."""
        for pattern, profile in self.rows:
            if fnmatchcase(link.spec, pattern):
                return profile
        return self.default


def read_profiles(text: str, *, window: int | None = None) -> Profiles:
    """Read a profile file (YAML); `window` takes the place of its default window, in tokens.

    Raises:
        BadInput: it is not YAML, or not of this form.
    """
    try:
        read = _File.model_validate(read_yaml(text, what="model profiles"))
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[0]
        where = f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
        raise BadInput("model profiles", why=f"not of the expected form ({where})") from error
    default = read.defaults.known()
    if window is not None:
        default["window"] = window
    return Profiles(
        as_of=read.as_of,
        rows=tuple((row.match, Profile(**{**default, **row.known()})) for row in read.profiles),
        default=Profile(**default),
    )


@cache
def bundled_profiles(window: int | None = None) -> Profiles:
    """The table that ships with the package, with the window of models that it does not know."""
    text = files("bedside.models").joinpath("data/profiles.yaml").read_text(encoding="utf-8")
    return read_profiles(text, window=window)
