"""What of the evidence reaches the prompt of the answer, by what is left out for the budget; and no answer said as such.

LoCoMo's conversations are filed as transcripts by the offline model, all but the last in one memory. Evidence in the prompt: the
share of the turns that hold a question's answer among the chunks read for it. Lost: answerable questions of which the model said
that it found no answer. Noticed: the same of the questions about the last conversation, which the memory does not hold, and of
those that LoCoMo's makers meant to have no answer: they ask of one speaker what the other said, in the same words.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.frame import Size, figure
from benchmarks.quality import Talk, locomo
from memoir_engine import Memory, QueryResult

FEATURES = ("query", "ingest")
READS = ("locomo",)
TITLE = "What of the evidence stands in the prompt, and what no answer looks like, without a model"
STEPS = {"full": 4, "small": 60}  # of the questions whose evidence is looked for
ASKED = {"full": 1, "small": 60}  # of those that are asked to see whether they are answered
TALKS = {"full": 3, "small": 2}
BUDGETS = {"full": (2_500, 8_000), "small": (2_500,)}
ADVERSARIAL = 5  # LoCoMo's category of questions without an answer
WAYS: dict[str, dict[str, Any]] = {
    "whole paths": {},
    "whole paths, each limited": {"per_path_limit": "auto"},
    "single chunks": {"prune_by": "chunk"},
    "single chunks, three of the net": {"prune_by": "chunk", "safety_net": 3, "safety_net_in_prompt": True},
}
Spans = dict[int, list[tuple[int, int, str]]]  # by source: start, end and name of each turn


def main(size: Size = "full") -> dict[str, Any]:
    talks = list(locomo(STEPS[size]))[: TALKS[size]]
    known = talks[:-1]
    figures = _measure(known, size) if known else []
    return {
        "title": TITLE,
        "sizes": {"questions": sum(len(talk.questions) for talk in known), "conversations": len(known)},
        "figures": figures,
        "notes": ["strategy wide_branch with its defaults; what the library does by itself is whole paths"],
    }


def _measure(known: Sequence[Talk], size: Size) -> list[dict[str, Any]]:
    figures = []
    with tempfile.TemporaryDirectory() as folder, Memory(data_dir=Path(folder), model="offline", embedder="offline") as memory:
        spans: Spans = {}
        for number, talk in enumerate(known):
            spans |= _file(memory, talk, number)
        for budget in BUDGETS[size]:
            for name, options in WAYS.items():
                shares = _shares(memory, known, spans, options | {"max_token_budget": budget})
                mean = sum(shares) / len(shares)
                figures.append(figure(f"evidence in {budget:,} tokens, {name}", [mean], "", better="higher"))
        every = list(locomo(ASKED[size]))[: TALKS[size]]
        answerable = [question for talk in every[:-1] for question, _ in talk.questions]
        lost = 1 - _answered(memory, answerable)
        figures.append(figure(f"answerable questions lost, of {len(answerable)}", [lost], "", aim=0.05))
        others = [question for question, _ in every[-1].questions]
        figures.append(figure("noticed: asked of another conversation", [1 - _answered(memory, others)], "", better="higher"))
        meant = _adversarial(len(known))[:: ASKED[size]]
        figures.append(figure("noticed: asked of the wrong speaker", [1 - _answered(memory, meant)], "", better="higher"))
    return figures


def _file(memory: Memory, talk: Talk, number: int) -> Spans:
    spans: Spans = {}
    for at, session in enumerate(talk.sessions):
        text, own = f"{session[0].at:%d %B %Y}\n", []
        for turn in session:
            line = f"{turn.speaker}: {turn.text}\n"
            own.append((len(text), len(text) + len(line) - 1, f"{number} {turn.id}"))
            text += line
        helper = f"A conversation of {session[0].at:%d %B %Y}."
        result = memory.ingest_text(text, name=f"talk {number}, {at + 1}", contextual_helper=helper).raise_for_error()
        spans[result.source_id or 0] = own
    return spans


def _shares(memory: Memory, known: Sequence[Talk], spans: Spans, options: dict[str, Any]) -> list[float]:
    """Return for each question the share of its evidence in the prompt; 0 where no path fitted."""
    shares = []
    for number, talk in enumerate(known):
        for question, wanted in talk.questions:
            read = _turns(memory.query(question, **options), spans)
            shares.append(sum(f"{number} {turn}" in read for turn in wanted) / len(wanted))
    return shares


def _turns(result: QueryResult, spans: Spans) -> set[str]:
    return {
        name for used in result.used_chunks for start, end, name in spans[used.source_id] if start < used.end and end > used.start
    }


def _answered(memory: Memory, questions: Sequence[str]) -> float:
    """Return the share of the questions that were answered, asked as the app asks."""
    answered = [memory.query(question, prune_by="chunk").answered for question in questions]
    return sum(answered) / len(answered) if answered else 0.0


def _adversarial(conversations: int) -> list[str]:
    path = data.find("locomo/locomo_public3.json")
    told = json.loads(path.read_text(encoding="utf-8"))[:conversations] if path else []
    return [str(asked["question"]) for talk in told for asked in talk["qa"] if asked["category"] == ADVERSARIAL]
