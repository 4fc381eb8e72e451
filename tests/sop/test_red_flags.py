"""Emergencies by rule: what must be heard, and what only sounds like one."""

from __future__ import annotations

import pytest

from bedside.sop import Contract
from bedside.sop.red_flags import emergency_text, red_flags, rules_pack

HEARD = """
chest_pain|I have chest pain right now
chest_pain|there is a crushing pressure in my chest
chest_pain|It feels like an elephant sitting on my chest
chest_pain|My chest hurts and I am sweating
chest_pain|my father has severe tightness in his chest
chest_pain|I had chest pain years ago but it is back today
chest_pain|pain going down my left arm since this morning
chest_pain|i dont know what to do my chest is tight
chest_pain|I have chest pain, is it a side effect of the tablets?
chest_pain|I think I am having a heart attack
chest_pain|Chest pain again, worse than yesterday
chest_pain|سني 60 وعندي ألم شديد في الصدر
chest_pain|मुझे सीने में बहुत दर्द है
chest_pain|No fever, but chest pain at rest
stroke|my mother's face is drooping
stroke|his speech is slurred and one side is weak, slurring badly
stroke|my left arm has suddenly gone numb
stroke|I suddenly can't move my right arm
stroke|she is having a stroke
stroke|this is the worst headache of my life
stroke|my husband can't speak properly since ten minutes
stroke|his mouth is twisted
breathing|I can't breathe
breathing|she cannot catch her breath
breathing|he is gasping
breathing|my lips are turning blue
breathing|I am severely short of breath lying down
breathing|I am coughing up blood
breathing|साँस नहीं आ रही
anaphylaxis|my throat is closing
anaphylaxis|her tongue is swelling up after the antibiotic
anaphylaxis|I'm having a severe allergic reaction
suicide|I want to die
suicide|I want to kill myself
suicide|sometimes I think about ending my life
suicide|I feel suicidal
suicide|they would be better off without me
suicide|I don't want to live any more with this knee
suicide|there is no reason to go on
suicide|I took an overdose
suicide|my son says he wants to die
suicide|أريد أن أموت
suicide|मैं जीना नहीं चाहता
violence|my husband is beating me
violence|I'm not safe at home
bleeding|the wound is bleeding and it won't stop
bleeding|she is bleeding heavily
bleeding|I am vomiting blood
bleeding|blood is pouring from the cut
bleeding|heavy bleeding since last night
bleeding|black tarry stools since yesterday
bleeding|نزيف شديد من الجرح
sepsis|I have a high fever and I am shaking and confused
sepsis|fever of 39.5 after my surgery
sepsis|the wound is oozing pus and I have a fever
sepsis|he has a stiff neck and fever, a rash that does not fade, fever and a stiff neck
acute_limb|my foot has turned blue and cold
acute_limb|my leg is cold and pale
acute_limb|my calf is painful and swollen since the flight
acute_limb|my leg swelled up overnight
acute_limb|the bone is sticking out
cauda_equina|I can't pee and my legs are weak
cauda_equina|there is numbness between my legs
pregnancy|I am 20 weeks pregnant and bleeding
pregnancy|pregnant, and the baby stopped moving
unconscious|my father is unconscious
unconscious|he won't wake up
unconscious|she just collapsed
unconscious|my brother is having a seizure
eye|sudden loss of vision in my right eye
eye|there is a curtain over my eye
eye|bleach in my eye
chest_pain|chest feels like it's being crushed
chest_pain|I've got pains in my chest and my jaw hurts
chest_pain|my dad is clutching his chest
stroke|my wife can't feel her left side
stroke|his words are coming out jumbled
breathing|i cant breath properly
bleeding|I can't stop bleeding after the tooth extraction
bleeding|theres so much blood
suicide|I've been thinking of hurting myself
suicide|life isn't worth living
suicide|what's the point of living anymore
suicide|I've taken 20 paracetamol tablets
sepsis|temp 40 and shivering after my knee op
acute_limb|my leg is swollen and red after surgery
acute_limb|foot is numb and cold since the operation
pregnancy|I'm 8 weeks pregnant with bad pain on one side and bleeding
pregnancy|my water broke
unconscious|he's not responding
unconscious|he is unresponsive
chest_pain|my heart is racing and I feel like I'm going to pass out
chest_pain|chest pain
chest_pain|I am having chest pains
chest_pain|my chest is killing me
unconscious|she's had a fit and won't wake
suicide|I want to end my life
suicide|I dont want to be here anymore
unconscious|Help my mother collapsed
breathing|I can not breathe
chest_pain|heart attack
chest_pain|I think it's a heart attack
stroke|my face is numb on one side
breathing|coughing blood
stroke|can't move my legs suddenly
eye|my eye suddenly went dark
chest_pain|sharp pain behind my breastbone going to my back
chest_pain|my uncle is sweating and his chest hurts badly
stroke|mum's arm went floppy and she dribbles from one side
stroke|he cannot form sentences all of a sudden
breathing|wheezing so bad I can't talk
anaphylaxis|hives all over and my tongue feels thick
suicide|I keep thinking everyone would be happier if I were gone
suicide|I'm going to jump off the bridge
suicide|she tried to hang herself today
bleeding|nose has been bleeding for two hours non stop
bleeding|blood keeps gushing from the wound
sepsis|shaking with a temperature of 39.4 since chemo
acute_limb|leg turned purple and cold
cauda_equina|can't feel when I need to pee and my thighs are numb
pregnancy|I'm pregnant and had a seizure
unconscious|he's passed out and is barely breathing
eye|lost vision in my left eye an hour ago
chest_pain|pressure on my chest when I lie still
breathing|my baby is turning blue
suicide|I overdosed on insulin
chest_pain|There's a band of tightness round my chest and I'm sweating
chest_pain|left arm pain and nausea since an hour
stroke|grandma's smile is lopsided and she can't lift her arm
stroke|he keeps dropping things and his speech is off
breathing|I wake up gasping for air
breathing|can't get enough air lying flat
anaphylaxis|her lips and face swelled after penicillin
suicide|I just want it all to end
suicide|I have a plan to kill myself
suicide|I cut myself last night and I can't stop thinking about dying
violence|he said he would kill me
bleeding|my stitches opened and blood is soaking through the bandage
bleeding|I'm passing clots and soaking a pad every hour, I'm 10 weeks pregnant
bleeding|I vomited something like coffee grounds
sepsis|fever 39.8 and chills 3 days after hip replacement
sepsis|the wound smells bad, oozes pus, and I have fever
acute_limb|my calf is hot, red and swollen after the flight
acute_limb|toes turned black
acute_limb|no feeling in my foot and it is pale
cauda_equina|I have lost control of my bladder since yesterday
pregnancy|I haven't felt the baby move since yesterday, 34 weeks pregnant
unconscious|dad fainted and is not waking up
unconscious|she is having convulsions
eye|I see flashes and a dark curtain in my eye
eye|everything went black in one eye suddenly
breathing|طفلي لا يتنفس
unconscious|मेरे पिता बेहोश हो गए हैं
chest_pain|me duele el pecho mucho
stroke|my mum suddenly can't speak
suicide|I swallowed a whole bottle of pills
"""

NOT_HEARD = """
This queue is killing me
my knee is killing me on the stairs
the wait is killing me
I am dying to know the price
I could have died of embarrassment
I'd kill for a good night's sleep
I need to get something off my chest
Kill two birds with one stone
that price nearly gave me a heart attack
The quote almost gave me a heart attack
I nearly had a stroke when I saw the bill
it was a stroke of luck
I swim breaststroke
it cost me an arm and a leg
are you pulling my leg
I have cold feet about the operation
My heart is broken, my dog died
I learned it by heart
from the bottom of my heart, thank you
the hospital is bleeding me dry
I take a blood thinner
my blood pressure is high
the paperwork is so bloody long
I laughed so hard I couldn't breathe
I am holding my breath for the result
the shoes fit me well
I keep fit
It does not fit in my schedule
let us face the facts
Suicide Squad is a film
it would be financial suicide to pay that
No chest pain
I have no chest pain and no breathlessness
I don't have chest pain
never had chest pain
he denies chest pain
without any chest pain
no fever, chest pain or heavy bleeding
I am not suicidal
I have never thought of killing myself
I don't want to kill myself
the wound is not bleeding heavily
she is not unconscious
I had chest pain three years ago
chest pain in 2019, stent since
I had a heart attack last year
My father had a stroke
my uncle died of a heart attack
my mother had chest pain before her bypass, years ago
Family history of stroke
My grandmother was having a stroke when she died in 1998
I used to get chest pain before my stent
I was suicidal as a teenager
I had heavy bleeding after my first birth ten years ago
my leg was cold and pale two years ago
I fainted once as a child
What if I get chest pain on the plane?
what are the risks of heavy bleeding?
What are the symptoms of a stroke, like a drooping face?
What happens if the wound is bleeding a lot?
is chest pain a side effect of this?
I am afraid of having a stroke during surgery
I am worried about having heavy bleeding
could the operation cause sudden loss of vision?
if I have chest pain, who do I call?
does the surgery cause numbness between the legs
I read about people who want to die after surgery
I heard about someone who had a severe allergic reaction
My neighbour took an overdose last year
The article says a face droop is a warning sign
Does the insurance cover chest pain treatment?
I had a chest x-ray last week
the chest clinic wrote to me
I sleep badly and my knee hurts
my knee is swollen
the knee gets stuck
I cut my finger while cooking
I am pregnant and want to plan knee surgery later
My eyes are blurry from the cataract
I have diabetes and high blood pressure
I am short of money
I am breathless with excitement
My mother is scared of the anaesthetic
blood test results attached
I had a stroke of bad luck
How long is the recovery?
it hurts when I walk
I am 71 and my hip is finished
5 lakh is all we have
يؤلمني الركبة عند المشي
मेरे घुटने में दर्द है
I'm dead tired
we reached a dead end with insurance
she has a poker face
the surgeon took my breath away with his kindness
I get a bit breathless going upstairs since years, my GP knows
My late husband had a heart attack
I have had two strokes of luck
the bleeding stopped after the birth in 2010
do you need my ECG for chest pain history?
My knee gives way and I fall sometimes
her face lit up
the surgeon said I could faint if I stand up too fast
Is it normal to have swelling after ACL surgery?
I have a family history of heart attacks
I lost my sight in that eye in childhood
I had a fit of laughter
I've had no seizures since 2015
the pain shoots down my leg when I sit
my hand goes numb at night from carpal tunnel
numb toes from diabetes for years
we are dying to hear from you
I don't want to live in a hotel during treatment
I don't want to be here for more than a week after surgery
life has been hard but okay
I will take the tablets if needed
she swallowed her pride
I have an implant in my chest
chest size 42
My heart doctor is Dr Rao
she is 34 weeks pregnant and needs a cataract check
no blood in stool
I can't move to another country
I can't feel at ease with the price
the left leg is shorter
My father's heart attack in 2015 changed us
I don't have any chest pain, no breathlessness
Not bleeding any more, thank you
the cost will be the death of me
I had a stroke 5 years ago and take clopidogrel
She has a history of chest pain
my angina is stable, chest pain only in 2020
I am so tired of waiting I could scream
is numbness normal after surgery?
no swelling, fever, or bleeding heavily
My son hurt himself on the swing
I hurt myself playing football and tore my ACL
I fell and hurt myself while skiing
The doctor said it is not a heart attack
bleeding stopped last week
I had bypass after chest pain in March last year
he never had a seizure
I was told I could have a stroke if I stop warfarin
my pain is killing me at night
she was unconscious for a minute in the accident two years ago
hip pain, can't sleep
the leg is a bit swollen in the evening
I have a red rash on the arm
my blood sugar is heavily up and down
I can't see well because of the cataract
cannot walk far, cannot climb stairs
I am overweight, out of breath on stairs sometimes
the wound from 2012 healed
"""


def rows(table: str) -> list[str]:
    return [line for line in table.strip().splitlines() if line.strip()]


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize("row", rows(HEARD))
def test_an_emergency_is_heard(row: str) -> None:
    wanted, message = row.split("|", 1)
    found = red_flags(message)
    assert wanted in {flag.id for flag in found}
    for flag in found:
        assert 0 <= flag.start < flag.end <= len(message)


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize("message", rows(NOT_HEARD))
def test_an_idiom_the_past_a_denial_or_a_question_in_general_is_no_emergency(message: str) -> None:
    assert [flag.id for flag in red_flags(message)] == []


def test_the_tables_are_large_enough() -> None:
    assert len(rows(HEARD)) + len(rows(NOT_HEARD)) >= 120
    assert len(rows(NOT_HEARD)) >= 60


@pytest.mark.requirement("IN-24")
def test_the_text_carries_the_deployers_number_and_says_that_nobody_reviewed_it() -> None:
    found = red_flags("I have chest pain right now")
    assert "112" in emergency_text(found, number="112")
    assert "your local emergency number" in emergency_text(found, number="")
    assert rules_pack().review_status == "unreviewed"
    assert "not clinically reviewed" in rules_pack().label


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize("language", ["en", "ar", "hi", "fr"])
def test_a_crisis_is_answered_first_and_has_words_of_its_own(language: str) -> None:
    crisis, both = red_flags("I want to die"), red_flags("I want to die, and I can't breathe")
    alone = emergency_text(crisis, number="112", crisis_line="0800 1", language=language)
    assert "0800 1" in alone
    assert "{" not in alone
    assert emergency_text(both, number="112", crisis_line="0800 1", language=language).startswith(
        alone
    )


def test_a_contract_asks_the_same_rules() -> None:
    assert [one.id for one in Contract.find("TKR").red_flags("he is unconscious")] == [
        "unconscious"
    ]


def test_a_long_message_is_read_in_time_that_grows_with_its_length() -> None:
    assert red_flags("word " * 20_000 + "I have chest pain") != ()


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "refusal",
    [
        "I prefer not to answer that",
        "I'd rather not respond to this one",
        "We are not going to answer",
        "Won't answer that, sorry",
    ],
)
def test_a_person_who_will_not_answer_is_not_unconscious(refusal: str) -> None:
    assert red_flags(refusal) == ()


@pytest.mark.requirement("IN-24")
@pytest.mark.parametrize(
    "emergency",
    [
        "I prefer not to answer that, my husband is unconscious",
        "She is not answering and won't wake",
        "We can't get him to respond",
        "My father does not respond",
    ],
)
def test_a_person_who_cannot_answer_still_is(emergency: str) -> None:
    assert "unconscious" in {one.id for one in red_flags(emergency)}
