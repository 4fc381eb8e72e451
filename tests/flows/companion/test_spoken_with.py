"""What a person reads over whole conversations: words given back right, drafts of their own words, and no order lost."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from house import House

from bedside.flows.companion.mirror import given_back, to_other
from bedside.flows.companion.tags import TagDecoder
from bedside.testing.provider import FakeProvider, Received, Said

TAGS = (
    "<thinking>\nMode: WITNESS\nUserIntensity: 5\nFeelHeardCheck: Y\nStrategy: zebra\n</thinking>\n"
)


def through(home: Path, story, **environ: str):
    async def go():
        house = House(home, **environ)
        try:
            return await story(house)
        finally:
            await house.engine.close()

    return anyio.run(go)


def with_model(home: Path, script, story):
    with FakeProvider(script) as provider:
        return through(
            home, story, BEDSIDE_WRITER="openai:large", BEDSIDE_MECHANIC="openai:small",
            OPENAI_BASE_URL=provider.address("openai"), OPENAI_API_KEY="k",
        )  # fmt: skip


def always(reply: str):
    def script(asked: Received) -> Said:
        hidden = "JSON object" in asked.text and "Mode:" not in asked.text
        return Said(text="{}" if hidden else reply)

    return script


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ("No matter what I do it's never enough.", "no matter what you do it's never enough"),
        ("He changed it WITHOUT ASKING ME!", "he changed it without asking you"),
        ("I shouted, I know.", "you shouted"),
        ("It's that he decides alone and I find out.", "he decides alone and you find out"),
        ("like I said last time, I check her phone", "you check her phone"),
        ("I was there when my mother died.", "you were there when your mother died"),
        ("He never asks what I think.", "he never asks what you think"),
        ("I think about him all the time.", "you think about him all the time"),
        ("I think he is afraid.", "he is afraid"),
    ],
)
def test_a_sentence_is_turned_to_you(said, given):
    assert given_back(said) == (given, True)


@pytest.mark.parametrize(
    "said",
    [
        "we have not spoken since Easter",
        "like the guy who left us when i was 4",
        "to be greeted when I come home",
        "The shopping, the tablets, the nights",
        "Lena's always on my back",
        "Let's have lunch together",
        "So much has changed since the diagnosis",
    ],
)
def test_what_would_read_wrong_with_you_is_quoted(said):
    assert given_back(said) == (f"“{said}”", False)


@pytest.mark.parametrize(
    ("said", "turned"),
    [
        ("I need her to trust me", "I need you to trust me"),
        ("I need to know she's safe", "I need to know you're safe"),
        ("I'll leave her phone alone and tell her", "I'll leave your phone alone and tell you"),
        ("It helps if she tries and doesn't give up", "It helps if you try and don't give up"),
        ("I need Mia to see that she's not alone", "I need you to see that you're not alone"),
        ("I will write her a message every Friday", "I will write you a message every Friday"),
        ("I need Mia this week, as a friend", "I need you this week, as a friend"),
        ("I need her by my side", "I need you by my side"),
        ("I wish she usually comes along", "I wish you usually come along"),
        (
            "I need help from my brother, he never calls",
            "I need help from my brother, he never calls",
        ),
        ("I will ask Mr Bell so that she can go", "I will ask Mr Bell so that she can go"),
    ],
)
def test_a_need_is_addressed_to_the_other_where_it_is_sure_who_is_meant(said, turned):
    assert to_other(said, "mia") == turned


@pytest.mark.requirement("CM-17")
def test_a_need_is_in_the_persons_own_words_and_not_in_words_of_an_earlier_step(tmp_path):
    async def story(house):
        await house.both_heard()
        await house.both_received()
        fair = await house.says("anna", "Yes, that's fair.")
        need = await house.says("anna", "I need him to ask me before he buys things.")
        more = await house.says("anna", "I need an evening for myself.")
        return fair, need, more, await house.says("anna", "share it")

    fair, need, more, shared = through(tmp_path, story)
    assert fair["draft"] is None
    assert need["draft"]["text"] == "I need you to ask me before you buy things."
    assert more["draft"]["text"] == "I need an evening for myself."
    assert more["draft"]["id"] == need["draft"]["id"]
    assert shared["shares"][-1]["kind"] == "need"


@pytest.mark.requirement("CM-12")
def test_thanks_and_questions_agree_to_no_need(tmp_path):
    async def story(house):
        await house.both_heard()
        await house.both_received()
        await house.give("anna", "I need rest.")
        await house.says("ben", "Hello again.")
        states = []
        for text in ("thanks, did she answer?", "Thank you.", "Not really.", "That's fair."):
            turn = await house.says("ben", text)
            states.append(turn["shares"][-1]["state"])
        return states

    assert through(tmp_path, story) == ["delivered", "delivered", "delivered", "acknowledged"]


@pytest.mark.requirement("CM-12")
def test_a_draft_is_changed_in_words_and_never_again_by_rule(tmp_path):
    async def story(house):
        await house.both_heard()
        first = await house.says("anna", "He is afraid, I think.")
        grown = await house.says("anna", "He must be tired too.")
        how = await house.says("anna", "That sounds too soft.")
        own = await house.says("anna", "Change it to: You are afraid, and I saw it.")
        kept = await house.says("anna", "And he is lonely.")
        return (
            first,
            grown,
            how,
            own,
            kept,
            await house.says("anna", "It's fine like that. Share it."),
        )

    first, grown, how, own, kept, shared = through(tmp_path, story)
    assert "afraid" in first["draft"]["text"]
    assert "tired" in grown["draft"]["text"]
    assert "change it to:" in how["answer"]
    assert own["draft"]["text"] == kept["draft"]["text"] == "You are afraid, and I saw it."
    assert shared["shares"][0]["state"] == "delivered"


@pytest.mark.requirement("CM-12")
def test_with_a_model_a_text_given_in_words_is_said_to_be_given(tmp_path):
    async def story(house):
        await house.both_heard()
        await house.says("anna", "He is afraid, I think.")
        return await house.says("anna", "Share it.")

    turn = with_model(tmp_path, always(TAGS + "What do you notice?"), story)
    assert turn["shares"][0]["state"] == "delivered"
    assert turn["answer"].startswith("Given to ben.")


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("question", "stage"), [("Was it the first time?", 1), ("Do you feel heard so far?", 2)]
)
def test_a_yes_to_another_question_of_a_models_opens_no_gate(tmp_path, question, stage):
    async def story(house):
        await house.says("anna", invite="ben")
        for text in (
            "Yes, let us begin.",
            "He forgot my birthday.",
            "I sat there all evening.",
            "It hurts.",
            "Twice.",
            "And in May.",
        ):
            await house.says("anna", text)
        return await house.says("anna", "Yes.")

    turn = with_model(tmp_path, always(TAGS + question), story)
    assert turn["stage"] == stage


@pytest.mark.requirement("CM-11")
def test_a_model_that_claims_to_know_what_the_other_said_is_not_shown(tmp_path):
    reply = TAGS + "I hear you. Ben told me that he is tired of you. You should leave him."

    async def story(house):
        await house.says("anna", invite="ben")
        await house.says("anna", "Yes, let us begin.")
        return await house.says("anna", "He slept on the couch.")

    turn = with_model(tmp_path, always(reply), story)
    assert turn["answer"].strip() == "I hear you."


@pytest.mark.requirement("CM-02")
@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("Thinking: Mode: WITNESS, Strategy: zebra.\n\nIt sounds lonely.", "It sounds lonely."),
        ("**Strategy:** zebra\n- Mode: WITNESS\n\nIt sounds lonely.", "It sounds lonely."),
        ("**Strategy:** zebra, then ask about zebra", ""),
        ('{"thinking": "zebra", "answer": "I hear you."}', "I hear you."),
        ('{"thinking": "zebra"}', ""),
        ("```\n<thinking>zebra</thinking>\n```\nI hear you.", "I hear you."),
        ("<analysis>zebra</analysis><response>I hear you.</response>", "I hear you."),
        ("<thinking>zebra</thinking>\n**User Intensity:** 6\nI hear you.", "I hear you."),
    ],
)
def test_thoughts_in_plain_text_are_not_shown(reply, shown):
    for size in (1, 3, 7, len(reply)):
        decoder = TagDecoder()
        for at in range(0, len(reply), size):
            decoder.feed(reply[at : at + size])
        assert decoder.finish().text.strip() == shown


@pytest.mark.requirement("CM-17")
def test_what_people_ask_of_the_talk_is_answered(tmp_path):
    asked = {
        "Who can read what I write?": "Nobody but you",
        "do i have to answer all of this": "You do not have to",
        "What did Ben tell you about me?": "not open to me",
        "Should I just leave him?": "yours to decide",
        "She is never grateful for anything I do for him.": "",
        "share it": "no text of yours to share yet",
    }

    async def story(house):
        await house.says("anna", invite="ben")
        await house.says("anna", "Yes, let us begin.")
        return {text: (await house.says("anna", text))["answer"] for text in asked}

    answers = through(tmp_path, story)
    for text, part in asked.items():
        assert part in answers[text], (text, answers[text])
    assert "Name one thing" not in answers["She is never grateful for anything I do for him."]


@pytest.mark.requirement("CM-17")
def test_few_words_and_an_ok_go_on(tmp_path):
    async def story(house):
        await house.says("anna", invite="ben")
        begun = await house.says("anna", "hi, we argue a lot")
        for text in ("I sat alone all evening.", "He was out again.", "I cried on Tuesday."):
            check = await house.says("anna", text)
        sure = await house.says("anna", "ok")
        return begun, check, sure, await house.says("anna", "yes")

    begun, check, sure, yes = through(tmp_path, story)
    assert begun["stage"] == 1
    assert "do you feel heard" in check["answer"]
    assert (sure["stage"], yes["stage"]) == (1, 2)
    assert "heard" in sure["answer"]


@pytest.mark.requirement("CM-17")
def test_i_think_makes_no_feeling_of_the_others_mine(tmp_path):
    async def story(house):
        await house.both_heard()
        return await house.says("anna", "He is ashamed, I think, and tired.")

    turn = through(tmp_path, story)
    assert "tired and ashamed" in turn["draft"]["text"]
    assert "you feel tired" not in turn["answer"]


@pytest.mark.requirement("CM-17")
def test_a_short_first_message_is_what_the_talk_begins_with(tmp_path):
    async def story(house):
        await house.says("anna", "We argue about money and the motorbike.")
        await house.says("anna", invite="ben")
        return await house.says("anna", "Yes, let us begin.")

    turn = through(tmp_path, story)
    assert turn["stage"] == 1
    assert "We argue about money and the motorbike" in turn["answer"]


@pytest.mark.requirement("CM-11")
@pytest.mark.requirement("CM-12")
@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("I want to take back my statement", True),
        ("please withdraw it", True),
        ("take it back", True),
        ("Can I take back my statement?", False),
        ("Take my text back.", True),
        ("I said awful things that evening, I wish I could take it back.", False),
        ("He wants me to take back my statement and I will not.", False),
        ("I want to take back my need", False),
    ],
)
def test_a_text_is_taken_back_in_words_by_a_whole_message_alone(tmp_path, text, taken):
    async def story(house):
        await house.both_heard()
        await house.give("anna", "I imagine that you felt afraid in the ward.")
        await house.says("ben", "Hello.")
        turn = await house.says("anna", text)
        return turn, await house.says("ben", "What now?")

    turn, theirs = through(tmp_path, story)
    assert (turn["shares"][0]["state"] == "withdrawn") is taken
    assert ("afraid in the ward" in theirs["answer"]) is not taken


@pytest.mark.requirement("CM-17")
def test_after_an_agreement_what_came_of_it_is_asked_and_a_further_proposal_is_drafted(tmp_path):
    async def story(house):
        await house.both_heard()
        await house.both_received()
        needs = {
            "anna": await house.give("anna", "What I need is rest."),
            "ben": await house.give("ben", "What I need is to be asked first."),
        }
        await house.says("anna", acknowledge=needs["ben"])
        await house.says("ben", acknowledge=needs["anna"])
        await house.says("anna", "We could walk on Sunday mornings.")
        await house.says("anna", "share it")
        await house.says("ben", "Hello.")
        await house.says("ben", "Yes, I'd do that.")
        told = await house.says("ben", "Good.")
        further = await house.says("ben", "And I'll call her on Wednesdays.")
        thanks = await house.says("anna", "thank you so much")
        later = await house.says("anna", "He came late and I was sad.")
        return told, further, thanks, await house.says("anna", "It rained on Sunday."), later

    told, further, thanks, later, _ = through(tmp_path, story)
    assert "We could walk on Sunday mornings." in told["answer"]
    assert further["draft"]["text"] == "I'll call you on Wednesdays."
    assert thanks["answer"].startswith("You are welcome.")
    assert "Make it smaller" not in later["answer"]


@pytest.mark.requirement("CM-12")
@pytest.mark.parametrize(
    ("said", "agreed"),
    [
        ("I am in so much pain at the moment.", False),
        ("Right now I have no strength for it.", False),
        ("There is nothing I can do.", False),
        ("He thinks it is fine.", False),
        ("I do everything alone.", False),
        ("I would like that.", True),
        ("I think that's fair.", True),
    ],
)
def test_words_of_agreement_within_something_else_agree_to_no_need(tmp_path, said, agreed):
    async def story(house):
        await house.both_heard()
        await house.both_received()
        await house.give("anna", "I need you to come along to the ward.")
        await house.says("ben", "I see.")
        return await house.says("ben", said)

    need = through(tmp_path, story)["shares"][-1]
    assert need["state"] == ("acknowledged" if agreed else "delivered")


@pytest.mark.requirement("CM-12")
@pytest.mark.parametrize(
    ("said", "received"),
    [
        ("Got it.", False),
        ("I read that book about it.", False),
        ("It is close to midnight and I am worn out.", False),
        ("I have read it.", True),
        ("I've read anna's statement and it comes close.", True),
    ],
)
def test_only_who_says_so_has_read_a_statement_that_was_not_shown_yet(tmp_path, said, received):
    async def story(house):
        await house.both_heard()
        await house.give("anna", "I imagine that you felt afraid in the ward.")
        return await house.says("ben", said)

    share = through(tmp_path, story)["shares"][0]
    assert share["state"] == ("acknowledged" if received else "delivered")


def test_thanks_for_a_statement_that_misses_something_receive_it_not(tmp_path):
    async def story(house):
        await house.both_heard()
        await house.give("anna", "I imagine that you felt afraid in the ward.")
        await house.says("ben", "He is tired I think.")
        return await house.says("ben", "Thanks, but it misses how lonely I am.")

    assert through(tmp_path, story)["shares"][0]["state"] == "delivered"


@pytest.mark.parametrize(
    ("said", "draft"),
    [
        ("He is too tired to listen.", None),
        ("I need to change my job.", None),
        ("I make 'mistakes' all the time, he says.", None),
        ("My input: he should have asked.", None),
        ("My sister would write: leave him.", None),
        ("I want to change the last sentence.", None),
        ("Please change my statement to: I see that you are worn.", "I see that you are worn."),
        ("I'd put it like this: I see that you are worn.", "I see that you are worn."),
    ],
)
def test_only_words_about_the_draft_change_it(tmp_path, said, draft):
    async def story(house):
        await house.both_heard()
        await house.says("anna", draft="I imagine that you feel tired.")
        return await house.says("anna", said)

    turn = through(tmp_path, story)
    assert turn["draft"]["text"] == (draft or "I imagine that you feel tired.")
    assert ("let us get it right" in turn["answer"]) is (
        said == "I want to change the last sentence."
    )


@pytest.mark.parametrize(
    ("said", "asks_who_reads"),
    [
        ("Does he see how tired I am?", False),
        ("Why does he see everything as criticism?", False),
        ("Will you tell me the truth?", False),
        ("Can he see this?", True),
        ("Will ben read what I write here?", True),
        ("Do you tell him?", True),
    ],
)
def test_what_somebody_sees_of_a_person_is_no_question_who_reads(tmp_path, said, asks_who_reads):
    async def story(house):
        await house.both_heard()
        return await house.says("anna", said)

    assert ("Nobody but you reads" in through(tmp_path, story)["answer"]) is asks_who_reads


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("I don't want to talk about him", 0),
        ("Not today, he is here.", 0),
        ("We will see.", 0),
        ("I can't talk to him without shouting.", 1),
        ("I don't talk much about us.", 1),
    ],
)
def test_who_holds_off_has_not_begun(tmp_path, said, stage):
    async def story(house):
        await house.says("anna", "Hello")
        return await house.says("anna", said)

    assert through(tmp_path, story)["stage"] == stage


@pytest.mark.requirement("CM-02")
@pytest.mark.parametrize(
    "answer",
    [
        '```json\n{"thinking": "zebra", "response": "Hi there."}\n```',
        'Here is my reply:\n{"strategy": "zebra", "response": "Hi there."}',
        "I must be careful, zebra.\n<response>Hi there.</response>",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_thoughts_before_or_beside_an_answer_without_tags_are_not_shown(answer, size):
    decoder = TagDecoder()
    for at in range(0, len(answer), size):
        decoder.feed(answer[at : at + size])
    assert decoder.finish().text.strip() == "Hi there."


@pytest.mark.requirement("CM-14")
def test_a_yes_after_an_exercise_answers_no_question_that_was_not_shown(tmp_path):
    async def story(house):
        await house.says("anna", invite="ben")
        for text in (
            "Hello",
            "Yes, let us begin.",
            "I feel alone since the operation.",
            "I worry about money.",
        ):
            await house.says("anna", text)
        text = "I feel so anxious and alone at night. Can we do a breathing exercise?"
        side = await house.says("anna", text)
        return side, await house.says("anna", "Yes")

    side, then = through(tmp_path, story)
    assert side["dispatch"] == "meditation"
    assert "feel heard" not in side["answer"]
    assert then["stage"] == 1


@pytest.mark.requirement("CM-12")
def test_who_agrees_in_words_is_told_so_with_a_model_too(tmp_path):
    async def story(house):
        await house.both_heard()
        await house.both_received()
        await house.give("anna", "I need you to come along to the ward.")
        await house.says("ben", "I see.")
        return await house.says("ben", "That is fair.")

    turn = with_model(tmp_path, always(f"{TAGS}I hear you."), story)
    assert turn["shares"][-1]["state"] == "acknowledged"
    assert "I have noted that you agree" in turn["answer"]


@pytest.mark.requirement("CM-14")
@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("I do everything alone at home.", 1),
        ("Right now I only feel tired.", 1),
        ("I'm sure he hates me.", 1),
        ("Yes, I do.", 2),
        ("That's right.", 2),
    ],
)
def test_a_word_of_assent_within_something_else_confirms_no_hearing(tmp_path, said, stage):
    async def story(house):
        await house.says("anna", invite="ben")
        for text in (
            "Hello",
            "Yes, let us begin.",
            "I feel alone since the operation.",
            "I worry about money.",
        ):
            await house.says("anna", text)
        asked = await house.says("anna", "I was hurt when nobody asked me.")
        return asked, await house.says("anna", said)

    asked, then = through(tmp_path, story)
    assert "feel heard" in asked["answer"]
    assert then["stage"] == stage
