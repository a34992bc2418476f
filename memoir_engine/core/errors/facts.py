"""Errors of facts (E6xx), knowledge (MEMOLLA's exact texts, E001–E006) and conversations (E8xx).

Source: CHUNK 12; TIMEM "Error Handling"; MEMOLLA §8; SESSION 6.4; DESIGN §6, §11.
"""

from __future__ import annotations

from memoir_engine.core.errors.root import MemoirError


class FactError(MemoirError):
    code = "E600"
    message_form = "the facts could not be worked on: {problem}"
    remedy_form = "Correct the problem and try again."


class FactNotFound(FactError):
    code = "E601"
    message_form = "there is no fact {fact_id!r}"
    remedy_form = "facts.list() shows those there are."


class NothingExtracted(FactError):
    """Every cut of a conversation failed, or the first did and `fail_fast` is on."""

    code = "E602"
    message_form = "no facts could be drawn: cut {cut} failed ({problem}); {failed} of {cuts} cuts failed"
    remedy_form = "{advice}"
    retryable = True


class FactNotOutdated(FactError):
    code = "E603"
    message_form = "fact {fact_id!r} is in force already"
    remedy_form = "Only an outdated fact can be restored; facts.list(status='outdated') shows them."


class ProposalNotFound(FactError):
    code = "E604"
    message_form = "there is no open proposal {proposal_id}"
    remedy_form = "facts.proposals() shows those that wait for a person."


class FactsMoved(FactError):
    """Others kept changing the facts of one user while new ones were being compared with them."""

    code = "E605"
    message_form = "the facts of this user changed while new ones were compared with them, {times} times in a row"
    remedy_form = "Try again in a moment; nothing was stored, and answers paid for are in the ledger."
    retryable = True


class RememberingCancelled(FactError):
    code = "E606"
    message_form = "remembering was cancelled"
    remedy_form = "Nothing was stored. Start it again when you are ready."


class FactsNotYours(FactError):
    """An actor tried to write another user's facts."""

    code = "E607"
    message_form = "{actor!r} may not write facts of user {user!r}"
    remedy_form = "Leave user_id out, or act as that user: memory.acting_as(name, user=…)."


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


class ConversationError(MemoirError):
    code = "E800"
    message_form = "the conversation cannot be read"
    remedy_form = "Look at the problem it names, and try again."


class MessageRefused(ConversationError):
    """An invalid message record. `where` names it, e.g. `messages[3]`."""

    code = "E801"
    message_form = "{where} is not a valid message: {problem}"
    remedy_form = "Correct or remove this record; nothing was stored."


class FormatUnknown(ConversationError):
    code = "E802"
    message_form = "no known form of conversation: {problem}"
    remedy_form = (
        "Give a ChatGPT or Claude export (conversations.json), a list of OpenAI or LangChain messages, a LoCoMo file, "
        "or a transcript with lines like 'Name: text'."
    )


class SessionNotFound(ConversationError):
    code = "E803"
    message_form = "there is no session {session_id!r}"
    remedy_form = "sessions.list() shows those there are, expired ones with expired=True."


class HistoryRefused(ConversationError):
    """An import with invalid records; `where` names the first."""

    code = "E804"
    message_form = "nothing was imported: {count} of {records} records are refused, the first is {where}: {problem}"
    remedy_form = "Correct or remove these records; import_session(…, dry_run=True) lists all of them."
