"""Which language a message is in, by script and function words (IN-17). Pure.

Some forty languages. A script settles most of the non-Latin ones; words of grammar tell those that
share a script. What is too short or too mixed to tell is "unknown", and nothing is routed on it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from bedside.core.value import value

__all__ = ["LANGUAGES", "Detected", "detect"]


@value
class Detected:
    """A language: `code` is ISO 639-1, "unknown" where the text does not tell.

    `share` in [0, 1] is how much of the text spoke for it; `why` is "script", "words",
    "romanised" or "too short".
    """

    code: str
    share: float
    why: str


_WORDS = {
    "en": "the and is are was i you he she my your for with have has not do does need want what how when where this that it to of in on can will would me please there but at from am been no yes which who because about they we an",
    "es": "el la los las un una y es son de que en por para con no me mi tengo tiene necesito quiero cuánto cuanto cómo como dónde donde pero muy soy estoy del se su operación rodilla gracias hola años",
    "fr": "le la les un une et est sont de que en pour avec ne pas je j'ai tu vous mon ma mes suis il elle nous besoin veux combien comment où mais très du des bonjour merci au aux ans ce cette",
    "de": "der die das ein eine und ist sind von zu mit für nicht ich du sie er wir mein meine habe hat brauche möchte wie viel wo wann aber sehr im am bin danke auch bei jahre alt kann",
    "pt": "o os as um uma e é são de que em por para com não meu minha tenho preciso quero quanto como onde mas muito sou estou do da na no você obrigado olá anos joelho",
    "it": "il lo la gli un una e è sono di che in per con non mio mia ho bisogno voglio quanto come dove ma molto del della nel ciao grazie anni ginocchio",
    "nl": "de het een en is zijn van dat in op voor met niet ik je mijn heb heeft nodig wil hoe waar wanneer maar erg ben dank ook bij jaar oud",
    "tr": "ve bir bu için ile değil ben sen benim var yok ihtiyacım istiyorum ne nasıl nerede ama çok mı mi mu annem babam diz yaşında ameliyat merhaba kadar teşekkürler",
    "id": "dan yang di ke dari untuk dengan tidak saya anda ibu ayah ada ini itu butuh ingin berapa bagaimana dimana tapi sangat operasi lutut tahun terima kasih bisa",
    "sw": "na ya wa kwa ni si mimi wewe yangu nina nahitaji nataka gani vipi wapi lakini sana mama baba goti upasuaji miaka asante habari bei hii",
    "fil": "ang ng mga sa ay at ako ikaw ko mo po hindi kailangan gusto magkano paano saan pero ito may nanay tatay tuhod taon salamat",
    "vi": "và là của tôi bạn không có cần muốn bao nhiêu như thế nào ở đâu nhưng rất mẹ bố đầu gối phẫu thuật tuổi cảm ơn cho được",
    "pl": "i jest są w na z do nie ja mój moja mam ma potrzebuję chcę ile jak gdzie ale bardzo kolano lat dziękuję się",
    "ro": "și este sunt de la cu pentru nu eu tu mea meu am are nevoie vreau cât cum unde dar foarte genunchi ani mulțumesc o un",
}  # fmt: skip
_ROMAN_HINDI = frozenset(
    ["hai", "hain", "mera", "meri", "mere", "mujhe", "aap", "aapka", "kya", "kitna", "kitne", "kaise", "kahan", "nahi", "nahin", "chahiye", "ghutne", "ghutna", "dard", "operation-ka", "karna", "karwana", "karvana", "ke", "ki", "ka", "ko", "se", "mein", "main", "hum", "maa", "pita", "paisa", "kharcha", "bahut", "kripya", "dhanyavad", "haan", "tha", "thi"]
)  # fmt: skip
_ROMAN_ARABIC = frozenset(
    [
        "ana",
        "ahtaj",
        "areed",
        "ureed",
        "urid",
        "kam",
        "fi",
        "min",
        "ila",
        "ma3",
        "3indi",
        "andi",
        "laysa",
        "shukran",
        "marhaba",
        "ummi",
        "abi",
        "rukba",
        "a7taj",
        "3amaliya",
        "kif",
        "kayf",
    ]
)
_ARABIC_SCRIPT = {
    "fa": ("است", "این", "برای", "من", "هستم", "می", "را", "که", "زانو", "چقدر", "دارم", "نیست"),
    "ur": ("ہے", "ہیں", "میں", "کے", "کی", "کا", "کو", "مجھے", "نہیں", "آپ", "گھٹنے", "چاہیے"),
}
_CYRILLIC = {
    "uk": ("і", "є", "що", "не", "мені", "потрібно", "коліно", "мої", "її", "це"),
    "ru": ("и", "что", "не", "мне", "нужно", "на", "колено", "это", "у", "я", "сколько", "моя"),
}
_SCRIPTS = {
    "DEVANAGARI": "hi", "BENGALI": "bn", "TAMIL": "ta", "TELUGU": "te", "GUJARATI": "gu",
    "GURMUKHI": "pa", "KANNADA": "kn", "MALAYALAM": "ml", "SINHALA": "si", "THAI": "th",
    "HEBREW": "he", "GREEK": "el", "HANGUL": "ko", "ETHIOPIC": "am", "HIRAGANA": "ja",
    "KATAKANA": "ja", "CJK": "zh", "MYANMAR": "my", "KHMER": "km", "ARMENIAN": "hy", "GEORGIAN": "ka",
}  # fmt: skip
LANGUAGES = tuple(sorted({*_WORDS, *_SCRIPTS.values(), *_ARABIC_SCRIPT, *_CYRILLIC, "ar"}))
"""Every code that `detect` can give, besides "unknown"."""
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SPLIT = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_ENOUGH_WORDS = 3
_ENOUGH_LETTERS = 4
_LEAST_SHARE = 0.25
_LEAST_HITS = 2
_MARKS = {
    "es": "ñ¿¡", "fr": "œç", "de": "ßäöü", "pt": "ãõ", "tr": "ğışİ", "pl": "łąęśżźćń", "ro": "ășț", "vi": "ơưđạảấầẩẫậắằẳẵặẹẻẽềểễệ",
}  # fmt: skip


def detect(text: str) -> Detected:
    """The language of a message.

    Names, codes, figures and addresses tell nothing. Two or three Latin words are told only by
    words that one language alone has; else the answer is "unknown".
    """
    letters = [char for char in text if char.isalpha()]
    scripts = Counter(_script(char) for char in letters)
    if not letters:
        return Detected(code="unknown", share=0.0, why="too short")
    name, most = scripts.most_common(1)[0]
    share = most / len(letters)
    if name != "LATIN":
        if scripts.get("HIRAGANA", 0) + scripts.get("KATAKANA", 0) and name in ("CJK", "HIRAGANA", "KATAKANA"):  # fmt: skip
            return Detected(code="ja", share=share, why="script")
        least = 1 if name in ("CJK", "HANGUL") else 2
        if most < least:
            return Detected(code="unknown", share=share, why="too short")
        return Detected(code=_among(name, text), share=share, why="script")
    return _latin(text)


def _script(char: str) -> str:
    return unicodedata.name(char, "?").split()[0].split("-")[0]


def _among(script: str, text: str) -> str:
    """The language of a script that several share."""
    words = set(_TOKEN.findall(text.casefold()))
    if script == "ARABIC":
        if words & set(_ARABIC_SCRIPT["ur"]) or re.search(r"[ٹڈڑںےھ]", text):
            return "ur"
        if len(words & set(_ARABIC_SCRIPT["fa"])) >= _LEAST_HITS or re.search(r"[پچژگ]", text):
            return "fa"
        return "ar"
    if script == "CYRILLIC":
        return "uk" if re.search(r"[іїєґ]", text.casefold()) else "ru"
    return _SCRIPTS.get(script, "unknown")


def _latin(text: str) -> Detected:
    words = [word.replace("’", "'") for word in _TOKEN.findall(text.casefold())]
    if len("".join(words)) < _ENOUGH_LETTERS:
        return Detected(code="unknown", share=0.0, why="too short")
    for code, table in (("hi", _ROMAN_HINDI), ("ar", _ROMAN_ARABIC)):
        hits = sum(word in table for word in words)
        english = sum(word in _SPLIT["en"] for word in words)
        if hits >= _LEAST_HITS and hits > english and hits / len(words) >= _LEAST_SHARE:
            return Detected(code=code, share=hits / len(words), why="romanised")
    points = {code: _points(code, words, text) for code in _SPLIT}
    code, best = max(points.items(), key=lambda row: (row[1], row[0] == "en"))
    second = max((found for other, found in points.items() if other != code), default=0.0)
    share = best / max(1, len(words))
    if len(words) < _ENOUGH_WORDS:
        sure = best >= 1 and second == 0
    else:
        sure = best >= _LEAST_HITS - 0.5 and best > second and share >= _LEAST_SHARE / 2
    return Detected(
        code=code if sure else "unknown",
        share=min(1.0, share),
        why="words" if sure else "too short",
    )


def _points(code: str, words: list[str], text: str) -> float:
    """Words of grammar that it has; one shared by several languages counts in parts."""
    total = 0.0
    for word in words:
        having = sum(word in table for table in _SPLIT.values())
        if word in _SPLIT[code]:
            total += 1 / having if having > 1 else 1
    signs = _MARKS.get(code, "")
    return total + (1.0 if any(char in signs for char in text.casefold()) else 0.0)
