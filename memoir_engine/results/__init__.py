"""What callers receive: frozen values, detached from any database.

Invariant: nothing here knows where it came from; the store, the services and the pages share these and no twins.
Times are aware and UTC. Latencies are milliseconds unless the name says seconds. Costs are USD, None when not known.
Source: MEMOIR 4.3–4.5 and 9 (final outputs), API.md, DESIGN §5.
"""

from __future__ import annotations

from memoir_engine.results.documents import (
    Category,
    Chunk,
    ChunkPage,
    Heading,
    Helper,
    HelperDraft,
    HelperPreview,
    Path,
    Source,
    WordChange,
    with_rank,
)
from memoir_engine.results.evidence import (
    Action,
    AuditCheck,
    AuditEvent,
    AuditHead,
    Call,
    Decision,
    EditPreview,
    EventView,
    Option,
    RunDetail,
    RunView,
    UndoPreview,
)
from memoir_engine.results.outcomes import (
    ChunkSummary,
    DroppedPath,
    ErrorReport,
    Estimate,
    IngestResult,
    ModelCheck,
    Overview,
    PathChoice,
    QueryResult,
    Response,
    SettingView,
    Status,
    UsedChunk,
)

__all__ = [
    "Action",
    "AuditCheck",
    "AuditEvent",
    "AuditHead",
    "Call",
    "Category",
    "Chunk",
    "ChunkPage",
    "ChunkSummary",
    "Decision",
    "DroppedPath",
    "EditPreview",
    "ErrorReport",
    "Estimate",
    "EventView",
    "Heading",
    "Helper",
    "HelperDraft",
    "HelperPreview",
    "IngestResult",
    "ModelCheck",
    "Option",
    "Overview",
    "Path",
    "PathChoice",
    "QueryResult",
    "Response",
    "RunDetail",
    "RunView",
    "SettingView",
    "Source",
    "Status",
    "UndoPreview",
    "UsedChunk",
    "WordChange",
    "with_rank",
]
