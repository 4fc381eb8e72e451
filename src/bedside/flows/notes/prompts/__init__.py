"""The prompts of the notes flow: files with variables, versioned by their hash. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from bedside.core.errors import BadInput
from bedside.core.value import value

__all__ = ["PROMPTS", "Prompt", "PromptName", "prompt_of", "read_prompt"]

PromptName = Literal["text_summary", "plan_generation", "section_inference"]
PROMPTS: tuple[PromptName, ...] = get_args(PromptName)
_NEEDS: Mapping[PromptName, tuple[str, ...]] = {
    "text_summary": ("chunks_with_headers",),
    "plan_generation": ("section_titles_list", "summary_sections"),
    "section_inference": ("chunks_with_headers",),
}
_VARIABLE = re.compile(r"\{([a-z_]+)\}")


@value
class Prompt:
    """One template. `pieces` are texts and variables in turn, beginning with a text.

    `version` is the first 12 hex digits of the SHA-256 of its text.
    """

    name: PromptName
    version: str
    pieces: tuple[str, ...]


def read_prompt(name: PromptName, text: str) -> Prompt:
    """Read a template.

    Raises:
        BadInput: a variable that the prompt needs is missing, stands twice, or is unknown.
    """
    pieces = tuple(_VARIABLE.split(text))
    given = pieces[1::2]
    wanted = _NEEDS[name]
    missing = [one for one in wanted if given.count(one) != 1]
    unknown = [one for one in given if one not in wanted]
    if missing or unknown:
        faults = [f"{{{one}}} must stand in it once" for one in missing]
        faults += [f"{{{one}}} is no variable of it" for one in dict.fromkeys(unknown)]
        raise BadInput(f"prompt {name!r}", why="; ".join(faults), do="Mend the template.")
    version = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Prompt(name=name, version=version, pieces=pieces)


@cache
def _bundled(name: PromptName) -> Prompt:
    text = files("bedside.flows.notes.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return read_prompt(name, text)


def prompt_of(name: PromptName, data: Mapping[str, Any] | None) -> Prompt:
    """The tenant's own template where its hot data hold one (kind "prompt", key "notes/NAME").

    Raises:
        BadInput: the tenant's template lacks a variable.
    """
    own = ((data or {}).get("prompt") or {}).get(f"notes/{name}")
    text = own.get("text") if isinstance(own, Mapping) else own
    return read_prompt(name, text) if isinstance(text, str) and text.strip() else _bundled(name)
