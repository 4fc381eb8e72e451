"""One unit of an answer, judged: its citations, its support, its voice. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from bedside.core.turn import Basis, Finding, Quote, Severity
from bedside.core.value import value
from bedside.grounding.absence import Passage, contradicted, missing
from bedside.grounding.claims import basis_of, classify, severity_of
from bedside.grounding.guardrails.policy import Policy
from bedside.grounding.guardrails.texts import country
from bedside.grounding.leaks import Instructions, active_content
from bedside.grounding.numerals import spelled
from bedside.grounding.phi import identifiers, names_in
from bedside.grounding.prose import BROKEN
from bedside.grounding.recompute import recomputed
from bedside.grounding.shown import Found, Refused, Shown
from bedside.grounding.support import Judgement, judge
from bedside.grounding.terms import POINTING, drugs, stems
from bedside.grounding.voice import diagnoses, out_of_scope, overclaims, prescribes

__all__ = ["Examined", "Examiner", "Unit"]

_MARKER = re.compile(r"[ \t]*\[(\d{1,4})\]")
_NEARLY = re.compile(
    r"[ \t]*(?:\[\d{1,4}(?:\s*[-–,;]\s*\d{1,4})*\]|【[^】\n]{0,60}】|\[\^\d{1,4}\]|"
    r"\[(?:source|ref|citation)s?[^\]\n]{0,30}\])",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NO_KNOWN = re.compile(
    r"\b(?:no known (?:drug |medication |food )?allerg|nkda\b|nka\b|not allergic|no (?:drug |medication )?allergies\b"
    r"(?!\s+(?:is |are |was |were |has been |have been )?(?:recorded|documented|found|listed|on file|mentioned|in the record)))",
    re.IGNORECASE,
)
_INTERACTS = re.compile(
    r"\b(?:interact\w*|potentiat\w*|antagoni[sz]e\w*|co-?administ\w*|combin\w+ with)\b",
    re.IGNORECASE,
)
_OF_TWO = re.compile(
    _INTERACTS.pattern
    + r"|\b(?:avoid\w*|risk\w*|caution\w*|monitor\w*|toxic\w*|levels?|concentrations?|increas\w+|rais\w+|reduc\w+|"
    r"contraindicat\w*|together|with)\b",
    re.IGNORECASE,
)
"""A passage that says something of two medicines; a list that holds both does not."""
_AGREE = re.compile(
    r"\b(?:both|all|each)\s+(?:of\s+)?(?:the\s+|these\s+)?(?:lists?|sources?|documents?|letters?|records?|entries|"
    r"notes?|reports?)\b|\b(?:lists|sources|documents|letters|records|entries|notes|reports|they)\s+(?:all\s+|both\s+)?agree\b",
    re.IGNORECASE,
)
_HALVES = re.compile(r";\s+|,?\s+(?:and|but|while|whereas|although|though)\s+", re.IGNORECASE)
_LEANS = re.compile(r"(?:if|when|where|unless|because|as|it|this|that|which|they)\b", re.IGNORECASE)
_AND_MORE = re.compile(r"\band \d+ (?:more|others?|earlier ones)\b")
_AFTER_MARKER = frozenset(("", ".", ",", ";", ":", " ", "\n", "[", ")"))
_HARD_STOP = frozenset({"system_prompt", "other_patient"})
_GUARD_OF: dict[str, str] = {
    "figure_not_in_source": "G2",
    "unit_mismatch": "G2",
    "date_not_in_source": "G2",
    "dose_not_in_source": "G13",
    "interaction_not_in_source": "G13",
    "out_of_scope": "G4",
    "prescribing": "G6",
    "diagnosing": "G6",
    "system_prompt": "G7",
    "other_patient": "G7",
    "unknown_identifier": "G7",
    "active_content": "G7",
    "extra_question": "G9",
}


@value
class Unit:
    """A piece of a draft at `[start, start + len(text))`; `quotes` are those that stand in it."""

    text: str
    start: int
    quotes: tuple[Quote, ...] = ()


@value
class Examined:
    """What became of a unit.

    `text` is what may be shown (without markers that did not hold), `why` the reason where it may
    not. `cited` are its resolved citations with the end of their marker in `text`. `stop` is True
    where nothing more may follow.
    """

    kept: bool
    text: str
    kind: str
    why: str = ""
    basis: Basis = "inference"
    support: Literal["full", "partial", "none"] = "none"
    severity: Severity = "info"
    cited: tuple[tuple[Found, int, int], ...] = ()
    findings: tuple[Finding, ...] = ()
    stop: bool = False


class Examiner:
    """Judges units against what was shown. `trusted` is True for drafts by our own rules."""

    def __init__(self, shown: Shown, policy: Policy, *, trusted: bool = False) -> None:
        self.shown, self.policy, self.trusted = shown, policy, trusted
        self._read = shown.read
        self._instructions = Instructions(
            shown.ours,
            shown=[*shown.bodies, shown.asked, policy.asked],
            canaries=policy.canaries,
        )
        self._pool: str | None = None
        self._passages: list[Passage] | None = None
        self._names: set[str] | None = None
        self._references = frozenset(
            term.key for name in country(policy.country).references for term in stems(name)
        )
        self.asked = policy.asked or shown.asked

    def examine(self, unit: Unit) -> Examined:
        """Judge one unit."""
        why = self._output(unit.text)
        if why:
            return self._removed(unit.text, "claim", why)
        if self.policy.cite == "off":
            return self._own_voice(unit)
        bare = _NEARLY.sub("", unit.text)
        sentence = classify(bare, allowed=self._references, read=self._read)
        text, cited, refused = self._citations(unit, sentence.text)
        findings = [Finding(id="G1", want="remove", detail=one.why) for one in refused]
        said = _MARKER.sub("", text)
        if _NO_KNOWN.search(said) and not cited:
            return self._removed(unit.text, "claim", "uncited", findings)
        kind = "claim" if sentence.kind in {"absence", "talk"} and cited else sentence.kind
        voice = self._voice(said, cited)
        if voice:
            return self._removed(unit.text, kind, voice, findings)
        if (
            kind == "claim"
            and not self.trusted
            and missing(said)
            and self._present(said)
            and not self._denied_there(said, cited)
        ):
            return self._removed(unit.text, kind, "contradicts_source", findings)
        if kind == "claim":
            return self._claim(unit, text, said, cited, refused, findings)
        return self._other(unit, text, said, kind, cited, findings)

    def _output(self, text: str) -> str:
        """What may never come out, whatever it rests on."""
        if active_content(text):
            return "active_content"
        if "G7" not in self.policy.ids or self.trusted:
            return ""
        if self._instructions.leaked(text):
            return "system_prompt"
        strangers = names_in(text, self.policy.others) if self.policy.others else set[str]()
        if strangers and not strangers <= self._known_names():
            return "other_patient"
        if any(one.key not in self.shown.keys for one in identifiers(text)):
            return "unknown_identifier"
        return ""

    def _known_names(self) -> set[str]:
        """Names of others that this patient's own sources hold (a clinician, a namesake)."""
        if self._names is None:
            seen = "\n".join([*self.shown.bodies, self.asked])
            self._names = names_in(seen, self.policy.others)
        return self._names

    def _own_voice(self, unit: Unit) -> Examined:
        why = self._voice(unit.text, ())
        if why:
            return self._removed(unit.text, "claim", why)
        return Examined(kept=True, text=unit.text, kind="talk")

    def _voice(self, said: str, cited: Sequence[tuple[Found, int, int]]) -> str:
        if self.trusted:
            return ""
        ids = self.policy.ids
        if "G4" in ids and out_of_scope(said):
            return "out_of_scope"
        if "G6" in ids:
            quoted = any(_repeats(said, found) for found, _, _ in cited)
            if prescribes(said) and not quoted:
                return "prescribing"
            if diagnoses(said) and not quoted:
                return "diagnosing"
        return ""

    def _citations(
        self, unit: Unit, claim: str
    ) -> tuple[str, tuple[tuple[Found, int, int], ...], list[Refused]]:
        """Resolve the unit's quotes; drop the markers that do not hold.

        Returns:
            The text with good markers only, (citation, start, end of what it covers in that
            text), and the refusals.
        """
        text = unit.text
        spans, loose = self._spans(unit)
        refused: list[Refused] = []
        cited: list[tuple[Found, int, int]] = []
        out = text[: len(text) - len(text.lstrip())]
        last = clause = len(out)
        closed = False
        for start, end, quote in spans:
            between = text[last:start]
            if closed and between.strip():
                clause = len(out) + len(between) - len(between.lstrip())
                closed = False
            said = _MARKER.sub("", out[clause:] + between).strip()
            told = self._read(said)
            alone = bool(told.quantities or told.named)  # else a mere "and in the letter [2]"
            found = self.shown.resolve(quote, claim=said if alone else claim)
            parts = self._apart(quote, found, said) if alone else ()
            if parts:
                out += between + text[start:end]
                at = clause
                for part, of_part in parts:
                    at = out.index(part, at) + len(part)
                    cited.append((of_part, at - len(part), at))
                closed = True
            elif isinstance(found, Refused):
                refused.append(found)
                loose_end = text[end : end + 1] in _AFTER_MARKER
                out += between.rstrip(" \t") if loose_end else between
            else:
                out += between + text[start:end]
                cited.append((found, clause, len(out)))
                closed = True
            last = end
        out += text[last:]
        for quote in loose:
            found = self.shown.resolve(quote, claim=claim)
            if isinstance(found, Refused):
                refused.append(found)
            else:
                cited.append((found, len(out) - len(out.lstrip()), len(out.rstrip())))
        return out, tuple(cited), refused

    def _apart(
        self, quote: Quote, found: Found | Refused, said: str
    ) -> tuple[tuple[str, Found], ...]:
        """The halves of a sentence under one bare marker, each with its own passage.

        Empty where one passage holds the whole, where a half tells nothing that can be checked,
        leans on the other ("if ... and", "and it caused") or stands in no passage, or where what is
        denied reaches into the next half.
        """
        if quote.text or isinstance(found, Refused) or found.level != "none":
            return ()
        cuts = [
            one
            for one in _HALVES.finditer(said)
            if not any(
                scope.kind == "negated" and scope.start < one.end() and one.start() < scope.end
                for scope in self._read(said).scopes
            )
        ]
        bounds = [0, *(edge for one in cuts for edge in one.span()), len(said)]
        parts = [said[a:b].strip() for a, b in zip(bounds[::2], bounds[1::2], strict=True)]
        if len(parts) < 2 or any(_LEANS.match(part) for part in parts):  # noqa: PLR2004
            return ()
        out: list[tuple[str, Found]] = []
        for part in parts:
            told = self._read(part)
            placed = self.shown.resolve(quote, claim=part)
            checkable = told.quantities or told.named or told.scopes
            if not checkable or isinstance(placed, Refused) or placed.level in {"", "none"}:
                return ()
            out.append((part, placed))
        return tuple(out)

    def _spans(self, unit: Unit) -> tuple[list[tuple[int, int, Quote]], list[Quote]]:
        """The markers of a unit with their quotes, in order, and the quotes without a marker."""
        free = list(unit.quotes)
        spans: list[tuple[int, int, Quote]] = []
        for match in _NEARLY.finditer(unit.text):
            start = match.end() - len(match.group().strip(" \t"))
            at = (start + unit.start, match.end() + unit.start)
            plain = _MARKER.fullmatch(match.group())
            if plain is None:
                if not self._range(match.group()):
                    spans.append((start, match.end(), Quote(n=BROKEN, text="", at=at)))
                continue
            n = int(plain[1])
            mate = next((one for one in free if one.at == at and one.n == n), None) or next(
                (one for one in free if one.n == n and one.at[1] - one.at[0] != at[1] - at[0]), None
            )
            if mate is not None:
                free.remove(mate)
            spans.append((start, match.end(), mate or Quote(n=n, text="", at=at)))
        return spans, free

    def _range(self, text: str) -> bool:
        """Is "[2-8]" a range of values rather than of citations: does it stand in a source?"""
        inner = text.strip()[1:-1]
        return "-" in inner and any(inner in body for body in self.shown.bodies)

    def _claim(
        self,
        unit: Unit,
        text: str,
        said: str,
        cited: tuple[tuple[Found, int, int], ...],
        refused: Sequence[Refused],
        findings: list[Finding],
    ) -> Examined:
        if not cited:
            if self.trusted:
                return self._by_rule(unit, text, said, findings)
            why = refused[0].why if refused else "uncited"
            return self._removed(unit.text, "claim", why, findings)
        if self.trusted:
            said = _AND_MORE.sub("and more", said)  # what our own lists leave out, counted by them
            judged = self._judge(_AND_MORE.sub(_blanked, text), said, cited)
        else:
            judged = self._judge(text, said, cited)
        if judged.level == "none" and self.trusted and judged.why.endswith("_not_in_source"):
            evidence = [found.evidence for found, _, _ in cited]
            rest = recomputed(said, evidence, self.shown.computed)
            if rest:
                judged = Judgement(level="partial", share=judged.share)
        if judged.level == "none" and self.trusted and judged.why == "no_support":
            judged = Judgement(level="partial", share=judged.share)
        if judged.level == "none":
            return self._removed(unit.text, "claim", judged.why, findings)
        if "G13" in self.policy.ids and self._unsourced_interaction(said, cited):
            return self._removed(unit.text, "claim", "interaction_not_in_source", findings)
        if "G5" in self.policy.ids and overclaims(said):
            findings.append(Finding(id="G5", want="flag", detail="overclaims"))
        if judged.level == "partial" and not self.trusted:
            findings.append(Finding(id="G1", want="flag", detail="partial_support"))
        basis = basis_of(said, [found.evidence.kind for found, _, _ in cited])
        support = (
            "partial"
            if basis == "inference" and judged.level == "full" and not self.trusted
            else judged.level
        )
        return Examined(
            kept=True,
            text=text,
            kind="claim",
            basis=basis,
            support=support,
            severity=severity_of(self._read(said)),
            cited=cited,
            findings=tuple(findings),
        )

    def _judge(self, text: str, said: str, cited: tuple[tuple[Found, int, int], ...]) -> Judgement:
        """Each clause against its own citations; content also against all of them together."""
        everything = [found.evidence for found, _, _ in cited]
        infers = basis_of(said, [one.kind for one in everything]) == "inference"
        together = judge(
            said,
            everything,
            computed=self.shown.computed,
            asked=self.asked,
            inference=infers,
            read=self._read,
        )
        if len(everything) > 1 and _AGREE.search(said):
            for one in everything:  # "both lists give 25 mg": each of them must
                alone = judge(said, [one], computed=self.shown.computed, asked=self.asked)
                if alone.level == "none" and alone.why != "no_support":
                    return alone
        clauses = _clauses(text, cited)
        if len(clauses) < 2:  # noqa: PLR2004 - one clause is the whole
            return together
        carried = ""
        for clause, own in clauses:
            numbers = {found.n for found in own}
            evidence = [
                found.evidence
                for found, _, _ in cited
                if found in own or (found.n in numbers and not found.level)
            ]
            told = self._read(clause)
            points = bool(carried) and told.keys <= POINTING and not told.digits
            one = judge(
                carried if points else clause,  # "and in the chart [6]": the same is said of it
                evidence,
                carried="" if points else carried,
                computed=self.shown.computed,
                asked=self.asked,
                read=self._read,
            )
            if one.level == "none" and one.why != "no_support":
                return one
            carried = f"{carried} {clause}".strip()
        if together.level == "none" and together.why not in {"no_support", "course_mismatch"}:
            # Together a negation elsewhere can mislead; the clauses were judged one by one.
            return Judgement(level="partial", share=together.share)
        return together

    def _by_rule(self, unit: Unit, text: str, said: str, findings: list[Finding]) -> Examined:
        """A sentence of our own writers without a citation: its figures must stand in the context."""
        wrong = self._stray(said)
        if wrong and not recomputed(said, [], self.shown.computed, counts=len(self.shown.sources)):
            return self._removed(unit.text, "claim", wrong, findings)
        return Examined(
            kept=True,
            text=text,
            kind="claim",
            basis="inference",
            support="partial",
            severity=severity_of(self._read(said)),
            findings=tuple(findings),
        )

    def _other(
        self,
        unit: Unit,
        text: str,
        said: str,
        kind: str,
        cited: tuple[tuple[Found, int, int], ...],
        findings: list[Finding],
    ) -> Examined:
        """Questions, headings, talk and statements of absence."""
        if kind in {"question", "heading", "absence"} and "G2" in self.policy.ids:
            wrong = self._stray(said)
            if wrong and not (
                self.trusted
                and recomputed(said, [], self.shown.computed, counts=len(self.shown.sources))
            ):
                return self._removed(unit.text, kind, wrong, findings)
        if kind == "absence":
            if not self.trusted and self._present(said):
                return self._removed(unit.text, kind, "contradicts_source", findings)
            return Examined(
                kept=True,
                text=text,
                kind=kind,
                basis="record" if self.policy.patient else "guideline",
                support="full" if self.trusted else "partial",
                severity=severity_of(self._read(said)),
                cited=cited,
                findings=tuple(findings),
            )
        return Examined(kept=True, text=text, kind=kind, cited=cited, findings=tuple(findings))

    def _stray(self, said: str) -> str:
        """The reason if a figure of an uncited sentence stands nowhere in the context."""
        for one in self._read(said).quantities:
            if any(not self._stands(figure) for figure in one.figure if figure is not None):
                return "figure_not_in_source"
        return ""

    def _stands(self, figure: str) -> bool:
        """Do these digits stand anywhere in what the writer saw, whole?"""
        if self._pool is None:
            seen = "\n".join([*self.shown.bodies, self.asked, *self.shown.context])
            self._pool = _THOUSANDS.sub("", seen)
        if re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d|\.\d)", self._pool) is not None:
            return True
        word = spelled(figure)
        return bool(word) and re.search(rf"\b{word}\b", self._pool, re.IGNORECASE) is not None

    def _present(self, said: str) -> bool:
        """Does a source about the patient hold what the sentence says is not recorded?"""
        if self._passages is None:
            self._passages = [
                Passage(
                    text=passage,
                    section=(item.span.source.section or "") if item.span else "",
                    dated=item.dated or (item.span.source.dated if item.span else None),
                )
                for item, passage in self.shown.passages()
            ]
        return contradicted(self._read(said), self._passages, self._read) != ""

    def _denied_there(self, said: str, cited: tuple[tuple[Found, int, int], ...]) -> bool:
        """Does a cited passage itself say that the thing is missing or absent?"""
        wanted = {key for one in missing(said) for key in self._read(one.text).keys}
        for found, _, _ in cited:
            context = self._read(found.evidence.context)
            gone = {key for one in missing(context.text) for key in self._read(one.text).keys}
            negated = {
                term.key
                for term in context.words
                for scope in context.scopes
                if scope.kind == "negated" and scope.start <= term.start < scope.end
            }
            if wanted & (gone | negated):
                return True
        return False

    def _unsourced_interaction(self, said: str, cited: tuple[tuple[Found, int, int], ...]) -> bool:
        if not _INTERACTS.search(said):
            return False
        pair = {one.key for one in self._read(said).drugs}
        if len(pair) < 2:  # noqa: PLR2004 - an interaction needs two
            return False
        return not any(
            pair <= {one.key for one in drugs(f"{f.evidence.heading} {f.evidence.context}")}
            and _OF_TWO.search(f.evidence.context)
            for f, _, _ in cited
        )

    def _removed(
        self,
        text: str,
        kind: str,
        why: str,
        findings: Sequence[Finding] = (),
    ) -> Examined:
        stop = why in _HARD_STOP
        finding = Finding(
            id=_GUARD_OF.get(why, "G1"), want="block" if stop else "remove", detail=why
        )
        return Examined(
            kept=False,
            text=text,
            kind=kind,
            why=why,
            findings=(*findings, finding),
            stop=stop,
            severity="info" if stop else severity_of(self._read(text)),
        )


def _blanked(match: re.Match[str]) -> str:
    """The same length without its figure, so that offsets hold."""
    return "and more".ljust(len(match.group()))


def _repeats(said: str, found: Found) -> bool:
    """Does a cited guideline or record hold the same order, word for word?"""
    mine = [word for word in re.findall(r"\w+", said.lower()) if len(word) > 2]  # noqa: PLR2004
    theirs = set(re.findall(r"\w+", found.evidence.context.lower()))
    return bool(mine) and sum(word in theirs for word in mine) >= 0.8 * len(mine)


def _clauses(text: str, cited: tuple[tuple[Found, int, int], ...]) -> list[tuple[str, list[Found]]]:
    """The unit cut after each group of markers, with what they cite. The tail joins the last clause."""
    groups: dict[tuple[int, int], list[Found]] = {}
    for found, start, stop in cited:
        end = next((m.start() for m in _MARKER.finditer(text, start)), len(text))
        end = min(end, stop)
        groups.setdefault((start, end), []).append(found)
    clauses = [
        (_MARKER.sub("", text[start:end]).strip(), own)
        for (start, end), own in sorted(groups.items())
    ]
    if clauses:
        last = max(end for _, _, end in cited)
        tail = _MARKER.sub("", text[last:]).strip(" .;,")
        words, own = clauses[-1]
        clauses[-1] = (f"{words} {tail}".strip(), own)
    return [row for row in clauses if row[0]]
