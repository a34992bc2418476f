"""MemoryExtractor: the facts of a conversation, without a memory of them.

Source: API "Facts"; CHUNK 7, 13.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memoir_engine.api import features
from memoir_engine.api.memory import AsyncMemory, Face
from memoir_engine.api.sync import Memory
from memoir_engine.api.synchronous import waits
from memoir_engine.core.errors import InvalidSetting
from memoir_engine.core.results import ExtractionResult

if TYPE_CHECKING:
    from memoir_engine.runtime.runner import OnEvent


class MemoryExtractor:
    """Facts of a conversation, before they meet what is known: nothing is stored but what was asked and answered (CHUNK 7, 13.4).

    memory: whose model, settings and ledger are used. Long conversations are cut as the settings say.
    """

    def __init__(self, memory: Memory | AsyncMemory) -> None:
        given: object = memory
        if not isinstance(given, Face):
            advice = "Give a Memory or an AsyncMemory, or a view of one."
            raise InvalidSetting(name="memory", value=memory, problem="it is no Memory", advice=advice)
        self._engine, self._actor = memory._engine, memory._actor

    async def extract_async(
        self,
        messages: Sequence[Any],
        conversation_id: str = "conversation",
        user_id: str | None = None,
        *,
        on_event: OnEvent | None = None,
    ) -> ExtractionResult:
        """Draw facts from a conversation. Raises NothingExtracted when every cut failed, or the first did and
        `conversation.fail_fast` is on.
        """
        options = features.ExtractOptions(messages, conversation_id, user_id)
        return await features.perform(self._engine, self._actor, features.extract_verb, options, on_event)

    extract = waits(extract_async, name="extract")


def _is_memory(value: object) -> bool:
    return isinstance(value, Face)
