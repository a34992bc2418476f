"""Errors of messages and of what is read as conversations. Source: SESSION 6.4; DESIGN §11."""

from __future__ import annotations

from memoir_engine.errors.root import MemoirError


class ConversationError(MemoirError):
    code = "E800"
    message_form = "the conversation cannot be read"
    remedy_form = "Look at the problem it names, and try again."


class MessageRefused(ConversationError):
    """A record that is no message. `where` names it, e.g. `messages[3]`."""

    code = "E801"
    message_form = "{where} is no message: {problem}"
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
    """An import of which a record is refused; `where` names the first."""

    code = "E804"
    message_form = "nothing was imported: {count} of {records} records are refused, the first is {where}: {problem}"
    remedy_form = "Correct or remove these records; import_session(…, dry_run=True) lists all of them."
