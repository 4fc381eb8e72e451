"""Ranking what was said: each signal on its own, and the whole on a part of LoCoMo."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from bedside.core.errors import InvalidArgument
from bedside.evals.memory import bench, figures, read
from bedside.evals.memory_floor import plain_bm25
from bedside.memory.rank import Corpus, Said, rank, signals


def corpus(*lines: tuple[str, str, str], day: date | None = None) -> Corpus:
    return Corpus(
        [
            Said(key=str(n), session=session, speaker=speaker, text=text, day=day)
            for n, (session, speaker, text) in enumerate(lines)
        ]
    )


def first(found: Corpus, question: str, **more: object) -> str:
    return found.said[rank(found, question, **more).best()[0]].text  # type: ignore[arg-type]


def test_a_short_answer_is_found_by_the_words_of_what_it_answers() -> None:
    talk = corpus(
        ("1", "Ana", "The weather is fine here."),
        ("2", "Ben", "Which instrument did you learn as a child?"),
        ("2", "Ana", "Clarinet, for six years."),
        ("3", "Ana", "We bought a new kettle."),
    )
    assert first(talk, "Which instrument did Ana learn?") == "Clarinet, for six years."


def test_neighbours_of_another_session_lend_no_words() -> None:
    talk = corpus(("1", "Ana", "I learned the clarinet."), ("2", "Ana", "Six years."),
                  ("3", "Ana", "Nothing here."))  # fmt: skip
    context = signals(talk, "clarinet", None)["context"]
    assert context[0] > context[1] == context[2]
    together = corpus(("1", "Ana", "I learned the clarinet."), ("1", "Ana", "Six years."),
                      ("3", "Ana", "Nothing here."))  # fmt: skip
    context = signals(together, "clarinet", None)["context"]
    assert context[0] > context[1] > context[2]


def test_the_person_asked_about_is_preferred_and_i_is_the_one_who_asks() -> None:
    talk = corpus(("1", "Ana", "The dog is brown."), ("2", "Ben", "The dog is brown."))
    assert rank(talk, "What did Ben say of the dog?").best()[0] == 1
    assert rank(talk, "What did I say of the dog?", own="Ana").best()[0] == 0


def test_a_named_day_finds_what_was_said_of_it() -> None:
    talk = Corpus([
        Said(key="0", session="1", speaker="Ana", text="We had dinner.", day=date(2023, 4, 1)),
        Said(key="1", session="2", speaker="Ana", text="We had dinner yesterday.",
             day=date(2023, 5, 4)),
    ])  # fmt: skip
    assert rank(talk, "Who dined on May 3, 2023?").best()[0] == 1
    assert rank(talk, "Who dined on April 1, 2023?").best()[0] == 0


def test_meaning_helps_and_says_nothing_where_all_are_alike() -> None:
    talk = corpus(("1", "Ana", "alpha"), ("2", "Ana", "beta"), ("3", "Ana", "gamma"))
    found = rank(talk, "delta", similarity=np.array([0.1, 0.9, 0.5]))
    assert found.best() == [1, 2, 0]
    assert rank(talk, "delta", similarity=np.array([0.4, 0.4, 0.4])).best() == [0, 1, 2]
    assert rank(talk, "delta").similarity is None


def test_nothing_said_ranks_nothing_and_equals_keep_their_order() -> None:
    assert rank(Corpus([]), "anything").best() == []
    same = corpus(*[("1", "Ana", "the same words")] * 4)
    assert rank(same, "unknown").best() == [0, 1, 2, 3]
    assert rank(same, "").best_sessions() == [0]


@pytest.mark.requirement("EN-Y4")
def test_words_alone_rank_locomo_far_above_plain_bm25(shared_data: Path) -> None:
    """Session: rank of a session; turn: rank and share of single turns. No vectors here."""
    conversation = read(shared_data)[1]
    talk = Corpus([
        Said(key=key, session=of, speaker=conversation.names[role], text=text, day=day)
        for key, of, role, text, day in conversation.turns
    ])  # fmt: skip
    ours: list[dict[str, float]] = []
    for question, evidence, _ in conversation.questions:
        found = rank(talk, question)
        order = [talk.said[place].key for place in found.best()]
        sessions = [talk.sessions[place] for place in found.best_sessions()]
        ours.append(figures(order, sessions, evidence))
    floor = plain_bm25(conversation)
    assert len(ours) == len(floor) == 81

    def mean(rows: list[dict[str, float]], name: str) -> float:
        return sum(row[name] for row in rows) / len(rows)

    assert mean(ours, "turn_recall_at_10") >= 0.75 > mean(floor, "turn_recall_at_10")
    assert mean(ours, "turn_mrr") >= 0.55 > mean(floor, "turn_mrr")
    assert mean(ours, "session_mrr") >= 0.80 > mean(floor, "session_mrr")


def test_the_floor_is_the_published_one_on_all_five_conversations(shared_data: Path) -> None:
    rows = [row for one in read(shared_data) for row in plain_bm25(one)]
    assert len(rows) == 759
    for name, published in (
        ("session_mrr", 0.735), ("turn_recall_at_10", 0.538), ("turn_mrr", 0.385),
    ):  # fmt: skip
        mean = sum(row[name] for row in rows) / len(rows)
        assert mean == pytest.approx(published, abs=0.0006)


class _Even:
    id, dim = "even", 4

    def embed(self, texts, *, kind):
        del kind
        return np.full((len(texts), self.dim), 0.5, dtype=np.float32)


def test_the_bench_times_a_handful_of_queries_and_refuses_one(
    shared_data: Path, tmp_path: Path
) -> None:
    def run(queries: int) -> dict[str, object]:
        return bench(
            shared_data, cache=tmp_path, sizes=(20,), queries=queries, embedder=_Even(),
            tell=lambda _: None,
        )  # fmt: skip

    assert "'n': 2" in str(run(3)["messages"])
    with pytest.raises(InvalidArgument):
        run(1)
