"""Fit the second hearing of danger (`clinical/danger/data/hints.yaml`) and measure it.

    python scripts/train_hints.py --cache ~/.bedside/cache [--talk messages.json] [--write]

A linear model over the message's vector and its stems, by kind of danger against none. A third of
`hints/messages.tsv`, drawn by a fixed seed, is held back and the fit on the rest is measured there; what
ships is fitted on the whole, at the threshold that folds of the two thirds gave. `--talk` is a JSON list of
everyday messages: none is learned, false alarms are counted.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedside.clinical.danger import heard
from bedside.clinical.danger.hints import LEAST, MEANT, SCALE, terms_of
from bedside.knowledge.embed.minilm import MiniLM

HERE = Path(__file__).parent
PACK = HERE.parent / "src/bedside/clinical/danger/data/hints.yaml"
KINDS = ("none", "self_harm", "abuse", "violence", "emergency")
RIDGE, STEPS, FOLDS, REPEATS = 1e-3, 400, 3, 4
FALSE = 0.99
Rows = list[tuple[str, str]]
Floats = NDArray[np.float64]
HEAD = """\
pack:
  id: clinical.danger.hints
  version: "2026.1"
  title: What messages that hint at danger have in common, as weights over a vector and stems
  source: "Fitted by scripts/train_hints.py on scripts/hints/messages.tsv, written for it; no patient's words and no data set"
  licence: Apache-2.0, as the messages
  jurisdiction: international; English only
  review_due: 2027-01-31
# Whole numbers are thousandths. Kinds in the order of `kinds`, each against no danger.
"""


class Fit:
    """A fit over some messages: a vocabulary of their stems and weights, (terms, kinds)."""

    def __init__(self, rows: Rows, vectors: Floats) -> None:
        counted: dict[str, int] = {}
        for _, text in rows:
            for term in terms_of(text):
                counted[term] = counted.get(term, 0) + 1
        self.terms = {t: n for n, t in enumerate(sorted(t for t in counted if counted[t] >= LEAST))}
        x, y = self._features(rows, vectors), np.eye(len(KINDS))[[KINDS.index(k) for k, _ in rows]]
        self.weights, self.bias = np.zeros((x.shape[1], len(KINDS))), np.zeros(len(KINDS))
        moved, shifted = np.zeros_like(self.weights), np.zeros_like(self.bias)
        for _ in range(STEPS):
            z = x @ self.weights + self.bias
            p = np.exp(z - z.max(1, keepdims=True))
            wrong = p / p.sum(1, keepdims=True) - y
            moved = 0.9 * moved + x.T @ wrong / len(x) + RIDGE * self.weights
            shifted = 0.9 * shifted + wrong.mean(0)
            self.weights, self.bias = self.weights - moved, self.bias - shifted

    def _features(self, rows: Rows, vectors: Floats) -> Floats:
        bag = np.zeros((len(rows), len(self.terms)))
        for n, (_, text) in enumerate(rows):
            known = [self.terms[t] for t in terms_of(text) if t in self.terms]
            bag[n, known] = MEANT / np.sqrt(max(len(known), 1))
        return np.hstack([vectors, bag])

    def sure(self, rows: Rows, vectors: Floats) -> Floats:
        """Log odds of any danger against none."""
        z = self._features(rows, vectors) @ self.weights + self.bias
        return np.asarray(np.logaddexp.reduce(z[:, 1:], axis=1) - z[:, 0])


def _rows(name: str) -> Rows:
    lines = (HERE / "hints" / name).read_text(encoding="utf-8").splitlines()
    return [(kind, text) for kind, text in (line.split("\t") for line in lines if line)]


def _silent(rows: Rows) -> NDArray[np.bool_]:
    """Where the rules hear nothing, not even what is denied: only there is it listened for."""
    return np.array([not heard(text) for _, text in rows])


def _threshold(rows: Rows, vectors: Floats) -> float:
    """Where 1 % of the harmless messages would be asked about, each by a fit without it."""
    sure: list[Floats] = []
    for seed in range(REPEATS):
        order = np.random.default_rng(seed).permutation(len(rows))
        for fold in range(FOLDS):
            held = order[fold::FOLDS]
            rest = np.setdiff1d(order, held)
            fit = Fit([rows[n] for n in rest], vectors[rest])
            kept = [rows[n] for n in held]
            none = np.array([kind == "none" for kind, _ in kept])
            found = np.where(_silent(kept), fit.sure(kept, vectors[held]), -np.inf)
            sure.append(found[none])
    return float(np.quantile(np.concatenate(sure), FALSE))


def _told(name: str, rows: Rows, sure: Floats, least: float) -> dict[str, Any]:
    danger, silent = np.array([kind != "none" for kind, _ in rows]), _silent(rows)
    added = (sure > least) & silent
    return {
        "set": name, "dangers": int(danger.sum()), "others": int((~danger).sum()),
        "heard by rules": int((danger & ~silent).sum()), "heard by hints": int((danger & added).sum()),
        "false by hints": int((~danger & added).sum()),
    }  # fmt: skip


def _write(fit: Fit, least: float, model: str) -> None:
    weights = np.rint((fit.weights[:, 1:] - fit.weights[:, :1]) * SCALE).astype(int)
    bias = np.rint((fit.bias[1:] - fit.bias[0]) * SCALE).astype(int)
    wide = weights.shape[0] - len(fit.terms)

    def line(numbers: Any) -> str:
        return '"' + " ".join(map(str, numbers)) + '"'

    lines = [f"model: {json.dumps(model)}", f"least: {round(least * SCALE)}"]
    lines.append(f"kinds: [{', '.join(KINDS[1:])}]")
    lines += [f"bias: {line(bias)}", "vector:"]
    lines += [f"  - {line(weights[:wide, n])}" for n in range(len(KINDS) - 1)]
    lines.append("terms:")
    lines += [f"  {json.dumps(t)}: {line(weights[wide + n])}" for t, n in fit.terms.items()]
    PACK.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Measure, and write the pack where asked."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--cache", type=Path, required=True)
    asked.add_argument("--talk", type=Path)
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    model = MiniLM(cache=given.cache, threads=1)

    def embed(rows: Rows) -> Floats:
        return np.asarray(model.embed([text for _, text in rows], kind="query"), dtype=np.float64)

    rows, unseen = _rows("messages.tsv"), _rows("unseen.tsv")
    vectors = embed(rows)
    talked = [("none", text) for text in json.loads(given.talk.read_text())] if given.talk else []
    talk = embed(talked) if talked else None
    held = np.zeros(len(rows), bool)
    rng = np.random.default_rng(7)
    for kind in KINDS:
        those = np.array([n for n, (k, _) in enumerate(rows) if k == kind])
        rng.shuffle(those)
        held[those[: len(those) // 3]] = True
    kept = [row for row, out in zip(rows, held, strict=True) if not out]
    out = [row for row, is_out in zip(rows, held, strict=True) if is_out]
    least = _threshold(kept, vectors[~held])
    fit, whole = Fit(kept, vectors[~held]), Fit(rows, vectors)
    print(json.dumps({"least": round(least, 3), "terms": len(whole.terms)}))
    print(json.dumps(_told("held third", out, fit.sure(out, vectors[held]), least)))
    seen = embed(unseen)
    print(json.dumps(_told("unseen, fit of two thirds", unseen, fit.sure(unseen, seen), least)))
    print(json.dumps(_told("unseen, as shipped", unseen, whole.sure(unseen, seen), least)))
    if talk is not None:
        print(json.dumps(_told("talk, as shipped", talked, whole.sure(talked, talk), least)))
    if given.write:
        _write(whole, least, model.id)


if __name__ == "__main__":
    main()
