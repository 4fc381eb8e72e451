"""On real-shaped records: a seeded sample of the question set, against gold from the raw JSON."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from bedside.evals.copilot import Bench
from bedside.evals.copilot_questions import questions
from bedside.evals.copilot_score import score

PER_KIND = 4


@pytest.fixture(scope="module")
def bench(shared_data, tmp_path_factory):
    made = Bench(shared_data / "records" / "synthea_r4", tmp_path_factory.mktemp("copilot"))
    yield made
    made.close()


def sample():
    chosen = random.Random(20)
    kinds = sorted({one.kind for one in questions(split="dev")})
    for kind in kinds:
        group = questions(split="dev", kind=kind)
        yield from chosen.sample(group, min(PER_KIND, len(group)))


@pytest.mark.slow
@pytest.mark.requirement("CO-01")
@pytest.mark.timeout(300)
def test_no_question_of_the_sample_is_answered_wrong_and_most_are_answered(bench):
    outcomes: Counter[str] = Counter()
    for question in sample():
        asked = bench.ask(question)
        assert asked.prompt.tokens <= 6_000
        assert asked.removed == (), question.id
        if asked.draft is None:
            outcomes["left to the writer"] += 1
            continue
        assert question.kind != "open", question.id
        assert score(asked.answer, asked.gold) == "correct", question.id
        outcomes["by rule"] += 1
    assert outcomes["by rule"] > outcomes["left to the writer"]
