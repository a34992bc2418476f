"""Texts of the Conversations page."""

from __future__ import annotations

from ui.words import Words


class Conversations(Words):
    TITLE = "Conversations"
    ALL = "All conversations"
    EMPTY = "No conversations yet"
    EMPTY_TEXT = "Bring one in from ChatGPT, Claude, LangChain or a plain transcript; or let an agent talk through this memory."
    OPEN_HINT = "Select a row to read a conversation."
    SHOW_EXPIRED = "Show expired"
    MORE = "Show more"
    UNNAMED = "nothing said yet"
    COLUMNS = {
        "opening": "Begins with",
        "id": "Session",
        "user": "User",
        "turns": "Turns",
        "messages": "Messages",
        "chars": "Characters",
        "last": "Last activity",
        "expires": "Expires",
    }
    NEVER = "never"
    EXPIRED = "expired"

    # --- one conversation ----------------------------------------------------------------------------------------------

    EARLIER = "Earlier messages"
    LATEST = "Latest messages"
    SHOWN_PART = "Messages {first} to {last} of {all}"
    NOTHING_SAID = "Nothing was said in this conversation yet."
    TRANSCRIPT_WORDS = {
        "call": "calls",
        "failed": "failed",
        "details": "Details",
        "part": "part that is no text",
        "more": "Show all of it",
        "less": "Show less",
        "cited": "Open what it stands for",
    }
    DETAILS = "Message {n}"
    DETAILS_HINT = "Select a message to see when and how it was said."
    SAID_BY = "{who}, {when}"
    RUN = "What was asked and shown for it"
    METADATA = "Metadata"
    CUTS = "See where it would be cut"
    FACTS = "What is remembered of it"
    NO_FACTS = "No fact was drawn from this conversation yet."
    DRAW_FACTS = "Draw facts from it"
    DRAW_FACTS_HELP = "Facts are drawn from what people say in it. Messages that were read before change nothing."
    NO_FACTS_HERE = "No fact was drawn from message {n}. Close the message to see those of the whole conversation."

    # --- summary -------------------------------------------------------------------------------------------------------

    SUMMARY = "Summary"
    SUMMARISE = "Summarise"
    SUMMARY_ABOUT = "In a few sentences, by the model in use. Each call is in the ledger."
    SUMMARISING = "Reading the conversation…"

    # --- taking along --------------------------------------------------------------------------------------------------

    EXPORT = "Export"
    EXPORT_HELP = "JSON with every message, its time and its tool calls, as LangChain reads it."
    IMPORT = "Import a conversation"
    IMPORT_ABOUT = (
        "ChatGPT and Claude exports, OpenAI and LangChain messages, what this page exports, and transcripts with lines like "
        "“Name: text”. You see what would come before anything is stored."
    )
    DROP = "File"
    PASTE = "Or paste it"
    INTO = "Into"
    NEW = "A new conversation"
    LOOK = "See what would come"
    WOULD_COME = "{added} would come"
    ALREADY = "{known} there already"
    REFUSED = "{refused} refused: nothing is imported until they are corrected or removed"
    FORMAT = "Read as {format}"
    SPAN = "said from {first} to {last}"
    BRING = "Import"
    CONVERSATIONS = "{count} conversations"
    BROUGHT = "{added} imported into {session}."
    WHERE, WHY = "Record", "Why it is refused"

    # --- what is kept --------------------------------------------------------------------------------------------------

    KEEP = "What is kept"
    KEEP_ABOUT = (
        "The latest messages stay, and the system message. A tool call is never parted from its result. "
        "An expired conversation leaves the list; nothing of it is deleted."
    )
    KEEP_PREVIEW = "Set limits to see what they would drop. Nothing changes until you apply them to a conversation."
    KEEP_CONFIGURED = "Now in force for all: {messages}, {timeout}."
    ALL_MESSAGES = "all messages"
    LAST_MESSAGES = "the last {count} messages"
    NO_TIMEOUT = "no expiry"
    AFTER = "expiry after {hours:g} hours"
    MOST = "Messages to keep"
    MOST_HELP = "0 keeps all."
    HOURS = "Hours until expiry"
    HOURS_HELP = "0 is never."
    WOULD_DROP = "Would be dropped"
    WOULD_STAY = "Would stay"
    WOULD_EXPIRE = "Would expire"
    NOTHING_WOULD = "Nothing would be dropped, and nothing would expire."
    APPLY = "Apply to this conversation"
    WOULD_GO = ":orange[:material/delete_sweep: {dropped} would go, {kept} would stay.]"
    NONE_WOULD_GO = ":gray[No message would go.]"

    # --- clearing ------------------------------------------------------------------------------------------------------

    CLEAR = "Clear"
    CLEAR_TITLE = "Clear this conversation?"
    CLEAR_ABOUT = (
        "All {messages} go, wherever they stand: with their passages, and with what the model was asked and answered about them. "
        "Facts drawn from it stay, and will say that their evidence was removed. This cannot be undone."
    )
    CLEAR_YES = "Clear it for good"
    CLEAR_NO = "Keep it"
    CLEARED = "The conversation is cleared."


texts = Conversations()
