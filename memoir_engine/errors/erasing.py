"""Errors of erasing, and of what was erased (E72x). Source: DESIGN §6."""

from __future__ import annotations

from memoir_engine.errors.review import ReviewError


class SourceErased(ReviewError):
    code = "E720"
    message_form = "source {source_id!r} was erased"
    remedy_form = "What was erased cannot come back. sources.tombstone({source_id}) says by whom it was erased, when and why."


class ErasedMeanwhile(ReviewError):
    """The run may hold what was erased: nothing of it is written any more."""

    code = "E721"
    message_form = "a source was erased while this run was under way"
    remedy_form = "Ask again, or go on with it: it starts from what is there now."
    retryable = True
