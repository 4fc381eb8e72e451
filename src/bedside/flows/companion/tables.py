"""The companion's data files: stages, words, texts, prompts; a tenant's own edition over them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

import yaml

from bedside.core.errors import BadInput
from bedside.core.value import value
from bedside.core.yaml_text import read_yaml
from bedside.flows.companion.safety import check_rules

__all__ = ["PROMPTS", "Stage", "Tables", "tables_of"]

PROMPTS = (
    "base", "facilitator", "overview", "probing", "transition", "post_share", "protocol",
    "onboarding", "invitation", "witnessing", "perspective", "needs", "repair", "inner_work",
    "linked_thoughts", "reconciler", "first_message", "router", "dispatch", "gratitude",
    "meditation", "people", "memory_validator", "memory_formatter", "facts", "summary",
    "references",
)  # fmt: skip
Hot = Mapping[str, Any] | None


@value
class Stage:
    """One stage as its file declares it."""

    id: int
    name: str
    mode: str
    prompt: str
    buffer: int
    depth: str
    threshold: float
    cross_session: bool
    least_turns: int
    light_after: int | None = None


@value
class Tables:
    """The data of one turn. `own` are the tenant's prompts by name."""

    stages: tuple[Stage, ...]
    rules: Mapping[str, Any]
    words: Mapping[str, Any]
    safety: Mapping[str, Any]
    texts: Mapping[str, Any]
    side: Mapping[str, Any]
    own: Mapping[str, str]

    def prompt(self, name: str, *, bundled: bool = False) -> str:
        """The text of one prompt; the tenant's own, unless the `bundled` one is wanted.

        Raises:
            BadInput: there is no prompt of this name.
        """
        if name not in PROMPTS:
            raise BadInput(f"prompt {name!r}", why="the companion has none of this name")
        return _bundled(name) if bundled else self.own.get(name) or _bundled(name)


def tables_of(hot: Hot) -> Tables:
    """The bundled files with the tenant's edits over them.

    A tenant edits the hot data of kind "prompt": "companion/NAME" for a prompt, "companion/stages",
    "companion/words", "companion/safety", "companion/texts" or "companion/side" for a data file
    (YAML, read over the bundled one key by key).

    Raises:
        BadInput: a tenant's file is no YAML mapping, or its stages are not 0 to 4, or its
            safety has a part that nothing reads.
    """
    edits = {
        name.removeprefix("companion/"): str(body.get("text", ""))
        if isinstance(body, Mapping)
        else str(body)
        for name, body in ((hot or {}).get("prompt") or {}).items()
        if name.startswith("companion/")
    }
    rules, words, safety, texts, side = (
        _over(_file(name), edits.get(name, ""), name)
        for name in ("stages", "words", "safety", "texts", "side")
    )
    check_rules(safety, _file("safety"))
    try:
        stages = tuple(Stage(**one) for one in rules["stages"])
    except TypeError as error:
        raise BadInput("companion/stages", why=f"a stage has a wrong field ({error})") from None
    if [stage.id for stage in stages] != [0, 1, 2, 3, 4]:
        raise BadInput("companion/stages", why="the stages must be 0 to 4, in order")
    return Tables(
        stages=stages, rules=rules, words=words, safety=safety, texts=texts, side=side, own=edits
    )


def _over(base: Mapping[str, Any], text: str, name: str) -> Mapping[str, Any]:
    if not text.strip():
        return base
    tree = read_yaml(text, what=f"companion/{name}")
    if not isinstance(tree, Mapping):
        raise BadInput(f"companion/{name}", why="it is no YAML mapping")
    return _merged(base, cast("Mapping[str, Any]", tree))


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(base)
    for key, part in over.items():
        below = made.get(key)
        made[key] = (
            _merged(below, part)
            if isinstance(below, Mapping) and isinstance(part, Mapping)
            else part
        )
    return made


@cache
def _file(name: str) -> Mapping[str, Any]:
    text = files("bedside.flows.companion.data").joinpath(f"{name}.yaml").read_text("utf-8")
    return cast("Mapping[str, Any]", yaml.safe_load(text))


@cache
def _bundled(name: str) -> str:
    path = files("bedside.flows.companion.prompts").joinpath(f"{name}.md")
    return path.read_text("utf-8").strip()
