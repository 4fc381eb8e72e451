"""What the evaluator found, as values, JSON and a table. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bedside.core.value import value
from bedside.grounding.evaluate.citing import Place
from bedside.grounding.evaluate.facts import FACT_KINDS, Fact
from bedside.grounding.evaluate.finding import DIMENSIONS, Dimension, Finding, grave
from bedside.grounding.evaluate.items import GivenItem

__all__ = ["EvaluatedItem", "NoteEvaluation", "Tally"]


@value
class Tally:
    """How often a dimension was compared, and how often it differed."""

    checked: int
    wrong: int


@value
class EvaluatedItem:
    """One item with what was found.

    `places` are where its citation points, or, for an item without a citation, the sentences of the
    note that are most like it (`by` is "words" then, "citation" else, "" without any place).
    `share` is the part of its content words that stand there, in [0, 1].
    """

    item: GivenItem
    places: tuple[Place, ...]
    by: str
    findings: tuple[Finding, ...]
    share: float

    @property
    def ok(self) -> bool:
        """True where nothing is wrong but untidiness."""
        return not any(grave(one.kind) < 2 or one.kind == "format_error" for one in self.findings)  # noqa: PLR2004

    @property
    def rank(self) -> int:
        """0 where it could harm, 1 wrong, 2 untidy, 3 nothing found."""
        return min((grave(one.kind) for one in self.findings), default=3)


@value
class NoteEvaluation:
    """A summary and a plan, held against their note. The same input gives the same value.

    `citation_coverage` is the share of items whose citations all hold, in [0, 1]; `None` without
    items. `facts` are the note's own facts and whether an item says them. `chunks_from` is "file"
    or "note" (chunked anew). `problems` are parts of the file that could not be read, `warnings`
    what the reader should know.
    """

    note: str
    items: tuple[EvaluatedItem, ...]
    citation_coverage: float | None
    faithfulness: tuple[tuple[Dimension, Tally], ...]
    facts: tuple[tuple[Fact, bool], ...]
    chunks_from: str
    chunks: int
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def count(self, kind: str) -> int:
        """Findings of one kind."""
        return sum(one.kind == kind for row in self.items for one in row.findings)

    @property
    def section_mismatches(self) -> int:
        """Citations whose section title is unknown or not that of their chunk."""
        return self.count("section_mismatch")

    @property
    def span_errors(self) -> int:
        """Citations whose span is empty, outside, torn or beside the words."""
        return self.count("span_error")

    @property
    def bad_ids(self) -> int:
        """Citations of chunks that do not exist."""
        return self.count("bad_id")

    @property
    def format_errors(self) -> int:
        """Sources that are no citation and no quote."""
        return self.count("format_error")

    @property
    def orphan_claims(self) -> int:
        """Items without any source."""
        return self.count("orphan_claim")

    @property
    def wrong(self) -> tuple[EvaluatedItem, ...]:
        """Items with a finding that counts, gravest first, then in order."""
        return tuple(sorted((one for one in self.items if not one.ok), key=lambda one: one.rank))

    @property
    def ok(self) -> bool:
        """True where every item is cited and holds; says nothing of completeness."""
        return bool(self.items) and not self.wrong and not self.problems

    def completeness(self) -> dict[str, Any]:
        """For each kind of fact: `found` in the note, `covered` by an item, `missing` with spans."""
        out: dict[str, Any] = {}
        for kind in FACT_KINDS:
            rows = [(fact, said) for fact, said in self.facts if fact.kind == kind]
            out[kind] = {
                "found": len(rows),
                "covered": sum(said for _, said in rows),
                "missing": [
                    {"text": fact.text, "start": fact.start, "end": fact.end}
                    for fact, said in rows
                    if not said
                ],
            }
        total, said = len(self.facts), sum(row[1] for row in self.facts)
        out["share"] = round(said / total, 4) if total else None
        return out

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON."""
        return {
            "citation_coverage": self.citation_coverage,
            "section_mismatches": self.section_mismatches,
            "span_errors": self.span_errors,
            "bad_ids": self.bad_ids,
            "format_errors": self.format_errors,
            "orphan_claims": self.orphan_claims,
            "faithfulness": {
                name: {"checked": tally.checked, "wrong": tally.wrong}
                for name, tally in self.faithfulness
            },
            "completeness": self.completeness(),
            "duplication": self.count("duplicate"),
            "n_items": len(self.items),
            "n_wrong": len(self.wrong),
            "chunks": {"from": self.chunks_from, "n": self.chunks},
            "problems": list(self.problems),
            "warnings": list(self.warnings),
            "items": [self._item(index, one) for index, one in enumerate(self.items)],
        }

    def _item(self, index: int, one: EvaluatedItem) -> dict[str, Any]:
        return {
            "index": index,
            "part": one.item.part,
            "section": one.item.section,
            "where": one.item.where,
            "text": one.item.text,
            "source": one.item.source,
            "ok": one.ok,
            "located_by": one.by or None,
            "share": one.share,
            "citations": [
                {
                    "section": place.section,
                    "chunk": place.chunk or None,
                    "start": place.start,
                    "end": place.end,
                    "quote": self.note[place.start : place.end],
                }
                for place in one.places
            ],
            "findings": [
                {"kind": f.kind, "detail": f.detail, "said": f.said, "written": f.written}
                for f in one.findings
            ],
        }

    def to_json(self) -> str:
        """`to_dict` as text: the same bytes on every run."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, default=str) + "\n"

    def table(self) -> str:
        """A plain-text table: the counts, then each wrong item with what is wrong."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        share = self.citation_coverage
        yield f"{'items':<22}{len(self.items):>7}"
        yield f"{'citation coverage':<22}{'n/a' if share is None else f'{share:.1%}':>7}"
        for name in (
            "section_mismatches",
            "span_errors",
            "bad_ids",
            "format_errors",
            "orphan_claims",
        ):
            yield f"{name.replace('_', ' '):<22}{getattr(self, name):>7}"
        yield f"{'duplicates':<22}{self.count('duplicate'):>7}"
        yield ""
        yield f"{'faithfulness':<22}{'checked':>8}{'wrong':>7}"
        for name, tally in self.faithfulness:
            yield f"  {name:<20}{tally.checked:>8}{tally.wrong:>7}"
        yield ""
        full = self.completeness()
        yield f"{'completeness':<22}{'found':>8}{'said':>7}"
        for kind in FACT_KINDS:
            yield f"  {kind:<20}{full[kind]['found']:>8}{full[kind]['covered']:>7}"
        for one in (*self.warnings, *self.problems):
            yield f"! {one}"
        for one in self.wrong:
            yield ""
            yield f"{one.item.where or one.item.part}: {one.item.text}"
            for finding in one.findings:
                said = (
                    f" [{finding.said}]" if finding.said and finding.said != one.item.text else ""
                )
                instead = f" (note: {finding.written})" if finding.written else ""
                yield f"  - {finding.kind}: {finding.detail}{said}{instead}"

    def html(self) -> str:
        """The report as one self-contained page."""
        from bedside.grounding.evaluate.report import page

        return page(self)

    def to_html(self, path: str | Path) -> Path:
        """Write the report to `path`; give the path back."""
        target = Path(path)
        target.write_text(self.html(), encoding="utf-8")
        return target


def tallies(
    checked: dict[Dimension, int], wrong: dict[Dimension, int]
) -> tuple[tuple[Dimension, Tally], ...]:
    """One tally for each dimension, in order."""
    return tuple((name, Tally(checked=checked[name], wrong=wrong[name])) for name in DIMENSIONS)
