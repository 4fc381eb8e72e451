"""A film before a model: only where one takes images and may see it, and only as asked for."""

from __future__ import annotations

import asyncio
import io
import json

import pytest
from PIL import Image

from bedside.core.turn import Delta, NoModel
from bedside.jobs.extraction import Picture
from bedside.models.config import ModelsConfig
from bedside.wiring import looking


class Eye:
    """A gateway that answers with these words, or refuses."""

    def __init__(self, said: str | None) -> None:
        self.said, self.images = said, []

    async def stream(self, prompt, *, images, **_rest):
        self.images += images
        if self.said is None:
            raise NoModel("images may not leave")
        for at in range(0, len(self.said), 7):
            yield Delta(text=self.said[at : at + 7])


def film() -> bytes:
    made = io.BytesIO()
    Image.new("L", (3000, 2000), 40).save(made, "PNG")
    return made.getvalue()


def looked(monkeypatch, said: str | None):
    class Profile:
        images = True

    monkeypatch.setattr(looking, "profile_of", lambda *_: (None, Profile))
    eye = Eye(said)
    look = looking.look_with(eye, ModelsConfig())
    picture = Picture(tenant="t", case="c", name="a.png", content=film(), kinds=())
    return asyncio.run(look(picture)), eye


@pytest.mark.requirement("IN-07")
def test_without_a_model_that_takes_images_nobody_looks() -> None:
    assert looking.look_with(Eye("{}"), ModelsConfig()) is None


@pytest.mark.requirement("IN-07")
def test_what_a_model_saw_is_its_words_type_and_confidence(monkeypatch) -> None:
    said = {"text": "A knee in two views.", "type": "knee_xray", "confidence": 0.9}
    seen, eye = looked(monkeypatch, json.dumps(said))
    assert (seen.text, seen.type, seen.confidence) == ("A knee in two views.", "knee_xray", 0.9)
    assert Image.open(io.BytesIO(eye.images[0].data)).size == (1600, 1067)


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize("said", [None, "I cannot help", '{"text": "", "type": "x", "confidence": 1}',
                                  '{"text": "a", "type": "x", "confidence": 7}'])  # fmt: skip
def test_a_refusal_or_an_answer_that_is_not_as_asked_is_nothing_seen(monkeypatch, said) -> None:
    assert looked(monkeypatch, said)[0] is None
