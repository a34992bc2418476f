"""How the facts of one conversation have to do with one another, across its cuts.

Invariant: relations name facts by their ids, and only facts that were shown together. Many are shown in overlapping groups.
Source: CHUNK 9.1, 9.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoir_engine.facts.asking import Ask
from memoir_engine.facts.drawn import Found, Link
from memoir_engine.prompts import relate as prompt
from memoir_engine.prompts.relate import Gathered

SHOWN = 60  # facts in one call: pairs grow with the square, prompts with the number
STEP = 45  # the last quarter of a group meets the next one


async def related(facts: Sequence[Found], ask: Ask) -> tuple[Link, ...]:
    """Nothing is asked about a single fact."""
    links: list[Link] = []
    for first in range(0, max(1, len(facts) - (SHOWN - STEP)), STEP):
        group = facts[first : first + SHOWN]
        if len(group) < 2:
            break
        shown = tuple(_shown(number, fact) for number, fact in enumerate(group, 1))
        reply = await ask(prompt.build(shown))
        for one in prompt.parse(reply.data, shown):
            links.append(Link(group[one.source - 1].id, group[one.target - 1].id, one.kind, one.confidence))
    return tuple(links)


def _shown(number: int, fact: Found) -> Gathered:
    parts = tuple(dict.fromkeys(span.cut.n for span in fact.spans))
    return Gathered(number, fact.content, fact.type, fact.subject, fact.entities, parts)
