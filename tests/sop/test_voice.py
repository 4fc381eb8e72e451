"""The voice rules on answers: what is cut, what is counted, and what may stand."""

from __future__ import annotations

import pytest

from bedside.sop.voice import cut, one_question, repeated, voice

BREACHES = """
diagnosis|You have severe osteoarthritis.
diagnosis|It sounds like a meniscus tear.
diagnosis|This is most likely a heart attack.
diagnosis|She probably has diabetes.
diagnosis|Your X-ray shows that the joint is worn.
diagnosis|The results suggest you have an infection.
diagnosis|Your HbA1c is high.
diagnosis|It's nothing serious.
diagnosis|You definitely need a knee replacement.
diagnosis|You don't need surgery.
diagnosis|My diagnosis is tendinitis.
diagnosis|That looks like avascular necrosis.
prescription|You should stop taking warfarin.
prescription|Take ibuprofen twice a day.
prescription|Please stop your blood thinner five days before.
prescription|You can take 400 mg every six hours.
prescription|I recommend taking paracetamol.
prescription|It is safe to stop it now.
prescription|You may want to skip it, and take aspirin instead.
prescription|Put ice on the knee.
prescription|She must not take metformin.
prescription|I suggest starting physiotherapy.
prescription|It's fine to fly after a week.
outcome_promise|You will walk again.
outcome_promise|Everything will be fine.
outcome_promise|The surgery is going to go well.
outcome_promise|I promise that it works.
outcome_promise|It is completely safe.
outcome_promise|The success rate is 95 %.
outcome_promise|There is a 98% chance of success.
outcome_promise|Your knee will heal.
outcome_promise|You'll definitely get pregnant.
outcome_promise|There is nothing to worry about.
outcome_promise|A cure is guaranteed.
diagnosis|Based on what you describe, it's arthritis.
diagnosis|You likely have a torn meniscus.
diagnosis|That's a sign of infection.
diagnosis|Honestly, I think you have a blood clot.
diagnosis|It could be an infection.
diagnosis|From your symptoms, angina is the most likely cause.
diagnosis|Your knee is bone on bone.
diagnosis|The blockage is severe.
prescription|Stop the warfarin 5 days before.
prescription|Aspirin 75 mg daily is enough.
prescription|You can safely stop metformin.
prescription|Just take two paracetamol.
prescription|Don't take the blood thinner tomorrow.
prescription|Increase your insulin a little.
prescription|I'd take ibuprofen.
outcome_promise|You will be able to walk within weeks.
outcome_promise|Most people recover fully, and so will you.
outcome_promise|There's a 95% success rate.
outcome_promise|You'll be pain free.
outcome_promise|The surgery always works.
outcome_promise|She will be fine.
outcome_promise|You are going to be okay.
outcome_promise|I guarantee it.
outcome_promise|This surgery will fix it.
diagnosis|Surgery is the best option for you.
diagnosis|You need an operation.
prescription|Yes, you can stop taking it.
diagnosis|No, it isn't cancer.
diagnosis|It isn't serious.
diagnosis|Your results are normal.
prescription|Rest and ice the knee.
prescription|Ibuprofen would help.
outcome_promise|Nothing can go wrong.
outcome_promise|You have nothing to fear.
prescription|Take 500mg.
prescription|Yes, stop it.
prescription|You could try turmeric.
outcome_promise|Your chances are good.
outcome_promise|He'll live.
diagnosis|It is cancer.
diagnosis|You do have glaucoma.
diagnosis|It's probably just a sprain.
diagnosis|It seems you might be suffering from gout.
diagnosis|The scan shows nothing bad.
diagnosis|This kind of pain usually means a torn ligament.
diagnosis|I'd say it's early arthritis.
diagnosis|You're probably diabetic.
diagnosis|That is a typical case of sciatica.
diagnosis|Your heart is weak.
diagnosis|You have no cancer.
prescription|Skip the clopidogrel for a week.
prescription|I would advise you to take painkillers.
prescription|Half a tablet should be enough.
prescription|Swap warfarin for aspirin.
prescription|You don't need to take insulin that day.
prescription|It would be wise to stop smoking and take vitamin D.
prescription|You can fly after ten days.
outcome_promise|Success is guaranteed.
outcome_promise|You'll walk out of the hospital.
outcome_promise|The operation will give you your life back.
outcome_promise|There are no complications.
outcome_promise|Recovery is always quick.
outcome_promise|Don't worry, it's a routine operation without risk.
outcome_promise|You will see perfectly.
outcome_promise|Your baby will be healthy.
outcome_promise|I'm sure it will go well.
outcome_promise|He will be back on his feet in a week.
outcome_promise|Chances of success are above 90 percent.
outcome_promise|You won't feel any pain.
diagnosis|Hip replacement is better than injections for you.
diagnosis|You should have the surgery soon.
diagnosis|It looks infected.
diagnosis|You appear to have a hernia.
diagnosis|That sounds like rheumatoid arthritis to me.
diagnosis|The lump is benign.
diagnosis|Your numbers are a bit off.
diagnosis|Yes, it's broken.
prescription|Try cutting down your metformin.
prescription|Paracetamol is safe for you.
prescription|Stop eating sugar for two weeks before.
prescription|You can leave out the evening dose.
prescription|Double up if it hurts.
outcome_promise|You'll be dancing at the wedding.
outcome_promise|This always turns out well.
diagnosis|You're in no danger.
outcome_promise|The result will be excellent.
diagnosis|You have nothing serious.
diagnosis|I believe an operation is unavoidable.
prescription|It's safe to wait a year.
outcome_promise|Your heart can take it.
outcome_promise|The pain will go away after surgery.
outcome_promise|Nobody dies from this.
forbidden_phrase|Your body is telling you something.
forbidden_phrase|You should send the report.
forbidden_phrase|Don't worry about it.
forbidden_phrase|Trust me on this.
forbidden_phrase|Thank you for sharing that with me.
forbidden_phrase|Great! Which knee is it?
forbidden_phrase|I understand how you feel.
"""

CLEAN = """
Which knee is it: left, right, or both?
I'm the AI coordinator here, not a doctor, so the medical calls stay with the surgeons.
Please ask the doctor who prescribed it before changing anything.
I can't tell you whether it is safe to stop it; your cardiologist can.
You said that you have diabetes; I have noted it.
You mentioned arthritis in the left hip.
The report states moderate joint space narrowing.
Do you take a blood thinner, such as warfarin?
Are there other health conditions, such as diabetes or heart disease?
I cannot promise that you will walk without pain; that is for the surgeon to discuss.
Nobody can guarantee the outcome.
The surgeon will judge from the X-ray.
Terrified is a heavy thing to carry around.
5 lakh INR (about $6,000) is noted.
Your X-ray is here and being read; that takes about a minute.
Has this knee been operated on before?
Whether you need an operation is the surgeon's question.
I am so sorry that it is back.
The estimate comes from the hospital and usually includes the stay.
Could you upload the report again?
Once your age is in, matching can begin.
How old is your mother?
Let me note the question for the anaesthetist.
It will be read in a minute.
The case can be resumed by its link.
Was there a heart attack in the last three months?
An active infection is looked at by a clinician first.
When did the injury happen?
I have the left knee, and I will pass on that you take clopidogrel.
Success depends on many things that only the surgeon can weigh.
An injection is something to ask the surgeon about.
Which tablets do you take?
The team will call you back.
You can skip this question.
You can start with whichever document you have.
Your message reached me.
I'll walk you through the upload.
It may take a day until the report is read.
The report is being read, and it will be ready in a minute.
You will get the estimate in writing.
You will see the confirmation on the next screen.
A second opinion can be asked for at any time.
There is no wrong answer here.
The surgeon will explain the risks and what the scan shows.
I can't say what the scan shows.
Pain at night is noted.
Let us leave the budget open for now.
He can join the chat himself, if he likes.
That must be hard when the knee wakes you every night.
I have noted diabetes and high blood pressure.
So the left hip, and you are 71; which country do you live in?
Blood thinners are planned by the treating team, so do you take one?
An angiogram report helps the surgeons; has one been done?
The hospital will send a written estimate.
Your ECG is here.
You can upload the report as a photo whenever it suits you.
A person from the team can join at any time.
I can note that question for the surgeon.
You told me that you stopped smoking, I have that.
The cataract surgeon will want to know about tamsulosin; have you ever taken it?
Whether it is an infection is for a clinician to say.
It is fine not to know.
That is fine; we can leave it open.
Take your time.
It will take about a minute.
It takes a few days until the hospital answers.
Please start with whatever you have.
Is your mother able to lie flat for half an hour?
"""


def rows(table: str) -> list[str]:
    return table.strip().splitlines()


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize("row", rows(BREACHES))
def test_a_breach_is_found_with_the_sentence_to_cut(row: str) -> None:
    kind, sentence = row.split("|", 1)
    answer = f"Thanks, noted. {sentence} The rest may stand."
    found = [one for one in voice(answer) if one.kind == kind]
    assert found
    assert all(one.severe == (kind != "forbidden_phrase") for one in found)
    left = cut(answer, found)
    assert "The rest may stand." in left
    assert "Thanks, noted." in left
    assert found[0].why.split()[0] in answer


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize("answer", rows(CLEAN))
def test_what_a_coordinator_may_say_stands(answer: str) -> None:
    assert voice(answer) == ()


@pytest.mark.requirement("IN-12")
@pytest.mark.parametrize(
    ("answer", "most"),
    [
        ("Noted. Which knee is it?", 0),
        ("Which knee is it: left, right, or both?", 0),
        ("Which knee is it? And how old are you?", 1),
        ("How old are you, and where do you live?", 1),
        ("How old is she and does she take a blood thinner?", 1),
        ("Is it the left knee? Is it the right? How old are you?", 2),
        ("Nothing more for now.", 0),
        ("أي ركبة؟ كم عمرك؟", 1),
    ],
)
def test_whatever_asks_beyond_the_first_question_is_named(answer: str, most: int) -> None:
    assert len(one_question(answer)) == most


@pytest.mark.requirement("IN-12")
def test_a_question_asked_before_or_answered_is_named_and_a_new_one_is_not() -> None:
    before = ["Noted. How old is the person who needs the treatment?"]
    assert repeated("And how old is the person who needs treatment?", before)
    assert not repeated("Which country do you live in?", before)
    assert (
        repeated("Which knee is it?", [], answered=["Which knee is it: left, right, or both?"])
        == ()
    )
    assert repeated(
        "Which knee is it, left, right or both?",
        [],
        answered=["Which knee is it: left, right, or both?"],
    )


def test_cutting_everything_leaves_nothing_and_says_so_by_the_empty_text() -> None:
    answer = "You have arthritis."
    assert cut(answer, voice(answer)) == ""
