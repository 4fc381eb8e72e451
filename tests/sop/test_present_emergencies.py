"""An emergency that is told of now, beside words that elsewhere make it a tale, a habit or a joke."""

from __future__ import annotations

import pytest

from bedside.sop.red_flags import red_flags

PAST = """
breathing|My daughter aged 4 is not breathing
unconscious|My son at age 7 is unconscious
chest_pain|My husband, aged 62, has crushing chest pain
poisoning|He swallowed bleach once
poisoning|She drank drain cleaner once
poisoning|He took forty paracetamol tablets once
bleeding|3 weeks ago I had surgery and the wound is bleeding heavily
unconscious|She had her hip done when she was 40 and is unconscious
chest_pain|I had a stent in 2019 and have crushing chest pain
poisoning|My son aged 2 swallowed bleach
"""
IDIOMS = """
unconscious|He does not react to anything
unconscious|He does not react to my voice
unconscious|My father does not react to shaking
unconscious|She doesn't react to us at all
bleeding|The site is bleeding heavily and won't stop
bleeding|The wound on the site is gushing blood
bleeding|My site is bleeding and it won't stop
bleeding|Our neighbour's dog bit my face and it is bleeding badly
breathing|My sister's horse kicked me and I can't breathe
bleeding|My dog bit my hand and it won't stop bleeding
unconscious|He will not wake up from the anaesthetic and is blue
unconscious|He won't wake up from sedation and he is not breathing
unconscious|She will not wake up after the operation and her lips are blue
"""
FEARED = """
poisoning|I am scared she might die: she took all her pills
poisoning|I am afraid he will die because he swallowed bleach
breathing|I'm worried she may die - she has stopped breathing
"""
GENERAL = """
suicide|Reading the news makes me want to kill myself
suicide|My job makes me want to kill myself
suicide|In my dreams and awake I want to end my life
suicide|One day I will kill myself
suicide|The doctor said I am fine but one day I'll end my life
chest_pain|I work as a driver and have crushing chest pain
breathing|I teach at a school and can't breathe
bleeding|I work in a shop and am coughing up blood
"""
LASTING = """
bleeding|I am 34 weeks, bleeding heavily on and off
pregnancy|I am pregnant and bleeding on and off
breathing|I cough up blood several times a day
bleeding|I throw up blood three times a day
bleeding|I sometimes vomit blood
breathing|My father has had asthma for years and is not breathing
"""


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "line",
    [
        line
        for block in (PAST, IDIOMS, FEARED, GENERAL, LASTING)
        for line in block.strip().splitlines()
    ],
)
def test_no_words_beside_it_silence_an_emergency_of_now(line: str) -> None:
    rule, message = line.split("|")
    assert rule in {flag.id for flag in red_flags(message)}


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "message",
    [
        "I am epileptic, had a fit aged 12",
        "My brother is dead, he had a heart attack at age 50",
        "When she was aged 4 she stopped breathing",
        "I fainted once at a concert",
        "I don't react to anything",
        "He does not react to penicillin",
        "The site had a seizure and logged me out",
        "The website is choking again",
        "My sister's dog is having seizures",
        "My aunt had a stroke aged 60",
        "your page crashed and died",
        "She had a stroke in 2019 and has had chest pain once",
        "I might not wake up from the anaesthetic",
        "I work for people who have heart attacks",
        "The news said a patient had a seizure at that clinic",
        "I have asthma, use a blue inhaler sometimes",
        "my phone died so I could not answer",
    ],
)
def test_what_was_or_is_told_of_others_stays_unheard(message: str) -> None:
    assert red_flags(message) == ()
