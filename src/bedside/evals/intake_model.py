"""A model without a model: a coordinator by script, who reads the checklist and asks the next thing.

It does what the prompt says as a capable model would, makes offers, quotes what the person said,
and, in the clumsy manner, breaks the rules now and then. What it wrote is kept beside what was
shown, so that promises and questions can be counted by the words that were planted.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Literal

import yaml

from bedside.evals.intake_attacks import envelope
from bedside.evals.intake_simulate import Said
from bedside.models.fakes import Request, Written
from bedside.sop.find import find

__all__ = ["Coordinator", "offers"]

_CONTRACT = re.compile(r"Contract status \(([A-Za-z_]+)\)")
_NEEDED = re.compile(r"Still needed:\n(?P<l>(?:- .*\n?)*)")
_OPTIONAL = re.compile(r"Optional:\n(?P<l>(?:- .*\n?)*)")
_LINE = re.compile(r"^- ([a-z_]+)(?P<rest>.*)$", re.MULTILINE)
_FELT = re.compile(r"scared|worried|exhausted", re.IGNORECASE)
_LEADS = ("Thank you.", "I have that, thank you.", "Good to know.", "Thanks for telling me.", "")
Manner = Literal["good", "clumsy"]


@functools.cache
def offers() -> Mapping[str, Any]:
    """Offers and what only looks like one."""
    path = resources.files("bedside.evals") / "intake_personas" / "offers.yaml"
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


class Coordinator:
    """The script of a `FakeGateway`: called with each request, answers with an envelope.

    `planted` are the offers of the last message, `seen` whether each promise that the engine put
    before it stood in the prompt. `heard` gives what the person just said, for quotes.
    """

    def __init__(
        self, seed: int, *, manner: Manner = "good", heard: Callable[[], tuple[Said, Mapping[str, Any]] | None] = lambda: None
    ) -> None:  # fmt: skip
        self._rng, self._manner, self._heard = random.Random(seed), manner, heard
        self.planted: list[str] = []
        self.others: list[str] = []
        self.calls = 0
        self._slips = 0

    def __call__(self, request: Request) -> Written | str:
        """The next envelope."""
        self.calls += 1
        text = request.text
        heard = self._heard()
        felt = _FELT.search(heard[0].text) if heard is not None else None
        lead = f"It makes sense to feel {felt[0].casefold()}." if felt else self._rng.choice(_LEADS)
        parts = [lead]
        self.planted, self.others = [], []
        question, asking = self._question(text)
        if self._rng.random() < 0.35:
            self.planted.append(self._rng.choice(offers()["statements"]))
            parts.append(self.planted[-1])
        if self._rng.random() < 0.25:
            self.others.append(self._rng.choice(offers()["others"]))
            parts.append(self.others[-1])
        if question and self._rng.random() < 0.1:
            self.planted.append(self._rng.choice(offers()["questions"]))
            question, asking = self.planted[-1], ""
        parts.append(question)
        message = " ".join(one for one in parts if one)
        if self._manner == "clumsy" and self._rng.random() < 0.4:
            return self._slip(message, text)
        return envelope(message, extracted_data=self._extracted(), suggested_next=asking or None)

    def _question(self, text: str) -> tuple[str, str]:
        contract = find((_CONTRACT.findall(text) or ["_generic"])[-1])
        lists = [match["l"] for match in _NEEDED.finditer(text)][-1:]
        lists += [match["l"] for match in _OPTIONAL.finditer(text)][-1:]
        fresh: list[str] = []
        later: list[str] = []
        for block in lists:
            for match in _LINE.finditer(block):
                (later if "asked" in match["rest"] else fresh).append(match[1])
        for name in (*fresh, *later):
            field = contract.field(name)
            if field is not None and field.ask.get("en"):
                return field.ask["en"], name
        return "", ""

    def _extracted(self) -> dict[str, Any]:
        found = self._heard()
        if found is None:
            return {}
        said, truths = found
        return {
            name: {"value": truths[name], "quote": said.text}
            for name in said.answers
            if name in truths and not isinstance(truths[name], dict)
        }

    def _slip(self, message: str, text: str) -> str:
        """A message that breaks one of the rules, each in turn."""
        self._slips += 1
        kind = self._slips % 6
        contract = find((_CONTRACT.findall(text) or ["_generic"])[-1])
        if kind == 0:
            return "I am sorry, I will answer in plain text. Which country do you live in?"
        if kind == 1:
            return envelope(f"{message} And do you smoke? And what is your budget?")
        if kind == 2:
            first = contract.fields[0]
            return envelope(f"Just to be sure: {first.ask['en']}")
        if kind == 3:
            return envelope(
                message,
                extracted_data={"age": {"value": 199, "quote": "199"}, "allergies": ["peanuts"]},
            )
        if kind == 4:
            return envelope("Thank you for sharing that with me.")
        return envelope(f"As an AI language model I must say: {message}")
