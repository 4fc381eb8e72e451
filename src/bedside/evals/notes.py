"""Notes measured: sections, and the extractive summary on ACI-Bench.

Nothing here uses the extractor's own rules: facts are found again by plain patterns below and by the
evaluator's own extractor; ROUGE is computed here.
"""

from __future__ import annotations

import csv
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bedside.core.ids import SourceId
from bedside.core.source import Source
from bedside.evals.notes_sections import run_sections
from bedside.flows.notes.extractive import extract
from bedside.flows.notes.note import Note, StoredNote
from bedside.flows.notes.summary import Recommendation, Statement, plan_json, summary_json
from bedside.grounding.evaluate import evaluate_note

__all__ = ["rouge", "run"]

_FACTS: Mapping[str, re.Pattern[str]] = {
    "doses": re.compile(r"\b\d+(?:\.\d+)?\s?(?:mg|mcg|micrograms?|units?|mL|grams?|g)\b", re.IGNORECASE),
    "blood pressures": re.compile(r"\b\d{2,3}/\d{2,3}\b"),
    "percentages": re.compile(r"\b\d+(?:\.\d+)?\s?%"),
    "denials": re.compile(r"\b(?:denies|no|not|without|negative for)\s+\w+", re.IGNORECASE),
    "allergies": re.compile(r"\ballerg\w+", re.IGNORECASE),
    "figures": re.compile(r"\b\d+(?:[.,/-]\d+)*\b"),
    "orders": re.compile(
        r"\b(?:order(?:ed)?|prescribe[d]?|refer(?:ral|red)?|follow[- ]?up|recheck|repeat|increase|decrease|continue|start|schedule)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
_CAPITALS = re.compile(r"^[A-Z][A-Z /&,\-]+:?[ \t]*$", re.MULTILINE)
_PUBLISHED = {
    "source": "ACI-Bench (Yim and others, Scientific Data 2023), table 6: test 1, dialogue to whole note",
    "transcript copied": {"rouge1": 32.84, "rouge2": 12.53, "rougeL": 30.61, "MEDCON": 55.65},
    "GPT-4": {"rouge1": 51.76, "rouge2": 22.58, "rougeL": 45.97, "MEDCON": 57.78},
    "BART fine-tuned on SAMSum, by division": {
        "rouge1": 53.46,
        "rouge2": 25.08,
        "rougeL": 48.62,
        "MEDCON": 48.23,
    },
    "note": (
        "Published figures are of other notes (the test set) and of another task: from the dialogue. "
        "They stand beside ours for scale; their ROUGE-L is by sentences. MEDCON is not computed here, "
        "and never says enough alone: copying the transcript scores nearly as much as the best model."
    ),
}


def run(
    data: Path, *, compare: bool = False, tell: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """All figures, each with its n.

    Args:
        data: The measuring data.
        compare: Put medspaCy's sectionizer beside ours.
        tell: Hears of progress.
    """
    say = tell or (lambda _line: None)
    say("sections")
    sections = run_sections(data, compare=compare)
    say("extractive summaries")
    return {
        "sections": sections,
        "extractive": {
            name: _extractive(list(_rows(data / f"notes/aci_bench/{name}.csv")))
            for name in ("valid", "train")
        },
        "rouge": _rouge_table(list(_rows(data / "notes/aci_bench/valid.csv"))),
        "published": _PUBLISHED,
    }


def _rows(path: Path) -> Iterator[Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {name: text.replace("\r\n", "\n") for name, text in row.items()}


def _note(text: str) -> Note:
    source = Source(id=SourceId("note"), revision=1, kind="note", title="note")
    return Note(StoredNote(source=source, text=text))


Item = Statement | Recommendation


def _extractive(rows: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    items = cited = verbatim = 0
    found: Counter[str] = Counter()
    covered: Counter[str] = Counter()
    characters = held = 0
    evaluated: Counter[str] = Counter()
    said: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    duplicates: list[int] = []
    start = time.perf_counter()
    made = [(row["note"], *_summarised(row["note"])) for row in rows]
    seconds = time.perf_counter() - start
    for text, note, summary, plan in made:
        everything: list[Item] = [*summary, *plan]
        items += len(everything)
        for one in everything:
            places = note.by_id.get(one.source.rsplit(" section, ", 1)[1].split(":")[0])
            cited += bool(places and places.start <= one.start < one.end <= places.end)
            verbatim += " ".join(text[one.start : one.end].split()) == one.text
        inside = bytearray(len(text))
        for one in everything:
            inside[one.start : one.end] = b"\1" * (one.end - one.start)
        titles = bytearray(len(text))
        for heading in _CAPITALS.finditer(text):
            titles[heading.start() : heading.end()] = b"\1" * (heading.end() - heading.start())
        for name, pattern in _FACTS.items():
            for match in pattern.finditer(text):
                if titles[match.start()]:
                    continue
                found[name] += 1
                covered[name] += all(inside[match.start() : match.end()])
        body = [at for at, char in enumerate(text) if char.isalnum() and not titles[at]]
        characters += len(body)
        held += sum(inside[at] for at in body)
        duplicates.append(len(everything) - len({one.text.lower() for one in everything}))
        _evaluate(text, note, summary, plan, evaluated, said, errors)
    n = len(rows)
    return {
        "n_notes": n,
        "n_items": items,
        "items_cited": cited,
        "items_verbatim": verbatim,
        "facts_by_plain_patterns": {
            name: {
                "found": found[name],
                "covered": covered[name],
                "share": _share(covered[name], found[name]),
            }
            for name in _FACTS
        },
        "facts_by_the_evaluator": {
            name: {
                "found": evaluated[name],
                "covered": said[name],
                "share": _share(said[name], evaluated[name]),
            }
            for name in sorted(evaluated)
        },
        "evaluator_errors": dict(errors),
        "characters_of_the_body_covered": _share(held, characters),
        "items_said_twice": sum(duplicates),
        "ms_a_note": round(1000 * seconds / n, 1) if n else None,
    }


def _summarised(text: str) -> tuple[Note, Sequence[Statement], Sequence[Recommendation]]:
    note = _note(text)
    summary, plan = extract(note)
    return note, summary, plan


def _evaluate(
    text: str,
    note: Note,
    summary: Sequence[Statement],
    plan: Sequence[Recommendation],
    found: Counter[str],
    said: Counter[str],
    errors: Counter[str],
) -> None:
    report = evaluate_note(
        {"summary": summary_json(summary), "plan": plan_json(plan), "chunks": note.chunks_json()},
        note=text,
    ).to_dict()
    for name, row in report["completeness"].items():
        if isinstance(row, dict):
            found[name] += row["found"]
            said[name] += row["covered"]
    for name in ("section_mismatches", "span_errors", "bad_ids", "format_errors", "orphan_claims"):
        errors[name] += report[name]
    for name, tally in report["faithfulness"].items():
        errors[f"faithfulness: {name}"] += tally["wrong"]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


# ---- ROUGE --------------------------------------------------------------------------------------


_TOKEN = re.compile(r"[a-z0-9]+")


def rouge(said: str, gold: str) -> dict[str, float]:
    """ROUGE-1, -2 and -L as F1 over lower-case words and figures, without stemming.

    ROUGE-L is over the whole text as one sequence.
    """
    mine, theirs = _TOKEN.findall(said.lower()), _TOKEN.findall(gold.lower())
    figures = {f"rouge{n}": _f1_of(_grams(mine, n), _grams(theirs, n)) for n in (1, 2)}
    common = _longest_common(mine, theirs)
    figures["rougeL"] = _f1(common, len(mine), len(theirs))
    return figures


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def _f1_of(mine: Counter[tuple[str, ...]], theirs: Counter[tuple[str, ...]]) -> float:
    return _f1(sum((mine & theirs).values()), sum(mine.values()), sum(theirs.values()))


def _f1(common: int, mine: int, theirs: int) -> float:
    return 2 * common / (mine + theirs) if mine + theirs else 0.0


def _longest_common(left: Sequence[str], right: Sequence[str]) -> int:
    row = [0] * (len(right) + 1)
    for word in left:
        before = 0
        for at, other in enumerate(right, 1):
            keep = row[at]
            row[at] = before + 1 if word == other else max(row[at], row[at - 1])
            before = keep
    return row[-1]


def _rouge_table(rows: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    table: dict[str, list[dict[str, float]]] = {
        "transcript copied": [],
        "extracted from the transcript": [],
        "extracted from the note (the note is the gold too)": [],
        "note copied": [],
    }
    for row in rows:
        gold, talk = row["note"], row["dialogue"]
        table["transcript copied"].append(rouge(talk, gold))
        table["extracted from the transcript"].append(rouge(_words(talk), gold))
        table["extracted from the note (the note is the gold too)"].append(
            rouge(_words(gold), gold)
        )
        table["note copied"].append(rouge(gold, gold))
    return {
        "n_notes": len(rows),
        "gold": "the clinician's whole note",
        "figures": {
            name: {
                metric: round(100 * sum(one[metric] for one in scores) / len(scores), 2)
                for metric in ("rouge1", "rouge2", "rougeL")
            }
            for name, scores in table.items()
            if scores
        },
        "reading": (
            "The summary is of the note, so its own words come back: a high figure says that little "
            "is lost and nothing that it is a good summary. From the transcript no heading, speaker "
            "or tense helps the rules: without a model they sort what was said, and write no note."
        ),
    }


def _words(text: str) -> str:
    _, summary, plan = _summarised(text)
    return "\n".join([*(one.text for one in summary), *(one.text for one in plan)])
