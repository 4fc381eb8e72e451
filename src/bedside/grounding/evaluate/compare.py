"""An item's words against the words that it cites, dimension by dimension. Pure.

Two readings decide: what each side says (figures, medicines, sides, what is denied), and, where the
two are nearly the same words, exactly which words were changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from bedside.clinical.vocabulary import expand
from bedside.core.value import value
from bedside.grounding.doses import unsupported
from bedside.grounding.evaluate.finding import DIMENSIONS, Dimension, Finding
from bedside.grounding.evaluate.persons import GENERIC, is_relative, relatives, subject
from bedside.grounding.figures import Figures
from bedside.grounding.reading import Read
from bedside.grounding.terms import stem_of
from bedside.language.quantities import Quantity

__all__ = ["Comparison", "compare", "share"]

_ENOUGH = 0.5  # of the content words must stand in the cited words
_NEARLY = 0.6  # of the words in the same order: then single changed words are judged
_SURE = 0.5
_STEM = 5  # letters that two words share where they are of one root
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|%")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_NEGATES_WORDS = (
    "no not denies denied deny denying without never none negative absent nor neither cannot nil "
    "isn't wasn't aren't weren't doesn't didn't don't hasn't haven't hadn't can't couldn't nonsmoker"
)
_NEGATES = frozenset(_NEGATES_WORDS.split())
_FUNCTION_WORDS = (
    "a an any the of for to is are was were be been being has have had does do did he she they it "
    "patient there his her their evidence sign signs history known reports reported report endorses "
    "endorsed admits admitted notes noted states stated complains complained has positive present "
    "presents having experiencing experienced experiences confirms confirmed with and or"
)
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_DENIED = "the cited words deny this"
_NOT_DENIED = "the cited words do not deny this"
_OPPOSITES: dict[str, frozenset[str]] = {}
for _one, _other in (
    ("increase increases increased increasing raise raised", "decrease decreases decreased decreasing reduce reduced lower lowered"),
    ("elevated high raised", "low decreased reduced"),
    ("start starts started starting begin begun initiate initiated restart", "stop stops stopped stopping discontinue discontinued hold held"),
    ("continue continues continued", "stop stopped discontinue discontinued"),
    ("avoid avoids avoided", "take takes taking use uses using"),
    ("improved improving improves better", "worsened worsening worsens worse"),
    ("benign", "malignant"),
    ("acute", "chronic"),
    ("male man gentleman", "female woman lady"),
    ("reactive", "nonreactive"),
    ("symptomatic", "asymptomatic"),
    ("controlled", "uncontrolled"),
    ("stable", "unstable"),
    ("compliant adherent", "noncompliant nonadherent"),
    ("systolic", "diastolic"),
    ("abnormal", "normal unremarkable"),
    ("tachycardia", "bradycardia"),
    ("before", "after"),
    ("proximal", "distal"),
    ("medial", "lateral"),
    ("anterior", "posterior"),
    ("superior", "inferior"),
):  # fmt: skip
    for _word in _one.split():
        _OPPOSITES[_word] = _OPPOSITES.get(_word, frozenset()) | frozenset(_other.split())
    for _word in _other.split():
        _OPPOSITES[_word] = _OPPOSITES.get(_word, frozenset()) | frozenset(_one.split())
_ANATOMY_WORDS = (
    "left right bilateral upper lower extremity extremities arm leg knee hip shoulder ankle wrist elbow hand foot feet eye "
    "ear lung kidney breast side neck back chest abdomen head skin heart bowel base bases spine joint area region"
)
_ANATOMY = frozenset(stem_of(word) for word in _ANATOMY_WORDS.split())
_SELF = frozenset(("patient", "pt", "he", "she", "they"))
_SIDE = {
    "left": "left", "lt": "left", "right": "right", "rt": "right", "bilateral": "both",
    "bilaterally": "both", "both": "both", "leftward": "left", "rightward": "right",
}  # fmt: skip
_DAYS_WORDS = "monday tuesday wednesday thursday friday saturday sunday"
_DAYS = frozenset(_DAYS_WORDS.split())
_MONTHS_WORDS = (
    "january february march april june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MONTHS = frozenset(_MONTHS_WORDS.split())
_CLEAR = re.compile(
    r"\b(?:clear|normal\w*|afebrile|resolved|stopped|quit|ceased|discontinued|unremarkable|intact|benign|free|"
    r"non\w+|non-\w+|un\w+|in\w+ed|negative|stable|well|good|excellent|full|supple|soft|regular|healthy|former|ex|"
    r"prior|previous\w*|lacks?|lacking|fail\w*|refus\w+|declin\w+|avoid\w*|hold|held|less|rarely|only|off|"
    r"asymptomatic|anicteric|acyanotic|nondistended|abstinent|sober|allerg\w+|rather|instead|unable)\b",
    re.IGNORECASE,
)
_DRUGLIKE = re.compile(
    r"\b[a-z]{3,}(?:olol|pril|sartan|statin|azole|cillin|mycin|cycline|oxacin|prazole|tidine|dipine|"
    r"gliptin|gliflozin|glutide|xaban|parin|setron|triptan|zepam|zolam|azine|idone|oxetine|pram|"
    r"profen|oxicam|coxib|sone|solone|semide|thiazide|terol|tropium|lukast|mab|nib|vir|formin|"
    r"glitazone|phylline|barbital|codone|morphone)\b",
    re.IGNORECASE,
)


@value
class Comparison:
    """`findings` in the order of `DIMENSIONS`; `checked` counts what there was to compare in each.

    `share` is the part of the content words that the cited words hold, in [0, 1].
    """

    findings: tuple[Finding, ...]
    checked: tuple[tuple[Dimension, int], ...]
    share: float


def compare(
    said: Read, written: Read, *, heading: str = "", family_section: bool = False, own: bool = False
) -> Comparison:
    """Hold an item against what it cites.

    Args:
        said: The item.
        written: The cited words, grown to whole sentences.
        heading: The title of their section: its words count as content.
        family_section: Is that section about the family?
        own: Is the item listed among what is the patient's own (a problem, an assessment)?

    Returns:
        What differs. Words left out are no error; words that change the meaning are.
    """
    checked: dict[Dimension, int] = dict.fromkeys(DIMENSIONS, 0)
    found: list[Finding] = []
    same = said.text == written.text or said.text.split() == written.text.split()
    if not same:
        changed = _changed(said, written)
        found += _figures(said, written)
        found += _paired(said, written)
        found += _rhythms(said, written)
        found += _dates(said, written, changed)
        if not found:
            found += _exchanged(said, changed)
        found += _medicines(said, written, changed)
        found += _negation(said, written, changed)
        found += _opposite(said, written)
        found += _sides(said, written, changed)
        found += _swapped(changed)
    if not any(one.kind == "subject" for one in found):
        found += subject(said, written, family_section=family_section, own=own)
    part = 1.0 if same else share(said, written, heading)
    if part < _ENOUGH:
        found.append(
            Finding(
                kind="support", detail="too few of its words are in the cited words", said=said.text
            )
        )
    checked["numbers"] = len(said.quantities) + len(said.codes)
    checked["units"] = sum(1 for one in said.quantities if one.unit)
    checked["doses"] = sum(1 for one in said.quantities if said.drugs and one.unit) + len(
        said.frequencies
    )
    checked["dates"] = len(said.dates)
    checked["medicines"] = len(said.drugs)
    checked["negation"] = int(any(s.kind == "negated" for r in (said, written) for s in r.scopes))
    checked["laterality"] = len(said.sides)
    checked["subject"] = int(family_section or bool(relatives(said)) or bool(relatives(written)))
    checked["support"] = 1
    order = {name: index for index, name in enumerate(DIMENSIONS)}
    unique = {(one.kind, one.said, one.written): one for one in found}
    return Comparison(
        findings=tuple(sorted(unique.values(), key=lambda one: order.get(one.kind, len(order)))),
        checked=tuple(checked.items()),
        share=round(part, 3),
    )


# ---- which words were changed -------------------------------------------------------------------

Op = tuple[str, list[str], list[str], bool]


def _tokens(text: str) -> list[str]:
    return [match.group().lower() for match in _WORD.finditer(text)]


def _changed(said: Read, written: Read) -> list[Op] | None:
    """The changes from the written words to the said ones; `None` where they are not nearly alike.

    Each is (tag, said words, written words, is it inside: words that agree stand on both sides or
    it opens the text).
    """
    mine, theirs = _tokens(said.text), _tokens(written.text)
    if not mine or not theirs:
        return None
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    blocks = matcher.get_matching_blocks()
    if sum(block.size for block in blocks) < _NEARLY * len(mine):
        return None
    return [
        (tag, mine[i1:i2], theirs[j1:j2], i2 < len(mine))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


# ---- dimensions ---------------------------------------------------------------------------------


def _swapped(changed: list[Op] | None) -> Iterable[Finding]:
    """The patient in the very place where a relative was."""
    for _, mine, theirs, _ in changed or ():
        kin = [one for one in theirs if is_relative(one)]
        own = [one for one in mine if one in _SELF]
        if kin and own and not any(is_relative(one) for one in mine):
            yield Finding(
                kind="subject",
                detail="the cited words say this of a relative",
                said=" ".join(own),
                written=" ".join(kin),
            )
            return


def _figures(said: Read, written: Read) -> Iterable[Finding]:
    held = Figures([written])
    wrong: set[tuple[int, int]] = set()
    labels = {one.label for one in written.frequencies}
    for one in said.quantities:
        rhythm = next((f for f in said.frequencies if f.start <= one.start < f.end), None)
        if rhythm is not None and rhythm.label in labels:
            continue
        words = said.text[one.start : one.end]
        if said.text[one.end : one.end + 1] in {".", ")"} and _counter(words, written):
            continue
        if not held.figure(one):
            wrong.add((one.start, one.end))
            dose = bool(said.drugs) and one.unit != ""
            yield Finding(
                kind="doses" if dose else "numbers",
                detail="this figure is not in the cited words",
                said=words,
                written=_same_unit(one, written),
            )
        elif not held.unit(one):
            wrong.add((one.start, one.end))
            near = next((w for w in written.quantities if w.figure == one.figure), None)
            yield Finding(
                kind="units",
                detail="the cited words give another unit",
                said=words,
                written=written.text[near.start : near.end] if near else "",
            )
    yield from _stray(said, written)
    tests = {one.key for one in written.analytes}
    for code in said.codes:
        if any(a.start <= code.start < a.end and a.key in tests for a in said.analytes):
            continue  # another name of the same test
        name = said.text[code.start : code.end]
        plain = written.text.lower().replace("-", "")
        if not held.name(code.key) and code.key not in plain and not _meant(name, written):
            yield Finding(
                kind="numbers",
                detail="this name with its digits is not in the cited words",
                said=said.text[code.start : code.end],
            )
    if not wrong and said.drugs:
        known = {one.key for one in written.drugs}
        for dose in unsupported(said, [written]):
            if dose.drug and dose.drug not in known:
                continue
            yield Finding(
                kind="doses",
                detail="the cited words do not give this medicine, number, unit and frequency together",
                said=said.text[dose.start : dose.end],
            )


def _exchanged(said: Read, changed: list[Op] | None) -> Iterable[Finding]:
    """A figure in the very place of another, though it stands elsewhere in the cited words."""
    for tag, mine, theirs, _ in changed or ():
        new = [one.replace(",", "").lstrip("0") for one in mine if one[0].isdigit()]
        old = [one.replace(",", "").lstrip("0") for one in theirs if one[0].isdigit()]
        if (
            tag == "replace"
            and len(mine) == len(theirs)
            and new
            and len(new) == len(old)
            and new != old
        ):
            dated = any(new[0] in said.text[one.start : one.end] for one in said.dates)
            yield Finding(
                kind="dates" if dated else "numbers",
                detail="the cited words have another figure in its place",
                said=" ".join(mine),
                written=" ".join(theirs),
            )
            return


def _same_unit(one: Quantity, written: Read) -> str:
    """The one figure of that unit in the cited words, "" where there is none or more than one."""
    found = {
        written.text[q.start : q.end]
        for q in written.quantities
        if q.unit == one.unit and q.joint == one.joint
    }
    return found.pop() if len(found) == 1 and one.unit else ""


def _counter(words: str, written: Read) -> bool:
    """Is the bare number a list's counter in the cited words?"""
    if not words.isdigit():
        return False
    return re.search(rf"(?m)^[ \t]*\(?{words}[.)](?=\s)", written.text) is not None


def _meant(name: str, written: Read) -> bool:
    """Do the cited words say in full what the name abbreviates ("T2DM")?"""
    return any(
        (words := Read(one.replacement).keys) and words <= written.keys for one in expand(name)
    )


def _paired(said: Read, written: Read) -> Iterable[Finding]:
    """A test with the figure of another test."""
    theirs = _results(written)
    if len(theirs) < 2:  # noqa: PLR2004 - there is nothing to mix up
        return
    for key, figures in _results(said).items():
        if key in theirs and figures and not figures & theirs[key]:
            yield Finding(
                kind="numbers",
                detail="in the cited words this figure belongs to another test",
                said=said.text,
                written=", ".join(sorted(theirs[key])),
            )


def _results(read: Read) -> dict[str, frozenset[str]]:
    """Each test with the figures between it and the next test."""
    found: dict[str, frozenset[str]] = {}
    for index, test in enumerate(read.analytes):
        end = read.analytes[index + 1].start if index + 1 < len(read.analytes) else len(read.text)
        figures = frozenset(str(q.low) for q in read.quantities if test.end <= q.start < end)
        if figures:
            found[test.key] = found.get(test.key, frozenset()) | figures
    return found


def _stray(said: Read, written: Read) -> Iterable[Finding]:
    """Digits that are no figure by their form ("#30") and stand nowhere in the cited words."""
    if not said.digits:
        return
    known = [*said.quantities, *said.dates, *said.frequencies, *said.codes]
    theirs: frozenset[str] | None = None
    for match in _DIGITS.finditer(said.text):
        if any(one.start <= match.start() < one.end for one in known):
            continue
        theirs = theirs or frozenset(_DIGITS.findall(written.text))
        if match.group() not in theirs:
            yield Finding(
                kind="numbers",
                detail="this figure is not in the cited words",
                said=said.text[max(0, match.start() - 1) : match.end()].strip(),
            )


def _rhythms(said: Read, written: Read) -> Iterable[Finding]:
    labels = {one.label for one in written.frequencies}
    daily = any(label.endswith("/day") for label in labels)
    for one in said.frequencies:
        if not labels or one.label in labels:
            continue
        if not one.label.startswith("1/day") or (daily and said.drugs):
            yield Finding(
                kind="doses",
                detail="the cited words give another frequency",
                said=said.text[one.start : one.end],
            )


def _dates(said: Read, written: Read, changed: list[Op] | None) -> Iterable[Finding]:
    for when in said.dates:
        if not any(when.agrees(one) for one in written.dates):
            yield Finding(
                kind="dates",
                detail="this date is not in the cited words",
                said=said.text[when.start : when.end],
            )
    for _, mine, theirs, _ in changed or ():
        for names in (_DAYS, _MONTHS):
            new = [one for one in mine if one in names]
            old = [one for one in theirs if one in names]
            if new and old and new[0][:3] != old[0][:3]:
                yield Finding(
                    kind="dates",
                    detail="the cited words give another day or month",
                    said=new[0],
                    written=old[0],
                )


def _medicines(said: Read, written: Read, changed: list[Op] | None) -> Iterable[Finding]:
    theirs = {one.key for one in written.drugs}
    parts = {piece for key in theirs for piece in key.split("-")}
    low = written.text.lower()
    flagged: set[str] = set()
    for one in said.drugs:
        name = said.text[one.start : one.end]
        if (
            one.key in theirs
            or name.lower() in low
            or set(one.key.split("-")) <= parts
            or one.key in parts
        ):
            continue
        flagged.add(name.lower())
        other = next((w for w in written.drugs if w.key not in {s.key for s in said.drugs}), None)
        yield Finding(
            kind="medicines",
            detail="this medicine is not in the cited words",
            said=name,
            written=written.text[other.start : other.end] if other else "",
        )
    gone = {w for _, _, words, _ in changed or () for w in words}
    for match in _DRUGLIKE.finditer(said.text):
        word = match.group().lower()
        if (
            word not in low
            and not any(word in one or one in word for one in flagged)
            and not any(word in said.text[one.start : one.end].lower() for one in said.drugs)
        ):
            yield Finding(kind="medicines", detail="this medicine is not in the cited words", said=match.group(),
                          written=next((w for w in sorted(gone) if _DRUGLIKE.fullmatch(w)), ""))  # fmt: skip


def _negation(said: Read, written: Read, changed: list[Op] | None) -> Iterable[Finding]:
    moved = [one for one in changed or () if _denies(one[1]) != _denies(one[2])]
    gained = [one for one in moved if _denies(one[1])]
    if changed is not None and not moved:
        return  # the same denials in nearly the same words
    if not gained or len(gained) == len(moved):  # else it was only moved: "has not had" to "had no"
        for tag, mine, theirs, inside in moved:
            rest = {*mine, *theirs} - _NEGATES - _FUNCTION
            if rest or (tag == "delete" and not inside):
                continue
            yield Finding(
                kind="negation",
                detail=_DENIED if _denies(theirs) else _NOT_DENIED,
                said=" ".join(mine),
                written=" ".join(theirs),
            )
            return
    both = "negative" in said.text.lower() and "negative" in written.text.lower()
    mine_p, theirs_p = _polarity(said, plain=both), _polarity(written, plain=both)
    for key in sorted((set(mine_p) & set(theirs_p)) - GENERIC - _ANATOMY):
        if not mine_p[key] & theirs_p[key]:
            word = next(said.text[t.start : t.end] for t in said.words if t.key == key)
            detail = _NOT_DENIED if "negated" in mine_p[key] else _DENIED
            yield Finding(kind="negation", detail=detail, said=word)
            return
    yield from _denies_alone(said, written)


def _opposite(said: Read, written: Read) -> Iterable[Finding]:
    """A word where its opposite is written: more for less, start for stop, hypo- for hyper-."""
    mine, theirs = set(_tokens(said.text)), set(_tokens(written.text))
    for word in sorted(mine - theirs):
        there = (_OPPOSITES.get(word, frozenset()) & theirs) - mine
        if word.startswith(("hypo", "hyper")):
            rest = word.removeprefix("hypo").removeprefix("hyper")
            there |= theirs & {f"hyper{rest}" if word.startswith("hypo") else f"hypo{rest}"}
        if there:
            yield Finding(
                kind="negation",
                detail="the cited words say the opposite",
                said=word,
                written=min(there),
            )
            return


def _denies(words: Iterable[str]) -> bool:
    return any(one in _NEGATES for one in words)


def _denies_alone(said: Read, written: Read) -> Iterable[Finding]:
    """An item that denies, citing words in which nothing is denied in any way."""
    mine = [one for one in _tokens(said.text) if one in _NEGATES]
    if not mine or any(one in _NEGATES for one in _tokens(written.text)):
        return
    if any(one.kind == "negated" for one in written.scopes) or _CLEAR.search(written.text):
        return
    yield Finding(kind="negation", detail=_NOT_DENIED, said=" ".join(mine))


def _polarity(read: Read, *, plain: bool) -> dict[str, set[str]]:
    """How each content word is meant, over its mentions: affirmed, negated or both.

    `plain` leaves out what "negative" denies: "a negative test" and "test negative" are the same.
    """
    scopes = [
        one
        for one in read.scopes
        if one.kind == "negated"
        and not (plain and read.text[slice(*one.trigger)].lower() == "negative")
    ]
    found: dict[str, set[str]] = {}
    for term in read.words:
        denied = any(s.start <= term.start < s.end for s in scopes)
        found.setdefault(term.key, set()).add("negated" if denied else "affirmed")
    return found


def _sides(said: Read, written: Read, changed: list[Op] | None) -> Iterable[Finding]:
    for _, mine, theirs, _ in changed or ():
        new = {_SIDE[one] for one in mine if one in _SIDE}
        old = {_SIDE[one] for one in theirs if one in _SIDE}
        if new and old and not new & old:
            yield Finding(
                kind="laterality",
                detail="the cited words give the other side",
                said=" ".join(sorted(new)),
                written=" ".join(sorted(old)),
            )
            return
    mine_s, theirs_s = said.sides, written.sides
    have = {one.side for one in theirs_s}
    for one in mine_s:
        wanted = {"both"} if one.side == "both" else {one.side, "both"}
        both_written = one.side == "both" and {"left", "right"} <= have
        paired = {other.side for other in theirs_s if one.of and other.of == one.of}
        against = paired or have
        if against and not wanted & against and not both_written:
            yield Finding(
                kind="laterality",
                detail="the cited words give the other side",
                said=said.text[one.start : one.end],
                written=" ".join(sorted(against)),
            )
            return


def share(said: Read, written: Read, heading: str = "") -> float:
    """The part of the item's content words that the cited words or their heading hold, in [0, 1]."""
    timed = [*said.quantities, *said.dates, *said.frequencies]
    mine = {t.key for t in said.words if not any(o.start <= t.start < o.end for o in timed)}
    if not mine:
        return 1.0
    theirs = written.keys | Read(heading).keys
    found = mine & theirs
    if len(found) < _ENOUGH * len(mine):
        entities = written.named
        for one in (*said.drugs, *said.analytes):
            if one.key in entities:
                found |= {t.key for t in said.words if one.start <= t.start < one.end}
        found |= {
            k
            for k in mine - found
            if len(k) >= _STEM and any(k[:_STEM] == t[:_STEM] for t in theirs)
        }
        for one in expand(said.text):
            other = Read(one.replacement).keys
            if one.weight >= _SURE and other and other <= theirs:
                found |= Read(one.term).keys & mine
        for one in expand(written.text):
            if one.weight >= _SURE:
                found |= Read(one.replacement).keys & mine
    return len(found) / len(mine)
