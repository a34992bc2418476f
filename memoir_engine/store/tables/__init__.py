"""Every table of the store, one module per family. Read-only outside `memoir_engine.store`."""

from memoir_engine.store.tables.chain import action, audit_event, audit_head, payload
from memoir_engine.store.tables.checkpoints import checkpoint, checkpoint_thread, checkpoint_value, checkpoint_write
from memoir_engine.store.tables.facts import cut, fact, fact_origin, fact_proposal, fact_relation, fact_status
from memoir_engine.store.tables.knowledge import embedding, passage
from memoir_engine.store.tables.ledger import decision, model_call, run, run_event, run_input
from memoir_engine.store.tables.review import sign_off, tombstone
from memoir_engine.store.tables.sessions import message, session
from memoir_engine.store.tables.sources import chunk, contextual_helper, source, source_file, source_text
from memoir_engine.store.tables.state import counter, lease, profile, setting
from memoir_engine.store.tables.tree import category, category_version, filing
from memoir_engine.store.types import metadata

__all__ = [
    "action",
    "audit_event",
    "audit_head",
    "category",
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
    "passage",
    "payload",
    "profile",
    "run",
    "run_event",
    "run_input",
    "session",
    "setting",
    "sign_off",
    "source",
    "source_file",
    "source_text",
    "tombstone",
]
