"""Many reads of several users and roles, with the ids, names and words of all of them: nobody may be shown what another one said.

Each user has a secret word, said in a conversation, kept as a fact and summed up, and another one in questions; documents are
everybody's. A read is a verb that changes nothing, drawn at random, with arguments drawn from everything that anybody has.
"""

from __future__ import annotations

import inspect
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attacks.frame import Outcome, named, of_tests
from memoir_engine import MemoirError, Memory
from memoir_engine.api.doors.table import READS
from memoir_engine.core.run import Role

SIZE, SHORT, UNIT = 10_000, 150, "reads"
USERS = ("ana", "ben", "cleo", "dora")
ROLES: tuple[tuple[Role, ...], ...] = (("viewer",), ("viewer", "auditor"), ("viewer", "auditor", "admin"))
SEES_QUESTIONS = {"auditor", "admin", "reader"}  # decision 0110
DONE = ("reads", "answered", "refused with a coded error", "verbs")
HARM = ("words of another user shown", "errors without a code")
WITHOUT_MODEL = READS - {"estimate_impact", "embedders", "models"}  # these look at the settings of the process


def main(size: int, folder: Path) -> Iterator[Outcome]:
    chance = random.Random(size)
    every = of_tests("every_verb")
    verbs = sorted(name for name in every.public_verbs() if name in WITHOUT_MODEL)
    counts: Counter[str] = Counter({"verbs": len(verbs)})
    with Memory(data_dir=folder, model="offline", chunk_min_tokens=8, chunk_max_tokens=30) as memory:
        everything = _fill(memory)
        for _ in range(size):
            user, roles, name = chance.choice(USERS), chance.choice(ROLES), chance.choice(verbs)
            view = memory.acting_as(user.title(), user=user, roles=roles)
            counts += _read(every.named(view, name), name, user, roles, everything, chance)
            yield Outcome("Mixed reads of several users and roles", named(counts, DONE), named(counts, HARM))


def _read(verb: Any, name: str, user: str, roles: tuple[str, ...], everything: Any, chance: random.Random) -> Counter[str]:
    given = dict(_arguments(verb, everything, chance))
    counts: Counter[str] = Counter({"reads": 1})
    try:
        found = verb(**given)
        shown = repr(list(found) if inspect.isgenerator(found) else found)
        counts["answered"] += 1
    except MemoirError as refused:
        shown = f"{refused} {refused.remedy}"
        counts["refused with a coded error"] += 1
    except Exception as error:
        print(f"{name}({given}): {error!r}")
        shown = repr(error)
        counts[HARM[1]] += 1
    for other in USERS:
        hidden = [_secret(other)] + ([] if SEES_QUESTIONS & set(roles) else [_asked(other)])
        if other != user and any(word in shown and word not in str(given) for word in hidden):
            print(f"{name}({given}) showed {other}'s words to {user} {roles}")
            counts[HARM[0]] += 1
    return counts


def _arguments(verb: Any, everything: dict[str, list[Any]], chance: random.Random) -> Iterator[tuple[str, Any]]:
    for one in inspect.signature(verb).parameters.values():
        needed = one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        if one.name in everything and (needed or chance.random() < 0.5):
            yield one.name, chance.choice(everything[one.name])
        elif needed:
            yield one.name, chance.choice(everything["anything"])


def _fill(memory: Memory) -> dict[str, list[Any]]:
    """Let everybody say, ask and keep something; return everybody's ids and names, by the parameters that take them."""
    memory.ingest_text("Bread is baked on Tuesdays. " * 20, name="bread.md").raise_for_error()
    for user in USERS:
        mine = memory.acting_as(user.title(), user=user, roles=("viewer", "auditor"))
        mine.remember([{"role": "user", "content": f"I moved to {_secret(user)} in May. I am a nurse."}], session_id=f"s-{user}")
        mine.query(f"When is bread baked in {_asked(user)}?")
        mine.create_summary(session_id=f"s-{user}")
    runs = [run.id for run in memory.runs.list(200)]
    facts = [fact.id for user in USERS for fact in memory.facts.list(user)]
    numbers = list(range(1, 20))
    people = [*USERS, *(user.title() for user in USERS)]
    found: dict[str, list[Any]] = dict.fromkeys(("source_id", "chunk_id", "category_id", "proposal_id", "decision_id"), numbers)
    found |= dict.fromkeys(("run_id", "one", "other", "draft", "run"), runs) | {"fact_id": facts, "fact_ids": [facts]}
    found |= {"call_id": [call.id for run in runs for call in memory.runs.get(run).calls]}
    found |= {"session_id": [f"s-{user}" for user in USERS], "user_id": people, "user": people, "name": people, "actor": people}
    found |= {"action_id": [action.action_id for action in memory.audit.actions(200)], "key": [f"fact-{fact}" for fact in facts]}
    words = ["moved in May, a nurse", "bread on Tuesdays", "When is bread baked?"]
    found |= dict.fromkeys(("query", "question", "text", "content", "given"), words)
    found |= {"status": ["active", "outdated"], "limit": [5, 100], "chunk_ids": [numbers], "source_ids": [numbers]}
    return found | {"anything": [1, "x", [1], None]}


def _secret(user: str) -> str:
    return f"Zan{user}zibar"


def _asked(user: str) -> str:
    return f"Oua{user}gadougou"
