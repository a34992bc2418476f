"""Messages as extraction reads them, and what it found as callers receive it.

Source: CHUNK 7.3, 8.4; API "Facts".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from memoir_engine.facts.drawn import Found, Link, Span, Spoken
from memoir_engine.results.facts import ExtractedMemory, FactOrigin, FactRelation
from memoir_engine.text.messages import Message

_ROLES = {"human": "user", "ai": "assistant"}


def as_spoken(messages: Sequence[Message]) -> tuple[Spoken, ...]:
    return tuple(
        Spoken(index, one.id, _ROLES.get(one.speaker, one.speaker), one.name, one.said_at, one.text)
        for index, one in enumerate(messages)
    )


def as_memories(
    facts: Iterable[Found], user: str | None, conversation: str, messages: Sequence[Message]
) -> tuple[ExtractedMemory, ...]:
    said = as_spoken(messages)
    return tuple(
        ExtractedMemory(
            id=fact.id,
            user_id=user,
            content=fact.content,
            type=fact.type,
            subject=fact.subject,
            entities=fact.entities,
            confidence=fact.confidence,
            valid_from=fact.valid_from or None,
            valid_to=fact.valid_to or None,
            origins=tuple(_origin(conversation, said[span.message], span) for span in fact.spans),
        )
        for fact in facts
    )


def as_relations(links: Iterable[Link]) -> tuple[FactRelation, ...]:
    return tuple(FactRelation(one.source, one.target, one.kind, one.confidence) for one in links)


def _origin(conversation: str, said: Spoken, span: Span) -> FactOrigin:
    return FactOrigin(
        conversation_id=conversation,
        message=said.index + 1,
        message_id=said.id,
        role=said.role,
        speaker=said.name,
        at=said.at,
        start=span.start,
        end=span.end,
        quote=said.text[span.start : span.end] if span.is_supported else None,
        supported=span.is_supported,
        removed=False,
        digest=hashlib.sha256(said.text.encode()).hexdigest(),
        cut_id=span.cut.id,
    )
