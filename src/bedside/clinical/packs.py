"""Clinical content ships as packs: YAML files that say where they come from and who reviewed them."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from datetime import date
from importlib import resources
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.core.yaml_text import STRINGS, read_yaml

__all__ = ["Pack", "PackFile", "load_pack", "parse_pack"]


@value
class Pack:
    """What a pack says of itself. It stands at the head of every data file, under `pack`.

    `source` cites what the content rests on; `licence` says under which terms it is used.
    `reviewer` is "" while nobody has reviewed it; `review_due` is the day by which it must be
    looked at again, reviewed or not.
    """

    id: str
    version: str
    title: str
    source: str
    licence: str
    jurisdiction: str
    review_due: date
    reviewer: str = ""
    review_status: Literal["unreviewed", "reviewed"] = "unreviewed"

    @property
    def state(self) -> str:
        """Who reviewed it, or that nobody has."""
        return f"reviewed by {self.reviewer}" if self.reviewer else "not clinically reviewed"

    @property
    def label(self) -> str:
        """One line to show wherever the content shows."""
        return f"{self.title} {self.version} ({self.jurisdiction}; {self.state})"

    def overdue(self, today: date) -> bool:
        """True when the review-due date has passed."""
        return today > self.review_due


class PackFile(BaseModel):
    """The base of every pack's schema: a header, then what the subclass adds. Unknown keys fail."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pack: Pack


M = TypeVar("M", bound=PackFile)


class _Loader(STRINGS):
    """Refuses a key that stands twice, since YAML would silently keep the last, or is no word."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is a list or a mapping", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def parse_pack(model: type[M], text: str, *, what: str) -> M:
    """Read a pack from YAML text.

    Args:
        model: The schema; its field names are the file's top-level keys.
        text: The YAML. Every scalar is read as a string and converted by the schema.
        what: A name for messages, such as the file name.

    Raises:
        BadInput: The text is not YAML, a key stands twice, or the schema does not hold; the
            message names the first places.
    """
    return _modelled(model, read_yaml(text, what=what, loader=_Loader), what=what)


def _modelled(model: type[M], raw: object, *, what: str) -> M:
    if not isinstance(raw, Mapping):
        raise BadInput(what, why="a pack is a mapping with the key 'pack'")
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        places = "; ".join(
            f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)[:3]
        )
        raise BadInput(what, why=f"{error.error_count()} fields are wrong ({places})") from error


@functools.cache
def load_pack(model: type[M], package: str, path: str) -> M:
    """Read a shipped pack once per process; later calls return the same value.

    Args:
        model: The schema.
        package: The package that carries the file, for example "bedside.clinical".
        path: The file below that package, with forward slashes.

    Raises:
        BadInput: The file does not fit the schema.
    """
    text = resources.files(package).joinpath(path).read_text(encoding="utf-8")
    return _modelled(model, yaml.load(text, _Loader), what=path)  # noqa: S506 - only strings
