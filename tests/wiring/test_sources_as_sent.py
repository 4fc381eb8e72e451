"""What a model really reads of a search's hits: the request as it arrived at the provider."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import pytest
from lxml import etree

from bedside.settings import load_settings
from bedside.testing.provider import FakeProvider, Said
from bedside.wiring import Ask, build_engine

TITLE = 'Thiazides & "loop" <diuretics>'
GUIDE = (
    f"# {TITLE}\n\n## Dose > start\n\nIndapamide is started at 1.25 mg daily when potassium < 5.\n"
)


@pytest.mark.requirement("EN-K8")
@pytest.mark.parametrize("embedder", ["none", "local"])
def test_every_hit_stands_in_the_request_with_id_document_section_and_score(
    tmp_path: Path, embedder: str
) -> None:
    async def work(address: str) -> dict:
        environ = {
            "BEDSIDE_EMBEDDER": embedder,
            "BEDSIDE_WRITER": "openai:some-model",
            "OPENAI_BASE_URL": address,
            "OPENAI_API_KEY": "k",
            "BEDSIDE_EGRESS_ALLOW": "openai",
        }
        engine = build_engine(load_settings(home=tmp_path, environ=environ))
        try:
            who = engine.local()
            await engine.ingest_bytes([("guide.md", GUIDE.encode())], who)
            await engine.texts.embed_waiting()
            await engine.texts.warm()
            found = await engine.search(who=who, query="How is indapamide started?")
            await engine.asker.ask(Ask(question="How is indapamide started?"), who)
            return found["hits"][0]
        finally:
            await engine.close()

    with FakeProvider([Said(text="I cannot tell.")] * 2) as provider:
        hit = anyio.run(work, provider.address("openai"))
        (first, *_) = provider.of("openai")
        sent = str(first.text) if not isinstance(first.text, str) else first.text
    shown = re.findall(r"<source [^>]*>", sent.replace('\\"', '"'))
    guide = [etree.fromstring(tag + "</source>").attrib for tag in shown if "guideline" in tag]
    assert len(guide) == 1
    assert {"id", "document", "section", "score"} <= set(guide[0])
    assert re.fullmatch(r"\d+", guide[0]["id"])
    assert guide[0]["document"] == TITLE
    assert guide[0]["section"].endswith("Dose > start")
    assert re.fullmatch(r"-?\d+\.\d\d", guide[0]["score"])
    expected = hit["similarity"] if embedder == "local" else hit["score"]
    assert float(guide[0]["score"]) == pytest.approx(expected, abs=0.15)
