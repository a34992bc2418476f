"""Texts of the People page: whose data is kept, one person's data, taking it along, and erasing it.

Invariant: an irreversible effect is stated before it happens, in plain words.
"""

from __future__ import annotations

from ui.words import Words


class People(Words):
    TITLE = "People"
    ABOUT = "Everybody of whom something is kept. Choose one to see all of it, to take it along, or to have it erased."
    EMPTY = "Nothing is kept of anybody"
    EMPTY_TEXT = "People appear with their first conversation. Bring one in on the Facts page, or talk on the Conversations page."
    COLUMNS = {
        "user": "Person",
        "facts": "Facts",
        "active": "Active",
        "sessions": "Conversations",
        "messages": "Messages",
        "runs": "Runs",
        "first": "Known since",
        "last": "Last change",
    }
    MORE = "Show more"
    BACK = "All people"

    # --- one person ----------------------------------------------------------------------------------------------------

    METRICS = {
        "facts": "Facts",
        "active": "Active",
        "proposals": "Proposals",
        "sessions": "Conversations",
        "messages": "Messages",
        "runs": "Runs",
        "cuts": "Cuts",
        "graph_states": "Agent states",
    }
    BETWEEN = "Kept from {first} to {last}"
    FACTS, CONVERSATIONS = "Facts", "Conversations"
    NO_FACTS, NO_CONVERSATIONS = "No facts.", "No conversations."
    FACT_COLUMNS = {"content": "Fact", "type": "Type", "status": "State", "since": "Learned"}
    SESSION_COLUMNS = {"id": "Conversation", "messages": "Messages", "last": "Last"}
    ON_FACTS = "See them on the timeline"
    LEFT_OUT = "The newest {count} are shown. The report and the export have more."
    EXPORT = "Take all of it along"
    EXPORT_HELP = "One zip file: each fact with its history and origins, every message, every run, and a page to read."

    # --- erasing -------------------------------------------------------------------------------------------------------

    ERASE = "Erase this person"
    ERASE_HELP = "Takes everything that is kept of this person out of every place, after a look at what goes."
    ERASE_TITLE = "Erase all that is kept of {name}"
    ERASE_ABOUT = (
        "Facts, conversations, questions and answers, and every prompt that holds them. **This cannot be undone.** "
        "To keep a copy, take it along first."
    )
    GOES = "What will be erased"
    REMAINS = "What will remain, and why"
    PLACE, ROWS = "Place", "Rows"
    PLACES = {
        "tombstone": "Tombstones",
        "action": "Actions",
        "run": "Runs that filed documents",
        "source": "Documents",
        "filing": "Reviews",
        "sign_off": "Signatures",
        "fact": "Facts of others",
    }
    WHY = "Reason"
    WHY_PLACEHOLDER = "Stays in the record, so do not repeat what is to be erased"
    CONFIRM = "Type “{word}” to confirm"
    SHORT_WORD = "erase"
    NOT_CONFIRMED = "Nothing was erased: type the word as it stands there, and say why."
    DO_IT = "Erase now"
    NEVER_MIND = "Never mind"
    ERASED = "Everything that was kept of {name} is erased."


texts = People()
