"""De-identification measured: what is planted, what leaves, what comes back, what is hidden in vain.

Identifiers of every kind that HIPAA's safe harbour names are planted by program into real notes, in
several formats each; names are planted twice, once as the record knows them and once unknown to it,
in places where notes name people. The presidio sentences (not clinical, not written here) are the
independent measure of recall.
"""

from __future__ import annotations

import csv
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bedside.clinical.analytes import find_analytes
from bedside.clinical.drugs import find_drugs
from bedside.evals.deid_fresh import fresh
from bedside.evals.deid_planted import KINDS, Planted, plant
from bedside.language.quantities import quantities
from bedside.models.identifiers import Unveiler, Veil

__all__ = ["run"]

_PLANTED = 10_500
_SEED = 11
_PRESIDIO = {
    "PERSON": True,
    "STREET_ADDRESS": True,
    "CREDIT_CARD": True,
    "PHONE_NUMBER": True,
    "EMAIL_ADDRESS": True,
    "ZIP_CODE": True,
    "DOMAIN_NAME": True,
    "IBAN_CODE": True,
    "US_SSN": True,
    "IP_ADDRESS": True,
    "US_DRIVER_LICENSE": True,
    "GPE": False,
    "ORGANIZATION": False,
    "DATE_TIME": False,
    "TITLE": False,
    "AGE": False,
    "NRP": False,
}
"""Kinds of the presidio sentences: True where the veil is to hide them."""


def run(
    data: Path, *, seed: int = _SEED, tell: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """All figures, each with its n.

    Args:
        data: The measuring data.
        seed: Of what is planted.
        tell: Hears of progress.
    """
    say = tell or (lambda _line: None)
    notes = list(_notes(data))
    say(f"planting into {len(notes)} notes")
    planted = _plant_all(notes, seed)
    say("reading notes as they are")
    return {
        "protocol": " ".join((__doc__ or "").split()),
        **planted,
        "over_redaction": {
            "aci_bench and mts_dialog": _over(notes),
            "mtsamples": _over(list(_samples(data))),
        },
        "fresh": fresh(),
        "presidio": _presidio(data / "safety/presidio/synth_dataset_v2.json"),
        "kept_by_design": (
            "dates of service and of events, places without a street or a label, organisations that employ nobody named, ages below 90"
        ),
    }


def _notes(data: Path) -> Iterator[str]:
    for name in ("train", "valid"):
        with (data / f"notes/aci_bench/{name}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield row["note"].replace("\r\n", "\n")
    for name in ("TrainingSet", "ValidationSet"):
        path = data / f"notes/mts_dialog/MTS-Dialog-{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                yield row["section_text"].replace("\r\n", "\n")


def _samples(data: Path) -> Iterator[str]:
    path = data / "notes/mtsamples/mtsamples_dev.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["text"]


def _plant_all(notes: Sequence[str], seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    n: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    leaks: Counter[tuple[str, str]] = Counter()
    reversed_exactly = offsets = texts = 0
    seconds = characters = 0.0
    at = 0
    while sum(n.values()) < _PLANTED:
        text, planted = plant(notes[at % len(notes)], rng, kinds=KINDS, each=12)
        at += 1
        known = tuple(dict.fromkeys(one.known_as for one in planted if one.known_as))
        veil = Veil(known, key=b"measured")
        start = time.perf_counter()
        hidden = veil.hide(text)
        seconds += time.perf_counter() - start
        characters += len(text)
        texts += 1
        reversed_exactly += veil.show(hidden) == text and _streamed(veil, hidden, rng) == text
        spans = list(veil.spans(text))
        offsets += _offsets_hold(text, hidden, spans)
        for one in planted:
            n[one.kind] += 1
            if _covered(one, spans):
                caught[one.kind] += 1
            else:
                leaks[one.kind, one.format] += 1
    return {
        "n_texts": texts,
        "n_planted": sum(n.values()),
        "n_left": sum(leaks.values()),
        "by_kind": {
            kind: {
                "planted": n[kind],
                "caught": caught[kind],
                "recall": round(caught[kind] / n[kind], 4),
            }
            for kind in sorted(n)
        },
        "left": [
            {"kind": kind, "format": form, "n": count}
            for (kind, form), count in leaks.most_common(20)
        ],
        "reversed_exactly": reversed_exactly,
        "offsets_hold": offsets,
        "ms_per_1000_characters": round(1e6 * seconds / characters, 3) if characters else None,
    }


def _covered(one: Planted, spans: Sequence[tuple[int, int]]) -> bool:
    """Is every letter and digit of the identifier inside what is hidden?"""
    for at in range(one.start, one.end):
        if one.surface[at - one.start].isalnum() and not any(a <= at < b for a, b in spans):
            return False
    return True


def _streamed(veil: Veil, hidden: str, rng: random.Random) -> str:
    back = Unveiler(veil)
    out: list[str] = []
    at = 0
    while at < len(hidden):
        step = rng.randint(1, 40)
        out.append(back.feed(hidden[at : at + step]))
        at += step
    return "".join(out) + back.finish()


def _offsets_hold(text: str, hidden: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Does every stretch between two identifiers stand in the hidden text, in order and unchanged?"""
    place = last = 0
    for start, end in [*spans, (len(text), len(text))]:
        piece = text[last:start]
        found = hidden.find(piece, place)
        if found < 0:
            return False
        place, last = found + len(piece), end
    return True


def _over(notes: Sequence[str]) -> dict[str, Any]:
    """Clinical terms of the notes as they are that the veil hides: medicines, analytes, figures."""
    n: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    characters = veiled = 0
    for text in notes:
        spans = list(Veil(()).spans(text))
        characters += len(text)
        veiled += sum(b - a for a, b in spans)
        for name, found in _terms(text).items():
            for start, end in found:
                n[name] += 1
                hidden[name] += any(a < end and start < b for a, b in spans)
    total = sum(n.values())
    return {
        "n_notes": len(notes),
        "n_terms": total,
        "hidden": sum(hidden.values()),
        "share": round(sum(hidden.values()) / total, 5) if total else None,
        "by_kind": {
            kind: {
                "terms": n[kind],
                "hidden": hidden[kind],
                "share": round(hidden[kind] / n[kind], 5),
            }
            for kind in sorted(n)
        },
        "characters_hidden": round(veiled / characters, 5) if characters else None,
    }


def _terms(text: str) -> Mapping[str, list[tuple[int, int]]]:
    return {
        "medicines": [(one.start, one.end) for one in find_drugs(text)],
        "analytes": [(one.start, one.end) for one in find_analytes(text)],
        "quantities": [(one.start, one.end) for one in quantities(text)],
    }


def _presidio(path: Path) -> dict[str, Any]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    n: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    partly: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for row in rows:
        text = row["full_text"]
        spans = list(Veil(()).spans(text))
        names = [one["entity_value"] for one in row["spans"] if one["entity_type"] == "PERSON"]
        told = list(Veil(names).spans(text))
        for one in row["spans"]:
            kind, start, end = one["entity_type"], one["start_position"], one["end_position"]
            letters = [at for at in range(start, min(end, len(text))) if text[at].isalnum()]
            inside = sum(any(a <= at < b for a, b in spans) for at in letters)
            n[kind] += 1
            whole[kind] += inside == len(letters)
            partly[kind] += inside > 0
            if kind == "PERSON":
                known[kind] += all(any(a <= at < b for a, b in told) for at in letters)
    return {
        "n_sentences": len(rows),
        "by_kind": {
            kind: {
                "n": n[kind],
                "whole": round(whole[kind] / n[kind], 4),
                "at_least_partly": round(partly[kind] / n[kind], 4),
                "meant_to_be_hidden": _PRESIDIO.get(kind, False),
                **(
                    {"whole_where_the_name_is_known": round(known[kind] / n[kind], 4)}
                    if known[kind]
                    else {}
                ),
            }
            for kind in sorted(n)
        },
    }
