"""`bedside eval evaluator` and `bedside bench evaluator`: seeded errors, false alarms, speed."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from time import process_time
from typing import Any

from bedside.evals.evaluator_notes import Piece, VendorNote, notes, part_of, reworded
from bedside.evals.evaluator_seeds import CONTENT, EXPECTED, STRUCTURAL, Seeded, plant
from bedside.grounding import EvaluatedItem, evaluate_note

__all__ = ["bench", "run"]

_EACH = 200
_CLEAN = 4  # correct items beside each seeded one
_REWORDED = 0.5
_SHORTER = 0.7
_GRAVE = ("dose_x10", "mg_mcg", "negation_flip", "left_right", "wrong_drug")


def run(data: Path, *, each: int = _EACH, seed: int = 31) -> dict[str, Any]:
    """Seed errors into correct summaries and see which are found.

    Args:
        data: The folder of measuring data.
        each: How many errors of each kind.
        seed: Of every random choice.

    Returns:
        `recall` for each kind with its n (promises: structural at least 0.99 together; dose, unit,
        negation, side and medicine at least 0.97 together), `confusion` (kind to what was found
        first), `false_alarms` on untouched items, verbatim and reworded (promise: at most 0.02).
    """
    found = notes(data)
    if not found:
        return {"n": 0, "skipped": "the notes are not here"}
    rng = random.Random(seed)
    confusion: dict[str, Counter[str]] = defaultdict(Counter)
    caught: Counter[str] = Counter()
    made: Counter[str] = Counter()
    missed: dict[str, list[dict[str, Any]]] = defaultdict(list)
    alarms = _Alarms()
    for kind in (*STRUCTURAL, *CONTENT):
        for note, piece in _places(found, kind, rng, each):
            text = reworded(piece.text, rng) if rng.random() < _REWORDED else piece.text
            wrong = plant(kind, piece, text, note, rng)
            if wrong is None:
                continue
            clean = rng.sample(note.pieces, k=min(_CLEAN, len(note.pieces)))
            row = _evaluated(note, wrong, [(one, _said(one, rng)) for one in clean], alarms)
            kinds = [one.kind for one in row.findings if one.kind != "duplicate"]
            made[kind] += 1
            hit = bool(EXPECTED[kind] & set(kinds))
            caught[kind] += hit
            mine = next((one for one in kinds if one in EXPECTED[kind]), None)
            confusion[kind][mine or (f"only {kinds[0]}" if kinds else "nothing")] += 1
            if not hit:
                missed[kind].append(
                    {
                        "said": wrong.text,
                        "written": piece.text,
                        "source": wrong.source,
                        "found": kinds,
                    }
                )
    return {
        "suite": "evaluator",
        "seed": seed,
        "notes": len(found),
        "n_seeded": sum(made.values()),
        "recall": {kind: {"n": made[kind], "found": caught[kind] / made[kind]} for kind in made},
        "structural": _together(STRUCTURAL, made, caught),
        "dose_negation_side_drug": _together(_GRAVE, made, caught),
        "content": _together(CONTENT, made, caught),
        "confusion": {kind: dict(row.most_common()) for kind, row in confusion.items()},
        "false_alarms": alarms.figures(),
        "missed": {kind: rows[:5] for kind, rows in missed.items()},
    }


def _said(piece: Piece, rng: random.Random) -> str:
    """A correct item: half verbatim, half reworded; one thing of a list where it is one."""
    if rng.random() >= _REWORDED:
        return piece.text
    alone = part_of(piece.text, rng)
    return alone if alone != piece.text and rng.random() < _REWORDED else reworded(piece.text, rng)


def _together(kinds: Any, made: Counter[str], caught: Counter[str]) -> dict[str, Any]:
    n = sum(made[kind] for kind in kinds)
    return {"n": n, "found": sum(caught[kind] for kind in kinds) / n if n else None}


def _places(
    found: list[VendorNote], kind: str, rng: random.Random, each: int
) -> list[tuple[VendorNote, Piece]]:
    """Sentences into which an error of that kind fits; taken again where there are too few."""
    order = [(note, piece) for note in found for piece in note.pieces]
    rng.shuffle(order)
    fitting: list[tuple[VendorNote, Piece]] = []
    for note, piece in order:
        if plant(kind, piece, piece.text, note, rng) is not None:
            fitting.append((note, piece))
            if len(fitting) == each:
                return fitting
    return [fitting[k % len(fitting)] for k in range(each)] if fitting else []


def _evaluated(
    note: VendorNote, wrong: Seeded, clean: list[tuple[Piece, str]], alarms: _Alarms
) -> EvaluatedItem:
    """Evaluate one file of correct items with the wrong one among them; give the wrong one's row."""
    good = [{"text": text, "source": piece.source} for piece, text in clean]
    bad = {"text": wrong.text, "source": wrong.source}
    file: dict[str, Any] = {
        "summary": {"pertinent_history": [*good, *([bad] if wrong.part == "summary" else [])]},
        "plan": {"recommendations": [bad] if wrong.part == "plan" else []},
        "chunks": [
            {"id": c.id, "section_title": c.section, "start": c.start, "end": c.end}
            for c in note.chunks
        ],
    }
    result = evaluate_note(file, note=note.text)
    for (piece, text), row in zip(clean, result.items, strict=False):
        alarms.add(piece, text, row)
    return result.items[-1]


class _Alarms:
    """Findings on items that nobody touched; a true repetition is none."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, str], bool] = {}
        self.n: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.examples: list[dict[str, str]] = []

    def add(self, piece: Piece, text: str, row: EvaluatedItem) -> None:
        key = (id(piece), text)
        if key in self.seen:
            return
        kinds = [one.kind for one in row.findings if one.kind != "duplicate"]
        self.seen[key] = bool(kinds)
        form = (
            "verbatim"
            if text == piece.text
            else "one_of_a_list"
            if len(text) < _SHORTER * len(piece.text)
            else "reworded"
        )
        self.n[form] += 1
        if kinds:
            self.wrong[form] += 1
            self.kinds[kinds[0]] += 1
            self.examples.append({"kind": kinds[0], "said": text, "written": piece.text})

    def figures(self) -> dict[str, Any]:
        n = sum(self.n.values())
        return {
            "n": n,
            "share": sum(self.wrong.values()) / n if n else None,
            "verbatim": {"n": self.n["verbatim"], "alarms": self.wrong["verbatim"]},
            "reworded": {"n": self.n["reworded"], "alarms": self.wrong["reworded"]},
            "one_of_a_list": {"n": self.n["one_of_a_list"], "alarms": self.wrong["one_of_a_list"]},
            "kinds": dict(self.kinds.most_common()),
            "examples": self.examples[:12],
        }


def bench(data: Path, *, seed: int = 32, least: int = 7_000) -> dict[str, Any]:
    """Claims a second on one core: whole summaries, half of the items reworded.

    Returns:
        `claims_per_second` by the processor's time (promise: at least 1,000), with n; `same` is
        True where a second run gave the same bytes.
    """
    found = notes(data)
    if not found:
        return {"n": 0, "skipped": "the notes are not here"}
    rng = random.Random(seed)
    files: list[tuple[dict[str, Any], str]] = []
    claims = 0
    while claims < least:
        for note in found:
            items = [
                {
                    "text": reworded(one.text, rng) if rng.random() < _REWORDED else one.text,
                    "source": one.source,
                }
                for one in note.pieces
            ]
            chunks = [
                {"id": c.id, "section_title": c.section, "start": c.start, "end": c.end}
                for c in note.chunks
            ]
            files.append(({"summary": items, "chunks": chunks}, note.text))
            claims += len(items)
            if claims >= least:
                break
    evaluate_note(files[0][0], note=files[0][1])  # the vocabularies load once in a process
    began = process_time()
    first = [evaluate_note(file, note=text) for file, text in files]
    seconds = process_time() - began
    sample = range(0, len(files), max(1, len(files) // 50))
    same = all(
        first[k].to_json() == evaluate_note(files[k][0], note=files[k][1]).to_json() for k in sample
    )
    return {
        "suite": "evaluator",
        "seed": seed,
        "n": claims,
        "notes": len(files),
        "seconds": round(seconds, 3),
        "claims_per_second": round(claims / seconds),
        "same": same,
    }
