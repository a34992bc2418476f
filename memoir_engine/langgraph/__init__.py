"""LangGraph's checkpoints and LangChain's histories, kept in a memory. Needs the extra: memoir-engine[langgraph].

    from memoir_engine.langgraph import MemoirChatMessageHistory, MemoirCheckpointSaver

Source: SESSION 3.5, 4.3; API.
"""

from __future__ import annotations

from memoir_engine.core.errors import ExtraMissing

try:  # before the modules that need it, so that its lack is said with the remedy
    import langgraph.checkpoint.base  # noqa: F401  # of the library: imports are absolute
except ImportError as missing:
    raise ExtraMissing(library=missing.name or "langgraph", extra="langgraph") from missing

from memoir_engine.core.results.conversations import Pruned
from memoir_engine.langgraph.history import MemoirChatMessageHistory
from memoir_engine.langgraph.saver import MemoirCheckpointSaver

__all__ = ["MemoirChatMessageHistory", "MemoirCheckpointSaver", "Pruned"]
