"""The contextual helper of a source: written by the user, or generated from name, headings and first chunks.

Invariant: at most 300 tokens, whoever wrote it; a generated helper never replaces a user's.
Source: MEMOIR 2B.1–2B.8, 2B.10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memoir_engine.core.errors import HelperInvalid
from memoir_engine.core.results import Source
from memoir_engine.ingest.filing import Ask
from memoir_engine.prompts import helper
from memoir_engine.store.sources.plan import NewHelper, NewSource

Count = Callable[[str], int]


def user_helper(text: str, count: Count) -> NewHelper:
    """Return a helper written by the user. Raises HelperInvalid (E210) when it is empty or too long."""
    text = " ".join(text.split())
    tokens = count(text)
    if not text:
        raise HelperInvalid(problem="it is empty", advice="Give a sentence or two about the source, or leave it out.")
    if tokens > helper.MAX_TOKENS:
        raise HelperInvalid(
            problem=f"it has {tokens} tokens, more than {helper.MAX_TOKENS}", advice="Shorten it. Nothing was stored."
        )
    return NewHelper("user", text, tokens, None, None, None)


async def generate(source: NewSource | Source, texts: Sequence[str], ask: Ask, count: Count) -> NewHelper:
    """Generate a helper by one call, from the facts of MEMOIR 2B.2 in their order. texts: of the first chunks, or of all."""
    facts = helper.gather(
        source.name,
        title=source.title,
        headings=(heading.text for heading in source.headings),
        author=source.author,
        dated=source.dated,
        chunks=texts,
        count=count,
    )
    answer = await ask(helper.build(facts))
    fields = helper.HelperFields.model_validate(answer.data)
    text = helper.compose(fields, count=count)
    return NewHelper("generated", text, count(text), *map(helper.known, (fields.author, fields.date, fields.topic)))
