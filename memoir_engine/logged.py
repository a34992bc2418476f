"""Every event to Python's log, beside the listeners: where the database itself fails, this is what is left to read.

Invariant: what is logged is what may be written down (`Event.kept`): no word of a text, no prompt, no secret.
No handler is added: who embeds the engine says where it goes. Logger: "memoir_engine.runs"; the record's `run_id` and `event`
stand in its extra fields.
Source: MEMOIR 2A.10, 2B.10, 7.1, 7.9, 7B.4; DESIGN §2.6, §10.
"""

from __future__ import annotations

import logging

from memoir_engine.events import BatchClassified, Committed, DatabaseRetried, HelperReady, RunEnded, RunStarted, Stamped, Warned

_log = logging.getLogger("memoir_engine.runs")
_TOLD = (RunStarted, BatchClassified, HelperReady, Committed, RunEnded)


def log(stamped: Stamped) -> None:
    event = stamped.event
    level = _level(stamped)
    if not _log.isEnabledFor(level):
        return
    extra = {"run_id": stamped.run_id, "event": event.kind}
    if isinstance(event, Warned):
        _log.log(level, "[mem] %s (run %s)", event.message, stamped.run_id, extra=extra)
    else:
        _log.log(level, "[mem] %s %s (run %s)", event.kind, event.kept(), stamped.run_id, extra=extra)


def _level(stamped: Stamped) -> int:
    event = stamped.event
    if isinstance(event, RunEnded) and event.status == "failed":
        return logging.ERROR
    if isinstance(event, (Warned, DatabaseRetried)):
        return logging.WARNING
    return logging.INFO if isinstance(event, _TOLD) else logging.DEBUG
