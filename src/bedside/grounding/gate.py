"""The gate: text goes out in checked units, or not at all, and is never taken back (EN-G6). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from bedside.core.context import Assembly
from bedside.core.turn import Check, Citation, Claim, Delta, Draft, Finding, Quote, Verdict
from bedside.grounding.examine import Examined, Examiner, Unit
from bedside.grounding.guardrails.policy import Guardrails, Policy
from bedside.grounding.guardrails.texts import country, rules
from bedside.grounding.repair import BROKE_OFF, NOTHING, WITHHELD, lookup_notice, order
from bedside.grounding.shown import Shown
from bedside.grounding.units import cut

__all__ = ["AnswerGate", "Release", "gate_for"]

Release = Literal["plain", "sentence", "whole", "never"]

_WORD = re.compile(r"\w+(?:[.,/'’-]\w+)*")
_HEAD = re.compile(r"\s*(#{1,6})\s")
_FIGURE_END = re.compile(r"\d\.\Z")
_ROW = re.compile(r"\s*\|")
_ITEM = re.compile(r"\s*(?:[-*•]|\d+[.)])\s")
_LOW_LEVEL, _ROW_LEVEL = 9, 10


def gate_for(
    *,
    release: Release = "whole",
    assembly: Assembly | None = None,
    checks: Sequence[Check] = (),
    policy: Policy | None = None,
) -> AnswerGate:
    """The gate of one model call, or of a draft by rule.

    Args:
        release: "sentence" lets each unit (sentence, list item, table row) out after its checks;
            "whole" all of them at the end; "plain" as "sentence", "never" nothing at all.
        assembly: What the writer saw; `None` for a draft by rule without a prompt, whose own items
            are then numbered from 1.
        checks: Further checks. A `Guardrails` among them gives the policy. A plain check sees each
            unit on its own where units are released, and the whole draft at the end.
        policy: The policy where no `Guardrails` is given.
    """
    given = next((one.policy for one in checks if isinstance(one, Guardrails)), None)
    others = tuple(one for one in checks if not isinstance(one, Guardrails))
    return AnswerGate(release, assembly, others, given or policy or Policy())


class AnswerGate:
    """Implements `bedside.core.turn.Gate`. Used for one draft, once."""

    def __init__(
        self,
        release: Release,
        assembly: Assembly | None,
        checks: tuple[Check, ...],
        policy: Policy,
    ) -> None:
        self._release, self._assembly, self._checks, self._policy = (
            release,
            assembly,
            checks,
            policy,
        )
        self._examiner = Examiner(Shown.of(assembly, asked=policy.asked), policy)
        self._seen = 0  # characters of the draft that came in
        self._buffer, self._start = "", 0  # what is not yet cut into units, and where it begins
        self._quotes: list[Quote] = []
        self._released: list[str] = []
        self._size = 0
        self._gap = ""
        self._headings: list[tuple[int, Examined]] = []
        self._dropped_under = False
        self._list_ended = False
        self._questions = 0
        self._stopped = False
        self._claims: list[Claim] = []
        self._citations: list[Citation] = []
        self._removed: list[tuple[str, str]] = []
        self._findings: list[Finding] = []

    def admit(self, pieces: Sequence[str | Quote]) -> Sequence[Delta | Citation]:
        """Take pieces of the stream; give what may be shown by now."""
        for piece in pieces:
            if isinstance(piece, Quote):
                self._quotes.append(piece)
                piece = f"[{piece.n}]" if piece.at[1] > piece.at[0] else ""  # noqa: PLW2901
            self._buffer += piece
            self._seen += len(piece)
        if self._release in {"whole", "never"}:
            return ()
        return self._flush(final=False)

    def close(self, draft: Draft, *, last: bool) -> tuple[Verdict, Sequence[Delta | Citation]]:
        """End the answer.

        Args:
            draft: The whole draft; what was admitted before is its beginning.
            last: True where no repair may follow.

        Returns:
            The verdict, and what is still to be shown. Where the verdict asks for a repair,
            nothing more is shown and this gate is done.
        """
        if not draft.by.startswith("model"):
            self._begin_by_rule(draft)
        self._buffer += draft.text[self._seen :]
        known = len(self._quotes)
        self._quotes += [one for one in draft.quotes[known:] if one not in self._quotes]
        torn = self._tear() if draft.cut else ""
        barred = self._whole_checks(draft, last=last)
        out = list(self._flush(final=True, barred=barred))
        if torn:
            self._removed.append((torn, "broke_off"))
        text = "".join(self._released)
        repair = None if last else self._repair(draft)
        if repair is not None:
            return self._verdict("", draft, repair=repair), ()
        notice = self._notice(draft, text)
        if notice:
            joint = "\n\n" if text.strip() else ""
            self._released.append(joint + notice)
            out.append(Delta(text=joint + notice))
            text += joint + notice
        verdict = self._verdict(text, draft)
        return verdict, () if self._release == "never" else out

    def _tear(self) -> str:
        """Leave out and give what broke off in the middle of a sentence: its end might have turned it round."""
        *_, start = (0, *cut(self._buffer, final=False))
        rest = self._buffer[start:]
        ends = len(rest) + 1 in cut(rest + " A ", final=False) and not _FIGURE_END.search(rest)
        if ends:
            return ""
        self._buffer = self._buffer[:start]
        return rest.strip()

    def _begin_by_rule(self, draft: Draft) -> None:
        assembly = self._assembly
        shown = Shown.of(assembly, items=draft.items, asked=self._policy.asked)
        if assembly is None:
            for k, item in enumerate(draft.items, start=1):
                if item.span is not None:
                    shown.sources[k] = (item,)
        self._examiner = Examiner(shown, self._policy, trusted=True)

    def _flush(
        self, *, final: bool, barred: Sequence[tuple[int, int, str, str]] = ()
    ) -> Sequence[Delta | Citation]:
        out: list[Delta | Citation] = []
        last = 0
        for end in cut(self._buffer, final=final):
            ends = final and end == len(self._buffer)
            unit = self._unit(self._buffer[last:end], self._start + last, last=ends)
            out += self._take(unit, barred)
            last = end
        self._buffer = self._buffer[last:]
        self._start += last
        return out

    def _unit(self, text: str, start: int, *, last: bool) -> Unit:
        end = start + len(text) + last  # markup that broke off stands at the very end
        inside = tuple(
            one
            for one in self._quotes
            if (start <= one.at[0] < end) or (one.at[0] < start < one.at[1])
        )
        return Unit(text=text, start=start, quotes=inside)

    def _take(
        self, unit: Unit, barred: Sequence[tuple[int, int, str, str]]
    ) -> list[Delta | Citation]:
        if self._stopped:
            self._removed.append((unit.text.strip(), "withheld"))
            return []
        found = self._examiner.examine(unit)
        if found.kept:
            found = self._further(unit, found, barred)
        if found.kept and found.kind == "question" and "G9" in self._policy.ids:
            self._questions += 1
            if self._questions > self._policy.questions and not self._examiner.trusted:
                extra = Finding(id="G9", want="remove", detail="extra_question")
                found = replace(
                    found, kept=False, why="extra_question", findings=(*found.findings, extra)
                )
        if not found.kept:
            return self._drop(unit, found)
        if found.kind == "heading":
            return self._hold(found)
        return self._let_out(found)

    def _further(
        self, unit: Unit, found: Examined, barred: Sequence[tuple[int, int, str, str]]
    ) -> Examined:
        """Plain checks: of this unit where units go out alone, else what they said of the whole."""
        end = unit.start + len(unit.text)
        for start, stop, name, why in barred:
            if start < end and unit.start < stop:
                finding = Finding(id=name, want="remove", detail=why)
                return replace(found, kept=False, why=why, findings=(*found.findings, finding))
        if self._release in {"whole", "never"} or not self._checks:
            return found
        alone = Draft(
            text=unit.text,
            quotes=tuple(
                replace(one, at=(one.at[0] - unit.start, one.at[1] - unit.start))
                for one in unit.quotes
            ),
            by="model",
        )
        for check in self._checks:
            for finding in check(alone, self._empty()):
                act = finding.want if finding.want != "repair" else finding.otherwise
                if act in {"remove", "block"}:
                    why = finding.detail or finding.id
                    noted = replace(finding, want=act, at=None)
                    return replace(
                        found,
                        kept=False,
                        why=why,
                        findings=(*found.findings, noted),
                        stop=act == "block",
                    )
        return found

    def _empty(self) -> Assembly:
        if self._assembly is not None:
            return self._assembly
        return Assembly(
            messages=(),
            tokens=0,
            limit=0,
            layout="balanced",
            ledger=(),
            numbering={},
            shown=self._examiner.shown.sources,
            segments=(),
        )

    def _drop(self, unit: Unit, found: Examined) -> list[Delta | Citation]:
        self._findings += found.findings
        self._removed.append((unit.text.strip(), found.why))
        self._dropped_under = True
        trailing = unit.text[len(unit.text.rstrip()) :]
        if "\n" in trailing:
            self._gap = trailing
        self._list_ended = "\n\n" in trailing and _ITEM.match(unit.text) is not None
        self._stopped = self._stopped or found.stop
        return []

    def _hold(self, found: Examined) -> list[Delta | Citation]:
        """A heading waits for something under it; one without is not shown."""
        if _ROW.match(found.text):
            self._headings.append((_ROW_LEVEL, found))
            return []
        match = _HEAD.match(found.text)
        level = len(match[1]) if match else _LOW_LEVEL
        # Two lines that end with a colon, one right under the other, are a title and its part. Once
        # something under the last was removed, the next takes its place.
        beside = [row for row in self._headings if row[0] == level == _LOW_LEVEL]
        if self._dropped_under:
            beside = [] if self._list_ended else beside[:-1]
        above = [row for row in self._headings if row[0] < level]
        self._headings = [*above, *beside, (level, found)]
        self._dropped_under = self._list_ended = False
        return []

    def _let_out(self, found: Examined) -> list[Delta | Citation]:
        out: list[Delta | Citation] = []
        if found.kind != "heading":
            waiting, self._headings = self._headings, []
            if self._list_ended and not _ITEM.match(found.text):  # it stands under none of its own
                waiting = [row for row in waiting if row[0] != _LOW_LEVEL]
            self._list_ended = False
            for _, heading in waiting:
                out += self._let_out(heading)
        text = found.text
        if self._gap:
            if self._released and not self._released[-1].endswith("\n"):
                text = self._gap + text
            self._gap = ""
        lead = len(text) - len(text.lstrip()) if not found.cited else len(text) - len(found.text)
        start = self._size + len(text) - len(found.text)
        self._released.append(text)
        self._size += len(text)
        self._findings += found.findings
        out.append(Delta(text=text))
        numbers: list[int] = []
        for cite, begin, end in found.cited:
            if cite.n not in numbers:
                numbers.append(cite.n)
            citation = Citation(
                n=cite.n, span=cite.span, quote=cite.quote, at=(start + begin, start + end)
            )
            self._citations.append(citation)
            out.append(citation)
        if found.kind in {"claim", "absence"}:
            body = found.text.strip()
            first = start + found.text.index(body) if body else start + lead
            self._claims.append(
                Claim(
                    at=(first, first + len(body)),
                    basis=found.basis,
                    support=found.support,
                    severity=found.severity,
                    citations=tuple(numbers),
                )
            )
        return out

    def _whole_checks(self, draft: Draft, *, last: bool) -> list[tuple[int, int, str, str]]:
        """Run the plain checks on the whole draft; give the spans that they bar."""
        barred: list[tuple[int, int, str, str]] = []
        for check in self._checks:
            for finding in check(draft, self._empty()):
                act = finding.want
                if act == "repair" and last:
                    act = finding.otherwise
                late = finding.at is None or finding.at[0] < self._start
                if act in {"remove", "block"} and not (late and self._released):
                    start, end = finding.at or (0, len(draft.text))
                    if act == "block":
                        end = len(draft.text)
                    barred.append((start, end, finding.id, finding.detail or finding.id))
                else:
                    self._findings.append(
                        replace(finding, want="flag" if act in {"remove", "block"} else act)
                    )
        return barred

    def _repair(self, draft: Draft) -> str | None:
        """The order to mend the draft, where something had to go and nothing was shown yet."""
        wants = [one for one in self._findings if one.want == "repair"]
        if not draft.by.startswith("model") or not (self._removed or wants):
            return None
        return order(self._removed, [one.detail or one.id for one in wants], self._policy)

    def _notice(self, draft: Draft, text: str) -> str:
        if self._stopped:
            return WITHHELD
        if draft.text.strip() and not text.strip():
            return BROKE_OFF if all(why == "broke_off" for _, why in self._removed) else NOTHING
        if any(
            one.detail in {"dose_not_in_source", "interaction_not_in_source"}
            for one in self._findings
        ):
            return lookup_notice(country(self._policy.country))
        return ""

    def _verdict(self, text: str, draft: Draft, *, repair: str | None = None) -> Verdict:
        findings = [*self._findings, *self._on_whole(text, draft)]
        hit = {one.id for one in findings}
        findings += [
            Finding(id=rule.id, want="pass")
            for rule in rules()
            if rule.check and rule.id in self._policy.ids and rule.id not in hit
        ]
        if repair is not None:
            return Verdict(
                text="",
                removed=tuple(self._removed),
                findings=tuple(
                    replace(one, want="repair") if one.want in {"remove", "block"} else one
                    for one in findings
                ),
                repair=repair,
            )
        return Verdict(
            text=text,
            claims=tuple(self._claims),
            citations=tuple(self._citations),
            removed=tuple(self._removed),
            findings=tuple(findings),
        )

    def _on_whole(self, text: str, draft: Draft) -> list[Finding]:
        """What only the whole answer shows: length, one-sidedness, an unrecorded prompt."""
        found: list[Finding] = []
        ids, limit = self._policy.ids, self._policy.words
        if "G9" in ids and limit is not None:
            words = len(_WORD.findall(re.sub(r"\[\d{1,4}\]", "", text)))
            if words > limit:
                detail = f"{words} words; the limit is {limit}"
                found.append(Finding(id="G9", want="flag", detail=detail))
        if "G8" in ids:
            cited = {one.span.source.id for one in self._citations}
            if any(
                cited & set(group) and set(group) - cited for group in self._policy.contradictions
            ):
                found.append(Finding(id="G8", want="flag", detail="one side of a contradiction"))
        unrecorded = self._assembly is not None and not self._assembly.segments
        if "G10" in ids and unrecorded and draft.by.startswith("model"):
            found.append(Finding(id="G10", want="flag", detail="no prompt hash"))
        return found
