"""Recall on LoCoMo's five development conversations: no model, through the room as it serves turns.

Each conversation becomes stored sessions of one person; questions are asked in a later session. Three
figures, each with its granularity: a session's rank (MRR of the first session that holds evidence),
the share of evidence turns among the ten best turns, and a turn's rank (MRR of the first evidence
turn). Questions without evidence and those that cannot be answered (category 5) are left out.
"""

from __future__ import annotations

import hashlib
import json
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sqlalchemy import insert

from bedside.context.tokens import counter
from bedside.core.access import Grant
from bedside.core.errors import InvalidArgument
from bedside.core.ids import ActorId, PersonId, SessionId, TenantId
from bedside.core.value import value
from bedside.evals.memory_floor import plain_bm25
from bedside.knowledge.embed.minilm import MiniLM
from bedside.knowledge.embed.protocol import Embedder, Floats2d
from bedside.memory import consent
from bedside.memory.needs import RecallNeed
from bedside.memory.recall import Memory
from bedside.storage.engine import open_engine, sqlite_url
from bedside.storage.store import Store
from bedside.storage.tables import metadata
from bedside.storage.tables.source import source
from bedside.storage.tables.turn import message, session, turn

__all__ = ["CHOSEN_ON", "Conversation", "bench", "fill", "read", "run"]

CHOSEN_ON = ("conv-26", "conv-41")
"""The weights of the ranking were chosen on these two; the other three are held out."""
_UNANSWERABLE = 5
_TEN = 10
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
ASKED = SessionId("asked")


@value
class Conversation:
    """One conversation: its turns as (id, session, role, text, day), and its answerable questions.

    `names` maps the roles to the two names. `questions` are (question, ids of evidence turns,
    category).
    """

    id: str
    names: Mapping[str, str]
    turns: tuple[tuple[str, str, str, str, date], ...]
    questions: tuple[tuple[str, frozenset[str], int], ...]


class CachedEmbedder:
    """An embedder whose vectors are kept by their text, so that a second run asks it nothing."""

    def __init__(self, inner: Embedder, *, cache: Path) -> None:
        self._inner, self._path = inner, cache / f"memory-{_digest(inner.id, '')}.npz"
        self._rows: dict[str, Any] = {}
        self.made = 0
        if self._path.is_file():
            with np.load(self._path) as held:
                self._rows = dict(zip(held["keys"].tolist(), held["rows"], strict=True))

    @property
    def id(self) -> str:
        """The inner model's."""
        return self._inner.id

    @property
    def dim(self) -> int:
        """The inner model's."""
        return self._inner.dim

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"]) -> Floats2d:
        """Vectors of texts, those not known made by the inner model."""
        keys = [_digest(kind, text) for text in texts]
        missing = {
            key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows
        }
        if missing:
            rows = self._inner.embed(list(missing.values()), kind=kind)
            self._rows.update(zip(missing, rows, strict=True))
            self.made += len(missing)
        return np.stack([self._rows[key] for key in keys])

    def save(self) -> None:
        """Keep what was made."""
        if self.made:
            np.savez(
                self._path,
                keys=np.array(list(self._rows)),
                rows=np.stack(list(self._rows.values())),
            )


def _digest(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}\0{text}".encode()).hexdigest()[:24]


class _Clock:
    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return time.perf_counter()


def read(data: Path) -> list[Conversation]:
    """The conversations. A shared picture stands in its turn as "[shares ...]" with its caption."""
    path = data / "memory/locomo/locomo_dev5.json"
    return [_conversation(tree) for tree in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(tree: Mapping[str, Any]) -> Conversation:
    held = tree["conversation"]
    names = {"user": held["speaker_a"], "assistant": held["speaker_b"]}
    roles = {name: role for role, name in names.items()}
    turns: list[tuple[str, str, str, str, date]] = []
    numbers = sorted(int(k[8:]) for k in held if re.fullmatch(r"session_\d+", k))
    for number in numbers:
        day = _day(held[f"session_{number}_date_time"])
        for one in held[f"session_{number}"]:
            caption = f" [shares {one['blip_caption']}]" if one.get("blip_caption") else ""
            role = roles[one["speaker"]]
            turns.append((one["dia_id"], f"D{number}", role, one["text"] + caption, day))
    known = {one[0] for one in turns}
    questions: list[tuple[str, frozenset[str], int]] = []
    for one in tree["qa"]:
        named = {ident for text in one["evidence"] for ident in re.findall(r"D\d+:\d+", text)}
        if one["category"] != _UNANSWERABLE and named:
            questions.append((one["question"], frozenset(named & known), one["category"]))
    return Conversation(
        id=tree["sample_id"], names=names, turns=tuple(turns), questions=tuple(questions)
    )


def _day(written: str) -> date:
    found = re.search(r"on (\d+) (\w+), (\d{4})", written)
    if found is None:
        message = "a session without its date"
        raise ValueError(message)
    return date(int(found[3]), _MONTHS.index(found[2]) + 1, int(found[1]))


def grant_of(person: str) -> Grant:
    """What the asking person may read."""
    return Grant(
        tenant=TenantId("eval"),
        actor=ActorId(person),
        audit_seq=1,
        person=PersonId(person),
        session=ASKED,
    )


def fill(store: Store, conversation: Conversation, *, person: str) -> None:
    """The conversation as stored sessions of one person."""

    def write(connection: Any) -> None:
        seen: Counter[str] = Counter()
        for ident, of, role, text, day in conversation.turns:
            name = f"{person}:{of}"
            at = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=seen[of])
            key = f"{person}:{ident}"
            own = {"tenant": "eval", "session": name}
            if not seen[of]:
                connection.execute(
                    insert(session).values(
                        tenant="eval", id=name, flow="companion", actor=person, as_of=day,
                        pinned="{}", revision=0, fence=0, created_at=at,
                    )
                )  # fmt: skip
            connection.execute(
                insert(turn).values(
                    **own, id=key, flow="companion", actor=person, request_sha256="",
                    status="complete", fence=0, started_at=at,
                )
            )  # fmt: skip
            connection.execute(
                insert(source).values(
                    **own, id=key, revision=1, kind="message", title="message", dated=day,
                    sha256=_digest("", text), text=text, created_at=at,
                )
            )  # fmt: skip
            connection.execute(
                insert(message).values(
                    **own, ordinal=seen[of], turn=key, person=person, role=role, source=key, at=at
                )
            )
            seen[of] += 1
        consent.give(connection, grant_of(person), "across", at=_Clock().now())

    store.write_now(write)


def run(
    data: Path,
    *,
    cache: Path,
    embedder: Embedder | None = None,
    tell: Callable[[str], None] = print,
) -> dict[str, object]:
    """Measure recall.

    Args:
        data: The folder of measuring data.
        cache: For the model and the vectors.
        embedder: The local model unless given.
        tell: Told how far it is.
    """
    model = CachedEmbedder(embedder or MiniLM(cache=cache), cache=cache)
    conversations = read(data)
    rows: dict[str, list[dict[str, Any]]] = {"hybrid": [], "words": [], "floor": []}
    for number, conversation in enumerate(conversations):
        rows["floor"] += plain_bm25(conversation)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            store = Store(open_engine(sqlite_url(Path(folder))))
            metadata.create_all(store.engine)
            person = f"person-{number}"
            fill(store, conversation, person=person)
            for name, used in (("words", None), ("hybrid", model)):
                room = Memory(store, embedder=used, clock=_Clock(), count=counter("o200k_base"))
                room.catch_up_now(grant_of(person), names=conversation.names)
                rows[name] += _asked(room, conversation, person=person)
            store.close()
        model.save()
        tell(f"{conversation.id}: {_means(rows['hybrid'])}")
    return _report(rows)


def _asked(room: Memory, conversation: Conversation, *, person: str) -> list[dict[str, Any]]:
    """One row a question: where its evidence stands, and what a turn would be given."""
    grant, found = grant_of(person), []
    for text, evidence, category in conversation.questions:
        need = RecallNeed(
            name="recall", query=text, depth="full", across=True,
            names=tuple(conversation.names.items()),
        )  # fmt: skip
        begun = time.perf_counter()
        given = room.recall_now(need, grant)
        spent = (time.perf_counter() - begun) * 1000
        corpus, ranking = room.ranking_now(need, grant)
        order = [corpus.said[place].key.removeprefix(f"{person}:") for place in ranking.best()]
        sessions = [
            corpus.sessions[place].removeprefix(f"{person}:") for place in ranking.best_sessions()
        ]
        keys = {item.key.removeprefix(f"{person}:") for item in given.of("message")}
        found.append(
            {
                **figures(order, sessions, evidence),
                "conversation": conversation.id,
                "category": category,
                "given": len(keys & evidence) / max(len(evidence), 1),
                "tokens": given.tokens,
                "ms": spent,
            }
        )
    return found


def figures(
    order: Sequence[str], sessions: Sequence[str], evidence: frozenset[str]
) -> dict[str, float]:
    """The three figures of one question; evidence that the conversation lacks is never found."""
    wanted = {ident.partition(":")[0] for ident in evidence}
    return {
        "session_mrr": next((1 / (n + 1) for n, one in enumerate(sessions) if one in wanted), 0.0),
        "turn_recall_at_10": len(evidence & set(order[:_TEN])) / max(len(evidence), 1),
        "turn_mrr": next((1 / (n + 1) for n, one in enumerate(order) if one in evidence), 0.0),
    }


_NAMES = ("session_mrr", "turn_recall_at_10", "turn_mrr", "given")


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | int]:
    held = [name for name in _NAMES if rows and name in rows[0]]
    return {
        "n": len(rows),
        **{name: round(sum(row[name] for row in rows) / len(rows), 4) for name in held},
    }


def _report(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, object]:
    ours = rows["hybrid"]
    held_out = [row for row in ours if row["conversation"] not in CHOSEN_ON]
    kinds = {1: "several turns", 2: "time", 3: "inference", 4: "one turn"}
    tokens = sorted(row["tokens"] for row in ours)
    return {
        "data": "LoCoMo, five development conversations, answerable questions with evidence",
        "granularity": {
            "session_mrr": "rank of the first of all sessions that holds an evidence turn",
            "turn_recall_at_10": "share of a question's evidence turns among its ten best turns",
            "turn_mrr": "rank of the first evidence turn among all turns of the conversation",
            "given": "share of evidence turns among what a turn is given, within its tokens",
        },
        "model_calls_to_read": 0,
        "all": _means(ours),
        "held_out": {"conversations": "those not in chosen_on", **_means(held_out)},
        "chosen_on": {
            "conversations": list(CHOSEN_ON),
            **_means([row for row in ours if row["conversation"] in CHOSEN_ON]),
        },
        "words_alone": _means(rows["words"]),
        "floor": {
            "how": "plain BM25 (k1 1.2, b 0.75, lower-cased words, speaker and caption in the text), "
            "over turns, and over whole sessions for the session's rank",
            **_means(rows["floor"]),
        },
        "floor_published": {"session_mrr": 0.735, "turn_recall_at_10": 0.538, "turn_mrr": 0.385},
        "target": {"session_mrr": 0.82, "turn_recall_at_10": 0.75, "turn_mrr": 0.55},
        "by_conversation": {
            name: _means([row for row in ours if row["conversation"] == name])
            for name in dict.fromkeys(row["conversation"] for row in ours)
        },
        "by_kind": {
            kinds[kind]: _means([row for row in ours if row["category"] == kind])
            for kind in sorted({row["category"] for row in ours})
        },
        "tokens_a_turn": {
            "most": tokens[-1],
            "median": statistics.median(tokens),
            "limit": RecallNeed(name="recall", query="").tokens,
        },
        "ms_a_recall": {
            "p50": round(statistics.median(row["ms"] for row in ours), 1),
            "with": "query vector from a cache; what was read of the messages is kept between recalls",
        },
    }


def bench(
    data: Path,
    *,
    cache: Path,
    sizes: Sequence[int] = (1_000, 3_000, 10_000),
    queries: int = 60,
    embedder: Embedder | None = None,
    tell: Callable[[str], None] = print,
) -> dict[str, object]:
    """How long a recall takes as a person's conversations grow, the query's embedding included.

    Raises:
        InvalidArgument: fewer than two queries: one figure has no spread.
    """
    inner = embedder or MiniLM(cache=cache)
    model = CachedEmbedder(inner, cache=cache)
    conversations = read(data)
    result: dict[str, object] = {}
    for size in sizes:
        turns = [
            (f"{one.id}:{ident}", f"{one.id}:{of}", role, text, day)
            for one in conversations
            for ident, of, role, text, day in one.turns
        ]
        rounds = -(-size // len(turns))
        turns = [
            (f"{n}:{ident}", f"{n}:{of}", role, text, day)
            for n in range(rounds)
            for ident, of, role, text, day in turns
        ][:size]
        asked = [text for one in conversations for text, *_ in one.questions][:queries]
        if len(asked) < 2:
            raise InvalidArgument("queries", found=len(asked), want="two or more")
        whole = Conversation(
            id="bench", names=conversations[0].names, turns=tuple(turns), questions=()
        )
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            store = Store(open_engine(sqlite_url(Path(folder))))
            metadata.create_all(store.engine)
            fill(store, whole, person="one")
            room = Memory(store, embedder=model, clock=_Clock(), count=counter("o200k_base"))
            room.catch_up_now(grant_of("one"), names=whole.names)
            model.save()
            timed = Memory(store, embedder=inner, clock=_Clock(), count=counter("o200k_base"))
            spent: list[float] = []
            cpu: list[float] = []
            for text in asked:
                need = RecallNeed(name="recall", query=text, depth="full", across=True)
                begun, worked = time.perf_counter(), time.process_time()
                timed.recall_now(need, grant_of("one"))
                cpu.append((time.process_time() - worked) * 1000)
                spent.append((time.perf_counter() - begun) * 1000)
            fresh = _after_new_words(store, timed, model, asked)
            store.close()
        warm = min(
            5, max(0, len(spent) - 2)
        )  # the first ones read everything; two at least are kept
        cuts = statistics.quantiles(spent[warm:], n=20)
        result[str(size)] = {
            "n": len(spent) - warm,
            "p50_ms": round(statistics.median(spent[warm:]), 1),
            "p95_ms": round(cuts[18], 1),
            "cpu_p50_ms": round(statistics.median(cpu[warm:]), 1),
            "cpu_first_ms": round(cpu[0], 1),
            "cpu_after_new_message_p50_ms": round(statistics.median(fresh), 1),
            "n_after_new_message": len(fresh),
        }
        tell(f"{size} messages: {result[str(size)]}")
    return {
        "what": "one recall over all of a person's messages, depth full, query embedded; cpu is process "
        "time, first the reading of everything, after a new message the usual case of a conversation",
        "messages": result,
        "repeats": "above 2,760 messages the texts repeat",
        "model_calls": 0,
    }


def _after_new_words(
    store: Store, timed: Memory, model: CachedEmbedder, asked: Sequence[str]
) -> list[float]:
    """Process time of recalls in milliseconds, each after a message that was not there before."""
    writes = Memory(store, embedder=model, clock=_Clock(), count=counter("o200k_base"))
    spent: list[float] = []
    for number, text in enumerate(asked[:20]):
        at = datetime(2024, 12, 1, tzinfo=UTC) + timedelta(minutes=number)
        own = {"tenant": "eval", "session": "asked"}
        key = f"new-{number}"

        def write(connection: Any, own: Any = own, key: str = key, at: datetime = at) -> None:
            if key == "new-0":
                connection.execute(
                    insert(session).values(
                        tenant="eval", id="asked", flow="companion", actor="one", as_of=at.date(),
                        pinned="{}", revision=0, fence=0, created_at=at,
                    )
                )  # fmt: skip
            _write(connection, own, key, person="one", ordinal=int(key[4:]), at=at)

        store.write_now(write)
        writes.catch_up_now(grant_of("one"))
        need = RecallNeed(name="recall", query=text, depth="full", across=True)
        worked = time.process_time()
        timed.recall_now(need, grant_of("one"))
        spent.append((time.process_time() - worked) * 1000)
    return spent


def _write(
    connection: Any, own: Mapping[str, str], key: str, *, person: str, ordinal: int, at: datetime
) -> None:
    """One message of the person's, its text a sentence of its own."""
    text = f"This is sentence {key} of the evening."
    connection.execute(
        insert(turn).values(
            **own, id=key, flow="companion", actor=person, request_sha256="", status="complete",
            fence=0, started_at=at,
        )
    )  # fmt: skip
    connection.execute(
        insert(source).values(
            **own, id=key, revision=1, kind="message", title="message", dated=at.date(),
            sha256=_digest("", text), text=text, created_at=at,
        )
    )  # fmt: skip
    connection.execute(
        insert(message).values(
            **own, ordinal=ordinal, turn=key, person=person, role="user", source=key, at=at
        )
    )
