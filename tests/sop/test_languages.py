"""The language of a message, and the honesty of short ones."""

from __future__ import annotations

import pytest

from bedside.sop.find import bundled
from bedside.sop.languages import LANGUAGES, detect

CASES = """
en|I need a knee replacement for my mother
en|What does it cost and how long is the stay?
en|my left hip hurts when I walk
en|She takes warfarin and has diabetes
ar|أحتاج إلى عملية في الركبة
ar|كم تكلفة العملية؟
hi|मुझे घुटने का ऑपरेशन कराना है
hi|कितना खर्च आएगा
hi|mujhe ghutne ka operation karwana hai
es|Necesito una operación de rodilla para mi madre
es|¿Cuánto cuesta la cirugía?
fr|J'ai besoin d'une opération du genou pour ma mère
fr|Combien coûte le traitement ?
de|Ich brauche eine neue Hüfte und bin 71 Jahre alt
pt|Preciso de uma cirurgia no joelho para minha mãe
it|Ho bisogno di una operazione al ginocchio per mia madre
tr|Annem için diz ameliyatı istiyorum
id|Saya butuh operasi lutut untuk ibu saya
sw|Nahitaji upasuaji wa goti kwa mama yangu
vi|Tôi cần phẫu thuật đầu gối cho mẹ
pl|Potrzebuję operacji, bo moja mama ma chore kolano
ro|Am nevoie de o operație la genunchi și sunt din Cluj
ru|Мне нужно заменить колено, сколько это стоит
uk|Мені потрібно замінити коліно
fa|من برای زانو به جراحی نیاز دارم
ur|مجھے گھٹنے کا آپریشن چاہیے
bn|আমার হাঁটুর অস্ত্রোপচার দরকার
ta|எனக்கு முழங்கால் அறுவை சிகிச்சை தேவை
zh|我需要做膝关节置换手术
ja|膝の手術が必要です
ko|무릎 수술이 필요합니다
th|ฉันต้องการผ่าตัดเข่า
he|אני צריך ניתוח ברך
am|የጉልበት ቀዶ ጥገና እፈልጋለሁ
unknown|ok
unknown|54
unknown|TKR
unknown|Nairobi
unknown|
unknown|5,00,000
unknown|warfarin
unknown|HbA1c 7.2
unknown|John Smith
"""


@pytest.mark.requirement("IN-17")
@pytest.mark.parametrize("row", CASES.strip().splitlines())
def test_a_message_is_in_the_language_that_its_words_say(row: str) -> None:
    wanted, message = row.split("|", 1)
    found = detect(message)
    assert found.code == wanted
    assert 0 <= found.share <= 1


@pytest.mark.requirement("IN-17")
def test_every_mandatory_field_of_every_contract_asks_in_english_arabic_and_hindi() -> None:
    for contract in bundled().values():
        for field in contract.fields:
            if field.when == "optional":
                continue
            assert set(field.ask) >= {"en", "ar", "hi"}, (contract.id, field.id)
            for language in ("ar", "hi"):
                assert detect(field.ask[language]).code == language, (contract.id, field.id)
            if field.kind == "choice":
                for words in field.choices.values():
                    scripts = {detect(word + " " + word).code for word in words}
                    assert {"ar", "hi"} <= scripts, (contract.id, field.id, words)


def test_more_than_ten_languages_are_told_apart() -> None:
    assert len(LANGUAGES) >= 10
    assert {row.split("|")[0] for row in CASES.strip().splitlines()} - {"unknown"} <= set(LANGUAGES)
