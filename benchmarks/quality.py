"""Search quality without a model: LoCoMo, Cranfield and JSQuAD, with default settings.

Everything goes in by add_knowledge or as sessions and comes out by search; nothing is set for any of the three. LoCoMo: recall
of the turns that hold the evidence, over each conversation by itself; a passage finds every turn it touches. Cranfield: whole
abstracts are judged, passages are found, so a document stands where its first passage does. JSQuAD: the paragraph a question was
made of. BM25 alone is the same search with alpha 0.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.frame import Size, figure
from memoir_engine import Memory, SearchResult

FEATURES = ("conversations", "search")
READS = ("locomo", "cranfield", "jsquad")
BEFORE_CHARS = 200  # of the turn before, where each turn is a text of its own
HYBRID, WORDS = 0.5, 0.0  # alpha
STEPS = {"full": {"locomo": 1, "jsquad": 4}, "small": {"locomo": 25, "jsquad": 200}}
TALKS = {"full": None, "small": 1}
DOCUMENTS = {"full": None, "small": 60}
Passages = list[SearchResult]


@dataclass(frozen=True)
class Said:
    """One turn of LoCoMo."""

    id: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Talk:
    """Conversation: its sessions, and questions with the ids of the turns that answer them."""

    sessions: list[list[Said]]
    questions: list[tuple[str, frozenset[str]]]


def main(size: Size = "full") -> dict[str, Any]:
    talks = list(locomo(STEPS[size]["locomo"]))[: TALKS[size]]
    return {
        "title": TITLE,
        "sizes": {"questions of LoCoMo": sum(len(talk.questions) for talk in talks)},
        "figures": [*(_locomo(talks) if talks else ()), *_cranfield(size), *_jsquad(size)],
        "notes": ["embedder: the offline one, which is lexical; alpha .5 is the default, alpha 0 is BM25 alone"],
    }


TITLE = "What a search finds with its defaults, no key and no model"


def locomo(step: int) -> Iterator[Talk]:
    path = data.find("locomo/locomo_public3.json")
    for told in json.loads(path.read_text(encoding="utf-8")) if path else ():
        spoken = told["conversation"]
        numbers = sorted(int(name.split("_")[1]) for name in spoken if re.fullmatch(r"session_\d+", name))
        sessions = [_session(spoken, number) for number in numbers if spoken[f"session_{number}"]]
        questions = []
        for asked in told["qa"]:
            named = frozenset(one for text in asked.get("evidence", []) for one in re.findall(r"D\d+:\d+", text))
            if asked["category"] != 5 and named:  # 5: questions that nothing answers
                questions.append((str(asked["question"]), named))
        yield Talk(sessions, questions[::step])


def _session(spoken: dict[str, Any], number: int) -> list[Said]:
    at = datetime.strptime(spoken[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return [Said(turn["dia_id"], turn["speaker"], _text(turn), at) for turn in spoken[f"session_{number}"]]


def _text(turn: dict[str, Any]) -> str:
    shared = turn.get("blip_caption")
    return f"{turn['text']} [shared image: {shared}]" if shared else str(turn["text"])


Finds = Callable[[SearchResult], frozenset[str]]  # the turns that a passage touches
Fill = Callable[[Memory, Talk], Finds]


def _recall(talks: Sequence[Talk], fill: Fill, most: int) -> dict[float, float]:
    """Return the mean share of a question's turns among the first `most` passages, by alpha."""
    shares: dict[float, list[float]] = defaultdict(list)
    for talk in talks:
        with _memory() as memory:
            touches = fill(memory, talk)
            for question, wanted in talk.questions:
                for alpha in (HYBRID, WORDS):
                    got = frozenset().union(*map(touches, memory.search(question, top_k=most, alpha=alpha)))
                    shares[alpha].append(len(wanted & got) / len(wanted))
    return {alpha: sum(each) / len(each) for alpha, each in shares.items()}


def _transcripts(memory: Memory, talk: Talk) -> Finds:
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for number, session in enumerate(talk.sessions):
        lines, at = [f"{session[0].at:%d %B %Y}\n"], len(f"{session[0].at:%d %B %Y}\n")
        spans[f"s{number}"] = own = []
        for turn in session:
            line = f"{turn.speaker}: {turn.text}\n"
            own.append((at, at + len(line) - 1, turn.id))
            lines.append(line)
            at += len(line)
        memory.add_knowledge(f"s{number}", "".join(lines))
    return lambda one: frozenset(name for start, end, name in spans[one.doc_id or ""] if start < one.end and end > one.start)


def _conversations(memory: Memory, talk: Talk) -> Finds:
    for number, session in enumerate(talk.sessions):
        for turn in session:
            memory.sessions.append(
                f"s{number}", [{"role": "user", "name": turn.speaker, "content": turn.text, "at": turn.at.isoformat()}]
            )
    return lambda one: frozenset(talk.sessions[int((one.session_id or "s0")[1:])][n - 1].id for n in one.message_ids)


def _turns(memory: Memory, talk: Talk) -> Finds:
    """Search as a conversation's passages are searched: with speaker, date and the end of the turn before."""
    for session in talk.sessions:
        before = ""
        for turn in session:
            said = f"{turn.speaker}: {turn.text}"
            day = f"{turn.at:%Y-%m-%d}, {turn.at.day} {turn.at:%B %Y}"
            memory.add_knowledge(turn.id, f"{before}\n{day}\n{said}".strip())
            before = f"{turn.speaker}: {turn.text[-BEFORE_CHARS:]}"
    return lambda one: frozenset((one.doc_id or "",))


def _locomo(talks: Sequence[Talk]) -> list[dict[str, Any]]:
    found = {
        "LoCoMo, transcripts as texts, R@5": _recall(talks, _transcripts, 5),
        "LoCoMo, conversations, R@5": _recall(talks, _conversations, 5),
        "LoCoMo, each turn a text, R@10": _recall(talks, _turns, 10),
    }
    return [
        *_pair("LoCoMo, transcripts as texts, R@5", found, aim=0.76),
        *_pair("LoCoMo, conversations, R@5", found, aim=0.76),
        *_pair("LoCoMo, each turn a text, R@10", found, aim=0.68),
    ]


def _pair(name: str, found: dict[str, dict[float, float]], *, aim: float) -> list[dict[str, Any]]:
    hybrid, words = found[name][HYBRID], found[name][WORDS]
    return [
        figure(name, [hybrid], "", aim=aim, better="higher"),
        figure(f"{name}, BM25 alone", [words], "", better="higher"),
    ]


def _cranfield(size: Size) -> list[dict[str, Any]]:
    judgements, documents = data.find("cranfield/qrels.tsv"), data.rows("cranfield/corpus.jsonl")[: DOCUMENTS[size]]
    if judgements is None or not documents:
        return []
    known = {one["id"] for one in documents}
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in judgements.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if document in known:
            judged[query][document] = max(0, int(grade))
    queries = [one for one in data.rows("cranfield/queries.jsonl") if any(judged[one["id"]].values())]
    figures = []
    with _memory() as memory:
        for one in documents:
            memory.add_knowledge(one["id"], one["text"])
        for name, alpha in (("Cranfield, nDCG@10", HYBRID), ("Cranfield, nDCG@10, BM25 alone", WORDS)):
            gains = [_ndcg(_documents(memory.search(one["text"], top_k=30, alpha=alpha)), judged[one["id"]]) for one in queries]
            aim = 0.42 if alpha else None
            figures.append(figure(name, [sum(gains) / len(gains)], "", aim=aim, better="higher"))
    return figures


def _documents(found: Passages) -> list[str]:
    """Return the first ten documents, each ranked by its first passage."""
    return list(dict.fromkeys(one.doc_id or "" for one in found))[:10]


def _ndcg(found: Sequence[str], grades: dict[str, int]) -> float:
    gain = sum(grades.get(one, 0) / math.log2(at + 2) for at, one in enumerate(found))
    best = sum(grade / math.log2(at + 2) for at, grade in enumerate(sorted(grades.values(), reverse=True)[:10]))
    return gain / best


def _jsquad(size: Size) -> list[dict[str, Any]]:
    paragraphs = data.rows("jsquad/paragraphs.jsonl")[: DOCUMENTS[size]]
    if not paragraphs:
        return []
    known = {one["id"] for one in paragraphs}
    questions = [one for one in data.rows("jsquad/questions.jsonl") if one["paragraph"] in known]
    asked = questions[:: STEPS[size]["jsquad"] if size == "full" else 10]
    figures = []
    with _memory() as memory:
        for one in paragraphs:
            memory.add_knowledge(one["id"], one["text"])
        for name, alpha in (("JSQuAD, R@1", HYBRID), ("JSQuAD, R@1, BM25 alone", WORDS)):
            right = [_first(memory.search(one["question"], alpha=alpha)) == one["paragraph"] for one in asked]
            aim = 0.89 if alpha else None
            figures.append(figure(name, [sum(right) / len(right)], "", aim=aim, better="higher"))
    return figures


def _first(found: Passages) -> str | None:
    return found[0].doc_id if found else None


@contextmanager
def _memory() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), model="offline", embedder="offline") as memory:
        yield memory
