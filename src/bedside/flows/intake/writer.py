"""What the rules say: a beat for the person, answers, what was noted, and one question. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bedside.core.value import value
from bedside.flows.intake.case import CHOOSE, CONFIRM, CONFLICT, CONSENT, UPLOAD
from bedside.flows.intake.matcher import Provider, is_sample, price_range, reasons_in
from bedside.flows.intake.phrases import document_words, joined, phrase, provider_name
from bedside.flows.intake.questions import first_gap, next_question, question_text, still_open
from bedside.flows.intake.situation import Situation
from bedside.flows.intake.words import fact_words, procedure_words, summary, value_words
from bedside.sop.state import Document, Known

__all__ = ["House", "Reply", "answer_parts", "question_part", "write"]

MOST_ANSWERS = 2
MOST_NOTED = 5


@value
class House:
    """What the deployer says of itself: the emergency number, and how a person is reached.

    `sample` is True while the providers are the fictional ones.
    """

    emergency: str = ""
    crisis_line: str = ""
    contact: str = ""
    sample: bool = False

    @classmethod
    def of(cls, hot: Mapping[str, Any] | None) -> House:
        """From the catalogue entry (kind "pack", key "intake"); empty where there is none."""
        body = ((hot or {}).get("pack") or {}).get("intake") or {}
        return cls(
            emergency=str(body.get("emergency_number", "")),
            crisis_line=str(body.get("crisis_line", "")),
            contact=str(body.get("contact", "")),
            sample=is_sample(hot),
        )


@value
class Reply:
    """A whole message, what its question is about ("" for none), and what it said for good."""

    text: str
    asking: str = ""
    told: tuple[str, ...] = ()


def write(
    now: Situation, *, house: House, providers: tuple[Provider, ...], staged: bool = False
) -> Reply:
    """The rules' own message: at most one question, and it stands at the end."""
    told: list[str] = []
    parts = answer_parts(now, house=house, providers=providers, told=told)
    question, asking = question_part(now, told, staged=staged, sample=house.sample)
    if question:
        parts.append(question)
    text = " ".join(part for part in parts if part)
    return Reply(text=text, asking=asking, told=tuple(told))


def answer_parts(
    now: Situation, *, house: House, providers: tuple[Provider, ...], told: list[str]
) -> list[str]:
    """Everything before the question."""
    heard, case, lang = now.heard, now.case, now.case.facts.language
    said = heard.signals
    parts: list[str] = []
    if "hello" not in case.told:
        parts.append(phrase("hello", lang))
        told.append("hello")
    if said.grave:
        parts.append(phrase("grave", lang))
    elif said.feeling:
        parts.append(phrase("feeling", lang, word=said.feeling))
    if heard.foreign and "language" not in case.told:
        parts.append(phrase("language", lang))
        told.append("language")
    if heard.cut:
        parts.append(phrase("too_long", lang, chars=f"{len(heard.text):,}"))
    if said.wants_person:
        contact = f" ({house.contact})" if house.contact else ""
        parts.append(phrase("person", lang, contact=contact))
    parts += [_answered(one, now, providers) for one in said.asks[:MOST_ANSWERS]]
    parts += _about_procedure(now)
    parts += _noted(now)
    parts += _papers(now)
    if heard.word == "withdraws":
        parts.append(phrase("withdrawn", lang))
    elif heard.word == "not_yet":
        parts.append(phrase("no_hurry", lang))
    elif heard.word == "no":
        parts.append(phrase("consent_no", lang))
    elif heard.word == "wants" and not now.may_match and case.status == "intake":
        parts.append(phrase("consent_early", lang))
    if heard.chose:
        name = next((one.name for one in case.matches if one.id == heard.chose), "")
        parts.append(phrase("chosen", lang, provider=provider_name(name, lang)))
    return parts


def _answered(name: str, now: Situation, providers: tuple[Provider, ...]) -> str:
    lang = now.case.facts.language
    if name == "documents":
        return _papers_asked(now)
    if name != "cost":
        return phrase(name, lang)
    if now.contract.generic:
        return phrase("cost_generic", lang)
    prices = price_range(now.contract.id, providers)
    if prices is None:
        return phrase("cost_unknown", lang)
    return phrase(
        "cost",
        lang,
        low=f"${prices[0]:,.0f}",
        high=f"${prices[1]:,.0f}",
        procedure=procedure_words(now.contract, now.case, lang),
    )


def _about_procedure(now: Situation) -> list[str]:
    became, lang = now.heard.procedure, now.case.facts.language
    about = procedure_words(now.contract, now.case, lang)
    if became == "known":
        return [phrase("procedure", lang, procedure=about)]
    if became == "changed":
        return [phrase("procedure_changed", lang, procedure=about)]
    if became == "unknown":
        return [phrase("procedure_unknown", lang, words=now.case.procedure_words)]
    return []


def _noted(now: Situation) -> list[str]:
    """What was read in this message, told back; nothing where it went without saying."""
    heard, lang = now.heard, now.case.facts.language
    noted: list[str] = []
    changed: list[str] = []
    open_ones: list[str] = []
    for one in heard.reading.said:
        field = now.contract.field(one.field)
        known = now.case.facts.get(one.field)
        if field is None or any(c.field == one.field for c in now.case.conflicts):
            continue
        if one.field == "who" and known.value == "patient" and (heard.procedure or not one.strong):
            continue
        if one.status == "known" and known.status == "known":
            words = fact_words(field, known, lang)
            (changed if one.field in heard.corrected else noted).append(words)
        elif one.status != "known":
            open_ones.append(one.status)
    out: list[str] = []
    if changed:
        out.append(phrase("noted_again", lang, facts=joined(changed, lang)))
    if noted:
        told = phrase(
            f"noted_{now.case.facts.turn % 3}", lang, facts=joined(noted[:MOST_NOTED], lang)
        )
        out.append(told[0].upper() + told[1:])
    if open_ones:
        out.append(phrase(open_ones[0], lang))
    nothing = not (noted or changed or open_ones or heard.word or heard.chose or heard.procedure)
    nothing = nothing and not heard.signals.defers
    asked = now.heard.before_asking
    nothing = nothing and bool(heard.text)
    if nothing and heard.reading.repeated:
        return [phrase("same", lang)]
    if (
        nothing
        and asked
        and not asked.startswith("@")
        and not heard.signals.asks
        and not heard.signals.wants_person
        and not now.uploaded
        and not heard.foreign
        and "blocked" not in now.case.told
    ):
        out.append(phrase("not_caught", lang))
    return out


def _papers(now: Situation) -> list[str]:
    """Uploads whose status is new, each told as it is."""
    lang = now.case.facts.language
    out: list[str] = []
    for key in now.fresh[:3]:
        before = now.heard.case.facts.documents.get(key)
        document = now.case.facts.documents[key]
        was = before.status if before is not None else ""
        if (was, document.status) == ("queued", "processing"):
            continue  # no news
        if document.status != "failed_transient" or key == now.uploaded:
            out.append(_paper(document, lang))
    return out


def _paper(document: Document, lang: str) -> str:
    """What is true of one upload, in the words of its status."""
    status = "queued" if document.status == "processing" else document.status
    if status == "failed_permanent" and document.why == "locked":
        status = "locked"
    eta = document.eta_seconds
    about = (
        phrase("minute", lang)
        if eta is None or eta >= 45  # noqa: PLR2004 - seconds that are called a minute
        else phrase("seconds", lang, n=max(5, 5 * round(eta / 5)))
    )
    known = document.type != "unknown" and status in {"complete", "stored"}
    label = document_words(document.type, document.label, lang) if known else document.label
    return phrase(f"file_{status}", lang, label=label, eta=about)


def _papers_asked(now: Situation) -> str:
    """The three newest uploads, each as it is; that there is none, where there is none."""
    lang = now.case.facts.language
    newest = sorted(
        now.case.facts.documents.items(), key=lambda row: (-(row[1].since_turn or 0), row[0])
    )
    told = [_paper(one, lang) for key, one in newest[:3] if key not in now.fresh]
    if told or newest:
        return " ".join(told)
    return phrase("file_none", lang)


def question_part(
    now: Situation, told: list[str], *, staged: bool = False, sample: bool = False
) -> tuple[str, str]:
    """The question with what leads to it, and what it is about; `sample` as `House` has it."""
    case, contract, lang = now.case, now.contract, now.case.facts.language
    asking = next_question(now, staged=staged)
    if asking.startswith(CONFLICT):
        return _conflict(now, asking.partition(":")[2]), asking
    if asking == CONFIRM:
        return _confirm(now), asking
    if asking == CHOOSE:
        return _choose(now, sample=sample), asking
    if asking == UPLOAD:
        told.append("upload")
        missing = contract.missing_documents(case.facts)
        needed = dict.fromkeys(document_words(gap.id, gap.label, lang) for gap in missing)
        return phrase("ask_upload", lang, documents=joined(list(needed), lang)), asking
    if asking == CONSENT:
        back = phrase("read_back", lang, summary=summary(contract, case, lang))
        return f"{back} {phrase('ask_consent', lang)}", asking
    if asking:
        again = case.facts.get(asking).asked > 0 and still_open(now) is None
        lead = phrase("last", lang) + " " if again and "last" not in case.told else ""
        if lead:
            told.append("last")
        return lead + question_text(contract, asking, lang), asking
    # What is written next may still close the first gap, though it is not asked for again.
    return _nothing_left(now, told), first_gap(now) if case.status == "intake" else ""


def _conflict(now: Situation, name: str) -> str:
    field = now.contract.field(name)
    one = next(one for one in now.case.conflicts if one.field == name)
    held = now.case.facts.get(name)
    lang = now.case.facts.language

    def words(known: Known) -> str:
        return fact_words(field, known, lang) if field is not None else value_words(known.value)

    return phrase("conflict", lang, document=words(held), said=words(one.other))


def _confirm(now: Situation) -> str:
    lang, agreed = now.case.facts.language, now.case.consent
    recipients = [provider_name(one, lang) for one in agreed.recipients] or [
        phrase("our_team", lang)
    ]
    text = phrase(
        "confirm",
        lang,
        fields=joined(list(agreed.fields), lang) if lang == "en" else phrase("read_facts", lang),
        recipients=joined(recipients, lang),
    )
    if not now.opened:
        return phrase("confirm_again", lang, recipients=joined(recipients, lang))
    some = any(one.status != "expired" for one in now.case.facts.documents.values())
    lead = phrase("waived" if some else "waived_none", lang)
    waived = f"{lead} " if agreed.waived else ""
    if now.heard.before_asking == CONSENT:
        return waived + text
    back = phrase("read_back", lang, summary=summary(now.contract, now.case, lang))
    return f"{back} {waived}{text}"


def _choose(now: Situation, *, sample: bool) -> str:
    lang = now.case.facts.language
    names = [provider_name(one.name, lang) for one in now.case.matches]
    if not now.matched:
        return phrase("choose_again", lang, matches=joined(names, lang))
    comma, stop = ("، ", "؛ ") if lang == "ar" else (", ", "; ")
    about = procedure_words(now.contract, now.case, lang)
    told = []
    for name, one in zip(names, now.case.matches, strict=True):
        why = reasons_in(one, lang, about)
        told.append(f"{name} ({comma.join(why[1:3]) or why[0]})")
    return phrase(
        "matches",
        lang,
        matches=stop.join(told),
        sample=f"{phrase('sample_list', lang)} " if sample else "",
    )


def _nothing_left(now: Situation, told: list[str]) -> str:
    case, lang = now.case, now.case.facts.language
    if now.matched and not case.matches:
        return phrase("no_matches", lang)
    if case.status != "intake":
        return "" if now.heard.chose else phrase("done", lang)
    if case.consent.state == "declined" and now.complete:
        return phrase("consent_later", lang) if now.heard.word != "no" else ""
    if now.contract.generic:
        name = "done" if "blocked" in case.told else "blocked_generic"
        told.append("blocked")
        return phrase(name, lang)
    gaps = [gap.label for gap in now.missing]
    if not gaps:
        return phrase("done", lang)
    name = "blocked"
    if "blocked" in case.told:
        told_more = "blocked_again" if now.heard.reading.said else "blocked_done"
        anew = (now.heard.signals.asks or now.heard.word == "wants") and not now.heard.reading.said
        name = name if anew else told_more
    told.append("blocked")
    return phrase(name, lang, gaps=joined(gaps, lang))
