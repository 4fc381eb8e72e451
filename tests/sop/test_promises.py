"""Offers of an answer, and premature announcements of matching."""

from __future__ import annotations

import pytest

from bedside.sop import Contract, State
from bedside.sop.promises import promises

OFFERS = """
Shall I explain what the stay includes?
Would it help if I listed the documents?
Want me to note that for the surgeon?
Do you want me to send the link again?
I can walk you through the upload.
I'll note the question for the anaesthetist.
I will come back to the price in a moment.
Let me explain what the estimate covers.
Would you like me to connect you to a person?
If you like, I can go over the steps.
I'd be happy to compare the two.
Should I put the question to the team?
Would you like a short summary?
We can open the confirmation screen now.
Could I show you how the matching works?
Would it be easier if we went on in Hindi?
I'm going to ask the surgeon about the flight.
May I pass this on to the team?
I’ll keep the case open for you.
क्या मैं आपको दस्तावेज़ों की सूची दूँ?
هل تريد أن أشرح لك الخطوات؟
"""
NONE = """
Which knee is it: left, right, or both?
May I ask how old you are?
Can I just confirm the side?
I can't tell you whether it is safe.
I cannot book it from here.
I won't share anything without your word.
Let me know when you are ready.
The surgeon will explain the risks.
Have you been operated on before?
The estimate usually includes the stay.
Your X-ray is being read.
I have noted 5 lakh INR.
Let me make sure that I have it right: the left one?
They can answer that.
Do you take a blood thinner?
"""


@pytest.mark.requirement("IN-08")
@pytest.mark.parametrize("offer", OFFERS.strip().splitlines())
def test_an_offer_is_found_among_other_sentences(offer: str) -> None:
    found = promises(f"Your X-ray is being read. {offer} How old are you?")
    assert found == (offer.replace("’", "'"),)


@pytest.mark.requirement("IN-08")
@pytest.mark.parametrize("sentence", NONE.strip().splitlines())
def test_a_question_a_refusal_and_what_others_do_are_no_offers(sentence: str) -> None:
    assert promises(sentence) == ()


@pytest.mark.requirement("IN-08")
def test_at_most_three_are_kept_the_oldest_dropped_and_repetitions_count_once() -> None:
    said = "I can explain A. I can explain B. I can explain C. I can explain D. I can explain B."
    assert promises(said) == ("I can explain C.", "I can explain D.", "I can explain B.")


PREMATURE = """
I've found three hospitals for you.
I am matching you with surgeons now.
Your case is complete.
We have everything we need.
I'm sending your details to the hospital.
Here are your matches.
Let's start matching.
You're all set for matching.
Your file is ready to go to the providers.
I'll now connect you with a surgeon.
Matching has begun.
I have shortlisted two clinics.
"""
FINE = """
Once your age is in, matching can begin.
Before I can match you, how old are you?
I can't match you yet.
Which country do you live in?
After that, I'll look for hospitals.
Nothing is sent until you confirm it.
The next step is matching, when the side is known.
Matching compares hospitals on stated reasons.
I'll note that for the surgeon.
"""


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize("sentence", PREMATURE.strip().splitlines())
def test_matching_is_not_announced_while_something_mandatory_is_missing(sentence: str) -> None:
    sop = Contract.find("TKR")
    assert sop.scope_check(f"Noted. {sentence}", State.new(sop)) == (sentence,)


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize("sentence", FINE.strip().splitlines())
def test_speaking_of_matching_as_a_later_step_is_within_scope(sentence: str) -> None:
    sop = Contract.find("TKR")
    assert sop.scope_check(sentence, State.new(sop)) == ()


@pytest.mark.requirement("IN-12")
def test_with_nothing_missing_the_scope_is_open() -> None:
    sop = Contract.find("TKR")
    state = State.new(sop)
    for field in sop.fields:
        state = state.with_value(field.id, "x", said="x")
    assert sop.scope_check("Your case is complete.", state) == ()


@pytest.mark.requirement("IN-08")
@pytest.mark.parametrize(
    "offer",
    [
        "We intend to phone the clinic for you.",
        "You can expect to hear from us on Thursday.",
        "What about me reading it out slowly?",
        "Are you okay with me passing this on?",
        "I can send the forms that the clinic will want.",
    ],
)
def test_an_offer_is_found_by_its_build(offer: str) -> None:
    assert promises(offer) == (offer,)


@pytest.mark.parametrize(
    "sentence",
    [
        "The clinic will send me a note.",
        "We will see.",
        "You will see a list.",
        "I will need a date.",
    ],
)
def test_what_nobody_here_offers_is_no_offer(sentence: str) -> None:
    assert promises(sentence) == ()
