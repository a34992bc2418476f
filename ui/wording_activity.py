"""Texts of the Activity page and of signatures."""

from __future__ import annotations

from ui.words import Words


class Activity(Words):
    TITLE = "Activity"
    EMPTY = "Nothing was done yet"
    EMPTY_TEXT = "Every change stands here, with who made it and why, as soon as there is one."
    NOTHING_FOUND = "Nothing passes these filters."
    FILTERS = "Filters"
    ANY = "any"
    WHO, WHAT = "Who", "What"
    SOURCE, CATEGORY, RUN = "Source", "Category", "Run"
    SINCE, UNTIL, REASON = "From", "To", "Reason holds"
    RUNS_TOO = "With ended runs and turns"
    RUNS_TOO_HELP = "Questions, runs that end and turns of conversations leave events, too. They change nothing in the tree."
    CLEAR = "Clear filters"
    OLDER, NEWEST = "Older", "Newest"
    EXPORT_CSV, EXPORT_JSON = "Table (CSV)", "All events (JSON)"
    EXPORT = "Take along"
    EXPORT_HELP = (
        "What the filters let through, all pages of it. The table opens in any spreadsheet; "
        "the JSON holds every event with its digest."
    )
    OPEN = "Open"
    UNDONE = "taken back"
    BY_RUN = "Run"
    NO_REASON = "no reason given"
    MORE = "and {count} more"
    BACK = "All activity"
    DID = "What it did"
    EVENTS = "Its events in the chain"
    EVENTS_ABOUT = (
        "Each event is covered by the digest of the next one; texts and names stand beside it and are covered by theirs."
    )
    UNDO_TITLE = "Take it back"
    UNDO_ABOUT = "Nothing is erased: what it did is reversed by an action of its own, which can be taken back, too."
    UNDO_WOULD = "This would happen:"
    UNDO_BLOCKED = "Something later stands on it. Take back first:"
    UNDO_CLASH = "It cannot be taken back now: {clash}."
    UNDO = "Take back"
    UNDO_REASON = "Why is it taken back?"
    UNDO_DONE = "Taken back."
    UNDONE_BY = "It was taken back by another action."
    UNDOES = "It took back another action."

    CHAIN = "The chain"
    CHAIN_ABOUT = (
        "Every event holds the digest of the one before it. Write the head down elsewhere: "
        "a truncated or rewritten history does not hold it."
    )
    HEAD = "Head after {events}"
    EXPECTED = "A head written down elsewhere"
    EXPECTED_FORM = "64 characters"
    EXPECTED_HELP = "It must be in the history. Without one, an end that was cut off cleanly cannot be seen."
    VERIFY_LINKS, VERIFY_ALL = "Check the links", "Check everything"
    LINKS_HELP = "The chain alone: each event follows the one before."
    ALL_HELP = "The chain, the digests of every row that holds evidence, and that replaying the events gives what stands now."
    CHECKING = "Checking"
    OK = "The record is whole: {events} checked."
    OK_WITH_HEAD = "The record is whole: {events} checked, and the head written down elsewhere is among them."
    BAD = "The record was changed by hand"
    BAD_AT = "First at event {seq}."
    SHOW_BAD = "Show event {seq}"
    NOT_A_HEAD = "A head has 64 characters, 0 to 9 and a to f. This one was not compared."

    REPORT = "Audit report"
    REPORT_FORMS = {"html": "A page (HTML)", "json": "Data (JSON)"}
    REPORT_ABOUT = (
        "What, from where, which options there were, who decided and what it cost; with the head of the chain. Both say the same."
    )
    DONE_HERE = "All that was done here"
    SIGN = "Signatures"
    SIGN_ABOUT = "Who stands for this as it is. A later change makes a signature void, visibly."
    NOT_SIGNED = "Nobody has signed this yet."
    SIGN_HERE = "Sign"
    STATEMENT = "Statement"
    STATEMENT_FORM = "I have read all of it, and it is filed where it belongs."
    COVERS = "It covers {chunks} in {categories}, {reviewed} reviewed."
    I_SIGN = "I sign this as it stands"
    SIGNED = "Signed."
    STATES = {"valid": "valid", "void": "void", "withdrawn": "withdrawn"}
    VOID_SINCE = "void since {who} · {what} · {when}"
    VOID_BY_HAND = "void: the record was changed by hand"
    WITHDRAWN = "withdrawn by {who} · {when}"
    ERASED_WORDS = "The statement was erased."


texts = Activity()
