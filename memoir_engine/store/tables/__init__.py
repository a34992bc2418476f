"""Every table of the store, one module per family. Read-only outside `memoir_engine.store`."""

from __future__ import annotations

from memoir_engine.store.tables.columns import metadata
from memoir_engine.store.tables.facts import (
    cut,
    fact,
    fact_origin,
    fact_proposal,
    fact_relation,
    fact_status,
    sign_off,
    tombstone,
)
from memoir_engine.store.tables.ledger import (
    action,
    audit_event,
    audit_head,
    counter,
    decision,
    lease,
    model_call,
    payload,
    profile,
    run,
    run_event,
    run_input,
    setting,
)
from memoir_engine.store.tables.presence import presence
from memoir_engine.store.tables.remarks import notice_mark, remark
from memoir_engine.store.tables.sampling import sampling_plan
from memoir_engine.store.tables.sessions import (
    checkpoint,
    checkpoint_thread,
    checkpoint_value,
    checkpoint_write,
    message,
    session,
)
from memoir_engine.store.tables.sources import (
    category,
    category_note,
    category_version,
    chunk,
    contextual_helper,
    embedding,
    filing,
    passage,
    source,
    source_file,
    source_text,
)
from memoir_engine.store.tables.webhooks import webhook

__all__ = [
    "action",
    "audit_event",
    "audit_head",
    "category",
    "category_note",
    "category_version",
    "checkpoint",
    "checkpoint_thread",
    "checkpoint_value",
    "checkpoint_write",
    "chunk",
    "contextual_helper",
    "counter",
    "cut",
    "decision",
    "embedding",
    "fact",
    "fact_origin",
    "fact_proposal",
    "fact_relation",
    "fact_status",
    "filing",
    "lease",
    "message",
    "metadata",
    "model_call",
    "notice_mark",
    "passage",
    "payload",
    "presence",
    "profile",
    "remark",
    "run",
    "run_event",
    "run_input",
    "sampling_plan",
    "session",
    "setting",
    "sign_off",
    "source",
    "source_file",
    "source_text",
    "tombstone",
    "webhook",
]
