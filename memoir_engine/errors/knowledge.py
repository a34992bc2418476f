"""Errors of knowledge and conversations, with MEMOLLA's exact texts (E001–E006). Source: MEMOLLA §8."""

from __future__ import annotations

from memoir_engine.errors.root import MemoirError


class KnowledgeError(MemoirError):
    code = "E006"
    message_form = "target not found"
    remedy_form = "sources.list() and sessions.list_sessions() show what there is."


class ConversationInputMissing(KnowledgeError):
    code = "E001"
    message_form = "session_id and content are required"
    remedy_form = "Give both as non-empty strings."


class DocIdExists(KnowledgeError):
    code = "E002"
    message_form = "doc_id already exists"
    remedy_form = "Choose another doc_id, or withdraw the source that has it."


class SummaryTargetUnclear(KnowledgeError):
    code = "E003"
    message_form = "specify either session_id or doc_id"
    remedy_form = "Give exactly one of the two."


class OptimizeNotImplemented(KnowledgeError, NotImplementedError):
    code = "E005"
    message_form = "optimize level not implemented"
    remedy_form = "Nothing needs optimising: indexes keep themselves; reindex() rebuilds them."


class TargetNotFound(KnowledgeError):
    code = "E006"
