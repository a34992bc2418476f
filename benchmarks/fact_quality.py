"""How well the offline rules draw facts from conversations, and how well they see what newer facts do to older ones.

Drawing: a turn of LoCoMo counts as found when a fact quotes it; it should be when an annotated observation cites it. Each session
is one cut, both speakers are people, the day is the session's.
Consolidating: every first sentence of CounterFact is known of one user; then come, each as a new fact beside its ten nearest
known ones: sentences with another value, the same said in other words, and the same of somebody else. The vectors are those that
need no model. Precision is over all facts marked outdated, whichever new sentence marked them.
A restated row is left out where the sentence is not about the subject, holds a piece of another text (a line break or a quotation
mark), or asks for another kind of thing than the value it is given: a language where somebody lives or was born, a single place
"including", to be "navigated" to, spoken or eaten, an occupation that is an accomplishment.
Through the prompts and the offline model's answers, as the engine asks them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import frame
from benchmarks.frame import Size, figure
from memoir_engine.llm.offline.model import answer
from memoir_engine.prompts import Prompt, consolidate, facts
from memoir_engine.text.fact_types import fact_type
from memoir_engine.text.hashed import hashed

DATA = frame.LONGTEXT.parent
CASES = {"full": 600, "small": 30}
SHOWN = 10  # known facts beside a new one
GONE = ("update", "conflict")
LABELS = {
    "update": "outdated",
    "conflict": "outdated",
    "duplicate": "duplicate",
    "complementary": "complementary",
    "none": "complementary",
}
_DATED = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d{4})")
_LANGUAGE = re.compile(r"\b(?:speak|spoke|language|tongue|writes|written|understand)", re.IGNORECASE)
_WHERE = re.compile(r"\b(?:lives in|was born in|is from|country of)\b", re.IGNORECASE)
_UNFIT = re.compile(
    r"\b(?:including|surroundings include|restaurants around|navigating|speak the language of|meals include|has to"
    r"|locals held|is surrounded by|becomes important when|greatest (?:strength|weakness|accomplishment|artistic work)"
    r"|has its name is that"
    r"|name is that)\b",
    re.IGNORECASE,
)


def main(size: Size = "full") -> dict[str, Any]:
    conversations = json.loads((DATA / "locomo" / "locomo_public3.json").read_text(encoding="utf-8"))
    found, right, wanted = _drawn(conversations if size == "full" else conversations[:1])
    cases = list(_rows("counterfact_updates.jsonl"))[: CASES[size]]
    pairs = list(_rows("personal_pairs.jsonl"))
    silver = [json.loads(line) for line in (DATA / "locomo" / "fact_types_silver.jsonl").read_text(encoding="utf-8").splitlines()]
    updates, restated, others = (_judged(cases, name) for name in ("update", "restated", "other_subject"))
    fit = [at for at, case in enumerate(cases) if _is_fit(case)]
    marks = [(at, one) for judged in (updates, restated, others) for at, one in _marks(judged)]
    own = sum(at == one for at, one in _marks(updates))
    labelled = sum(LABELS[_pair(pair["old"], pair["new"]).relation] == pair["label"] for pair in pairs)
    again = [restated[at].relation == "duplicate" and at + 1 in restated[at].known for at in fit]
    return {
        "title": "Facts by the offline rules, against labels",
        "sizes": {
            "conversations": len(conversations),
            "turns wanted": wanted,
            "cases": len(cases),
            "restated": len(fit),
            "pairs": len(pairs),
        },
        "figures": [
            _share("LoCoMo turns, F1", 2 * right / (found + wanted), aim=0.72),
            _share("LoCoMo turns, precision", right / found),
            _share("LoCoMo turns, recall", right / wanted),
            _share(
                "types, lenient", _typed(silver), note=f"{len(silver)} labels, seen before the rules were written: an upper bound"
            ),
            _share("CounterFact updates found", own / len(cases), aim=0.98),
            _share("CounterFact outdated marks right", own / len(marks), aim=0.95),
            _share("CounterFact restatements recognised", sum(again) / len(again), aim=0.6),
            _share(
                "the same, no row left out",
                _part(one.relation == "duplicate" and at + 1 in one.known for at, one in enumerate(restated)),
            ),
            _share("restatements wrongly outdated", _part(one.relation in GONE for one in restated)),
            _share("other subjects wrongly outdated", _part(one.relation in GONE for one in others)),
            _share(
                "personal pairs", labelled / len(pairs), aim=0.85, note="pairs and rules were looked at together: an upper bound"
            ),
        ],
        "notes": [f"Restated rows left out: {len(cases) - len(fit)} of {len(cases)}, by the rule in benchmarks/fact_quality.py."],
    }


def _share(name: str, value: float, *, aim: float | None = None, note: str = "") -> dict[str, Any]:
    return figure(name, [round(value, 4)], "share", aim=aim, better="higher" if "wrongly" not in name else "lower", note=note)


def _part(hits: Iterable[bool]) -> float:
    counted = list(hits)
    return sum(counted) / len(counted)


def _rows(name: str) -> Iterator[dict[str, Any]]:
    path: Path = DATA / "fact_updates" / name
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _asked(prompt: Prompt) -> dict[str, Any]:
    return answer(f"task: {prompt.purpose}/1\n", prompt.text, {})


def _drawn(conversations: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Turns found, those of them that are wanted, and all that are wanted."""
    found: set[tuple[str, str]] = set()
    wanted: set[tuple[str, str]] = set()
    for conversation in conversations:
        who = conversation["sample_id"]
        said = conversation["conversation"]
        for name, turns in said.items():
            if re.fullmatch(r"session_\d+", name):
                talk = _talk(turns, said[f"{name}_date_time"])
                drawn = facts.parse(_asked(facts.build(talk)), talk).facts
                found |= {(who, turns[one.message - 1]["dia_id"]) for one in drawn}
        for session in conversation["observation"].values():
            cited = (cites for rows in session.values() for _, cites in rows)
            wanted |= {(who, turn) for cites in cited for turn in re.findall(r"D\d+:\d+", str(cites))}
    return len(found), len(found & wanted), len(wanted)


def _talk(turns: list[dict[str, Any]], dated: str) -> facts.Talk:
    at = datetime.strptime(dated + " +0000", "%I:%M %p on %d %B, %Y %z")
    return facts.Talk(
        "", 1, 1, "", tuple(facts.Turn(n, "user", one["speaker"], at, one["text"]) for n, one in enumerate(turns, 1))
    )


def _typed(silver: list[dict[str, Any]]) -> float:
    return _part(fact_type(one["fact"].removeprefix(one["speaker"]).removeprefix("'s").strip()) in one["types"] for one in silver)


def _judged(cases: list[dict[str, Any]], name: str) -> list[consolidate.Verdict]:
    """The verdict of each case's new sentence beside the nearest of all first sentences; known facts are numbered from 1."""
    known = hashed([case["old"] for case in cases])
    new = hashed([case[name] for case in cases])
    nearest = np.argsort(-(new @ known.T), axis=1, kind="stable")[:, :SHOWN] + 1
    verdicts: list[consolidate.Verdict] = []
    for case, near in zip(cases, nearest, strict=True):
        beside = sorted(map(int, near))
        shown = tuple(_statement(at, cases[at - 1]["old"]) for at in beside)
        meeting = consolidate.Meeting((_statement(0, case[name], tuple(beside)),), shown)
        verdicts += consolidate.parse(_asked(consolidate.build(meeting)), meeting).verdicts
    return verdicts


def _statement(number: int, content: str, near: tuple[int, ...] = ()) -> consolidate.Statement:
    return consolidate.Statement(number, content, "miscellaneous", "user", near=near)


def _pair(old: str, new: str) -> consolidate.Verdict:
    meeting = consolidate.Meeting((_statement(2, new, (1,)),), (_statement(1, old),))
    return consolidate.parse(_asked(consolidate.build(meeting)), meeting).verdicts[0]


def _marks(judged: list[consolidate.Verdict]) -> Iterator[tuple[int, int]]:
    """(case, case whose first sentence it would outdate) of every mark."""
    yield from ((at, known - 1) for at, one in enumerate(judged) if one.relation in GONE for known in one.known)


def _is_fit(case: dict[str, Any]) -> bool:
    restated, subject = case["restated"], case["subject"]
    if subject not in restated or re.search(r"[\n\"]|\) ", restated.split(subject)[0]) or "\n" in restated:
        return False
    return not _UNFIT.search(restated) and not (_LANGUAGE.search(case["old"]) and _WHERE.search(restated))
