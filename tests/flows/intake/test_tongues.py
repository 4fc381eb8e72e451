"""Whole conversations in Arabic and Hindi, by rules: their language throughout, one question a turn."""

from __future__ import annotations

import re

import pytest

from bedside.evals.intake_seat import Seat
from bedside.evals.intake_simulate import topic_of
from bedside.flows.intake.needs import Upload
from bedside.flows.intake.phrases import joined, provider_name
from bedside.flows.intake.signals import signals
from bedside.sop.find import find
from bedside.sop.red_flags import emergency_text, red_flags
from bedside.testing.intake_kit import read

PEOPLE = {
    "ar": {
        "TKR": "أحتاج تبديل مفصل الركبة",
        "THR": "عملية تبديل مفصل الورك",
        "CABG": "تحويل مسار الشرايين التاجية",
        "IVF": "أطفال الأنابيب",
        "ACL": "الرباط الصليبي",
        "procedure_side": "اليسرى",
        "who": "لي أنا",
        "age": "عمري 55 سنة",
        "country_of_residence": "أعيش في العراق",
        "funding_source": "سأدفع بنفسي",
        "key_comorbidities": "عندي السكري",
        "name": "اسمي علي حسن",
        "budget": "10000 دولار",
        "confirm": "نعم أوافق",
        "consent": "نعم",
        "upload": "لاحقًا",
        "choose": "1",
        "no": "لا",
        "unknown": "لا أعرف",
    },
    "hi": {
        "TKR": "घुटना बदलवाना है",
        "THR": "कूल्हा बदलवाना है",
        "CABG": "बाईपास सर्जरी",
        "IVF": "आईवीएफ करवाना है",
        "ACL": "एसीएल सर्जरी",
        "procedure_side": "बायाँ",
        "who": "मेरे लिए",
        "age": "मेरी उम्र 55 साल है",
        "country_of_residence": "मैं नेपाल में रहता हूँ",
        "funding_source": "मैं खुद दूँगा",
        "key_comorbidities": "मुझे शुगर है",
        "name": "मेरा नाम रमेश है",
        "budget": "5 लाख रुपये",
        "confirm": "हाँ, मैं सहमत हूँ",
        "consent": "हाँ",
        "upload": "बाद में",
        "choose": "1",
        "no": "नहीं",
        "unknown": "पता नहीं",
    },
}
LATIN = re.compile(r"[A-Za-z]{3,}")
NAMES = re.compile(r"(?:[A-Z][\w']+ ){1,4}[A-Z][\w']+|\b[A-Z]{2,5}\b")
"""Names of hospitals, and abbreviations, which every language writes in these letters."""


def answer_to(language: str, code: str, asked: str, topic: str, turn: int) -> str:
    says = PEOPLE[language]
    key = topic if topic in {"confirm", "consent", "upload", "choose"} else asked
    if key in says:
        return says[key]
    kind = next((one.kind for one in find(code).fields if one.id == key), "")
    if kind == "yes_no":
        return says["no"]
    return says["unknown"] if turn % 2 else says["no"]


@pytest.mark.requirement("IN-17")
@pytest.mark.parametrize("language", ["ar", "hi"])
@pytest.mark.parametrize("code", ["TKR", "THR", "CABG", "IVF", "ACL"])
def test_a_whole_case_is_led_in_the_persons_language(language: str, code: str) -> None:
    seat = Seat(f"{language}-{code}")
    seen = seat.send(PEOPLE[language][code], language=language)
    for turn in range(40):
        asked = str(seen.body.get("asked") or "")
        spoken = NAMES.sub("", seen.answer)
        assert not LATIN.search(spoken), spoken
        assert len(re.findall(r"[?؟]", seen.answer)) <= 1
        if seen.body.get("case_status") == "consultation":
            break
        seen = seat.send(answer_to(language, code, asked, topic_of(seen.answer), turn))
    assert seen.body["case_status"] == "consultation"


@pytest.mark.requirement("IN-17")
@pytest.mark.parametrize(
    ("language", "question", "wanted"),
    [
        ("ar", "مرحبا، من أنت؟", "ذكاء اصطناعي"),
        ("hi", "आप कौन हैं?", "एआई"),
        ("ar", "هل أوقف الدواء قبل السفر؟", "سؤال للطبيب"),
        ("hi", "क्या मैं दवा बंद कर दूँ?", "सवाल डॉक्टर"),
        ("ar", "أريد التحدث إلى شخص", "أبلغت أحد المنسقين"),
        ("hi", "मैं किसी इंसान से बात करना चाहता हूँ", "समन्वयक को बता दिया"),
        ("ar", "بكم العملية؟", "التكلفة"),
        ("hi", "खर्चा कितना आएगा?", "खर्च"),
    ],
)
def test_a_question_is_answered_before_the_next_one_is_asked(
    language: str, question: str, wanted: str
) -> None:
    seat = Seat(f"{language}-asks")
    seat.send(PEOPLE[language]["TKR"], language=language)
    answer = seat.send(question).answer
    assert wanted in answer
    assert question not in answer


def test_a_question_before_any_procedure_is_not_noted_as_one() -> None:
    seat = Seat("ar-who")
    seat.send("مرحبا", language="ar")
    assert "من أنت" not in seat.send("مرحبا، من أنت؟").answer


@pytest.mark.parametrize(
    ("language", "message", "kind"),
    [
        ("ar", "ألم شديد في صدري ولا أستطيع التنفس", "emergency"),
        ("hi", "मेरे सीने में बहुत तेज दर्द है", "emergency"),
        ("ar", "أريد أن أموت", "crisis"),
        ("hi", "मैं मरना चाहता हूँ", "crisis"),
    ],
)
@pytest.mark.requirement("IN-24")
def test_an_emergency_is_answered_in_the_persons_language(
    language: str, message: str, kind: str
) -> None:
    flags = red_flags(message)
    assert {one.kind for one in flags} == {kind}
    seat = Seat(f"{language}-help")
    seat.send(PEOPLE[language]["TKR"], language=language)
    answer = seat.send(message).answer
    assert not LATIN.search(answer)
    assert "بـ رقم" not in answer
    assert emergency_text(flags, number="", language=language) in answer


def test_an_arabic_list_and_a_sample_are_written_as_the_language_writes_them() -> None:
    assert joined(["أشعة", "تحاليل"], "ar") == "أشعة وتحاليل"
    assert joined(["Aster Hill", "Cedar Gate"], "ar") == "Aster Hill و Cedar Gate"
    assert provider_name("Aster Hill (sample)", "hi") == "Aster Hill (नमूना)"


def _upload(
    status: str, *, why: str = "", label: str = "report.pdf", kind: str = "unknown"
) -> Upload:
    return Upload(id="d", type=kind, status=status, label=label, findings={}, why=why)


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize(
    ("language", "wanted"), [("en", "password"), ("ar", "كلمة مرور"), ("hi", "पासवर्ड")]
)
def test_a_locked_file_is_said_to_be_locked(language: str, wanted: str) -> None:
    seat = Seat(f"locked-{language}")
    seat.send(
        "knee replacement" if language == "en" else PEOPLE[language]["TKR"], language=language
    )
    seat.uploads.append(_upload("failed_permanent", why="locked"))
    assert wanted in seat.send("").answer


@pytest.mark.requirement("IN-07")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("did my documents arrive?", "has been read"),
        ("have you received my x-ray?", "has been read"),
        ("هل وصلت الأشعة؟", "تمت قراءة"),
    ],
)
def test_who_asks_for_their_file_is_told_how_it_stands(question: str, wanted: str) -> None:
    language = "en" if question.isascii() else "ar"
    seat = Seat("asked")
    seat.send("knee replacement" if language == "en" else PEOPLE["ar"]["TKR"], language=language)
    assert "has arrived here yet" in seat.send("did my file arrive?").answer or language == "ar"
    seat.uploads.append(_upload("complete", label="knee X-ray or its report", kind="knee_xray"))
    seat.send("61" if language == "en" else "عمري 61")
    answer = seat.send(question).answer
    assert wanted in answer
    assert language == "en" or not LATIN.search(answer)


@pytest.mark.requirement("IN-24")
def test_an_emergency_text_is_said_again_in_the_language_that_is_chosen_after_it() -> None:
    seat = Seat("switch")
    seat.send("I need a knee replacement")
    assert "call" in seat.send("crushing chest pain right now").answer
    seen = seat.send("(language)", language="ar", act=("language", "ar"))
    assert "اتصل" in seen.answer
    assert seen.body["red_flags"]
    assert len(seen.body["state"]["alerts"]) == 1
    after = seat.send("(language)", language="hi", act=("language", "hi"))
    assert after.body["red_flags"]
    assert "फ़ोन" in after.answer


@pytest.mark.parametrize(
    ("text", "asked", "field", "value"),
    [
        ("bhai papa ka knee replacement karwana hai", "", "who", "carer"),
        ("dono ghutne", "procedure_side", "procedure_side", "both"),
        ("khud se denge", "", "funding_source", "self"),
        ("papa ka knee kharab hai, papa 68 years ke hain", "", "age", 68),
        ("hum Pune se hai", "", "country_of_residence", "India"),
        ("actually left only, doctor said right is ok for now", "", "procedure_side", "left"),
    ],
)
def test_hindi_in_latin_letters_is_read(text: str, asked: str, field: str, value: str) -> None:
    assert read(text, asked=asked)[field] == value
    assert signals("bp aur sugar. total kharcha kya hai").asks == ("cost",)
