"""The local model: verified weights, held to a plain forward pass, whole texts read by windows."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from bedside.clinical.danger import heard
from bedside.clinical.danger.hints import hinted, hints_fit
from bedside.core.errors import BadInput
from bedside.knowledge.embed.graph import build_float
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.reference import forward
from bedside.knowledge.embed.weights import Weights, find_archive, load_weights
from bedside.testing.embedder import EmbedderContract, HashedEmbedder


@pytest.fixture(scope="module")
def weights() -> Weights:
    return load_weights(find_archive())


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def clinical_texts(count: int) -> list[str]:
    drugs = [
        "metformin",
        "amlodipine",
        "warfarin",
        "salbutamol",
        "insulin",
        "ceftriaxone",
        "morphine",
    ]
    ills = [
        "hypertension",
        "asthma",
        "sepsis",
        "gout",
        "eclampsia",
        "malaria",
        "heart failure",
        "CKD",
    ]
    shapes = [
        "What is the dose of {d} in {i}?",
        "In {i}, start {d} {n} mg twice a day and review after {n} weeks.",
        "{i}: avoid {d} when eGFR is under {n} mL/min/1.73 m².",
    ]
    return [shapes[k % 3].format(d=drugs[k % 7], i=ills[k % 8], n=5 + k % 90) for k in range(count)]


def test_the_float_graph_equals_a_plain_forward_pass(weights: Weights, tmp_path: Path) -> None:
    import onnxruntime
    from tokenizers import Tokenizer

    file = tmp_path / "float.onnx"
    file.write_bytes(build_float(weights).SerializeToString())
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_str(weights.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for text in clinical_texts(20):
        ids = tokenizer.encode(text).ids
        feed = {
            "input_ids": np.array([ids]),
            "attention_mask": np.ones((1, len(ids)), dtype=np.int64),
        }
        (row,) = session.run(None, feed)[0]
        assert float(row @ forward(weights.tensors, ids)) >= 0.999


def test_the_int8_graph_stays_near_the_forward_pass_on_200_texts(
    weights: Weights, cache: Path
) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(weights.tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = clinical_texts(200)
    rows = MiniLM(cache=cache).embed(texts, kind="passage")
    near = [
        float(row @ forward(weights.tensors, tokenizer.encode(text).ids[:256]))
        for row, text in zip(rows, texts, strict=True)
    ]
    assert min(near) >= 0.98


def test_weights_with_another_digest_are_refused(tmp_path: Path) -> None:
    forged = tmp_path / "model.zip"
    with zipfile.ZipFile(forged, "w") as bundle:
        bundle.writestr("model.safetensors", b"not the weights")
        bundle.writestr("tokenizer.json", "{}")
    with pytest.raises(BadInput, match="SHA-256"):
        MiniLM(cache=tmp_path / "cache", archive=forged).warm()
    assert not list((tmp_path / "cache").glob("*.onnx"))


def test_a_tampered_cache_is_made_again(cache: Path) -> None:
    MiniLM(cache=cache).warm()
    (graph,) = cache.glob("*.onnx")
    whole = graph.read_bytes()
    graph.write_bytes(whole[:-10] + b"tampered!!")
    want = MiniLM(cache=cache).embed(["asthma"], kind="query")
    assert graph.read_bytes() == whole
    assert want.shape == (1, 384)


def test_a_long_text_is_read_in_overlapping_windows(cache: Path) -> None:
    embedder = MiniLM(cache=cache)
    text = " ".join(f"sentence number {n} is about asthma." for n in range(120))
    pieces = embedder.windows(text)
    assert len(pieces) > 2
    assert all(piece in text for piece in pieces)
    assert embedder.windows("short") == ["short"]


def test_a_text_has_one_vector_whatever_it_is_embedded_with(cache: Path) -> None:
    embedder = MiniLM(cache=cache)
    texts = ["asthma", "asthma and COPD " * 60, "x", "Offer an ACE inhibitor. " * 9]
    together = embedder.embed(texts, kind="passage")
    backwards = embedder.embed(texts[::-1], kind="passage")[::-1]
    for place, text in enumerate(texts):
        (alone,) = embedder.embed([text], kind="query")
        assert (alone == together[place]).all()
        assert (alone == backwards[place]).all()


def test_meaning_is_nearer_than_words(cache: Path) -> None:
    rows = MiniLM(cache=cache).embed(
        ["heart attack", "myocardial infarction", "attack of the heart-shaped balloons at a party"],
        kind="query",
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


class TestMiniLM(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _cache(self, cache: Path) -> None:
        self.cache = cache

    def make(self) -> MiniLM:
        return MiniLM(cache=self.cache)


class TestHashedEmbedder(EmbedderContract):
    def make(self) -> HashedEmbedder:
        return HashedEmbedder()


@pytest.mark.requirement("CM-14")
def test_hints_of_danger_in_unseen_messages_are_heard_as_measured(cache: Path) -> None:
    lines = (Path(__file__).parents[2] / "scripts/hints/unseen.tsv").read_text("utf-8").splitlines()
    rows = [(kind, text) for kind, text in (line.split("\t") for line in lines) if not heard(text)]
    embedder = MiniLM(cache=cache)
    assert hints_fit(embedder.id)
    vectors = embedder.embed([text for _, text in rows], kind="query").tolist()
    hits = [
        kind
        for (kind, text), vector in zip(rows, vectors, strict=True)
        if hinted(text, vector) is not None
    ]
    none = [kind for kind, _ in rows if kind == "none"]
    assert hits.count("none") <= len(none) * 0.06
    assert hits.count("danger") >= 3
