"""Texts of the Review page: the queue, reasons, decisions and outcomes.

Invariant: glossary words only; the second opinion is the engine's own and is never called confidence.
"""

from __future__ import annotations

from typing import Any

from ui.words import Words


class Review(Words):
    TITLE = "Review"
    ABOUT = "Go through what was filed, the riskiest first. Everything can be taken back."
    VIEWS = {"one": "One by one", "list": "List"}
    STATES = {
        "unreviewed": "To review",
        "approved": "Approved",
        "refiled": "Re-filed",
        "rejected": "Rejected",
        "skipped": "Skipped",
    }
    BADGES = {
        "unreviewed": "not reviewed",
        "approved": "approved",
        "refiled": "re-filed",
        "rejected": "rejected",
        "skipped": "skipped",
    }
    REASONS = {
        "margin": "Close call",
        "disagrees": "Second opinion disagrees",
        "new_category": "New category",
        "limit": "Level was full",
        "retried": "Asked again",
        "no_helper": "No helper",
        "sample": "Random sample",
    }
    VERDICTS = {"approve": "Approve", "reject": "Reject", "skip": "Skip", "refile": "Re-file to …"}

    # --- filters -------------------------------------------------------------------------------------------------------

    FILTERS = "Filters"
    STATE, REASON, SOURCE, BRANCH, REVIEWER, SAMPLE = "State", "Why it is here", "Source", "Branch", "Reviewer", "Sample"
    ANY_REASON, ANY_SOURCE, ANY_BRANCH, ANY_REVIEWER, NO_SAMPLE = (
        "Any reason",
        "All sources",
        "Whole tree",
        "Anybody",
        "No sample",
    )
    SAMPLE_HELP = (
        "A random share of what the filters let through, the same each time: it finds quiet errors that no risk points at."
    )
    SAMPLE_OF = "{share} % at random"
    CLEAR = "Clear filters"

    # --- empty ---------------------------------------------------------------------------------------------------------

    NOTHING_FILED = "There is nothing to review yet"
    NOTHING_FILED_TEXT = "Each chunk that is filed waits here for a person. Add a source, or load the sample memory."
    NOTHING = {
        "unreviewed": (
            "All reviewed",
            "Nothing waits for a person here. Look at a random sample of what was approved (Filters), sign a source off, "
            "or add one.",
        ),
        "approved": ("Nothing approved yet", "What reviewers approve is listed here and can be taken back."),
        "refiled": ("Nothing re-filed yet", "What reviewers moved to another category is listed here."),
        "rejected": ("Nothing rejected yet", "Chunks that were rejected are listed here, until somebody files them anew."),
        "skipped": ("Nothing skipped", "What reviewers skipped waits here."),
    }
    NOTHING_FILTERED = "Nothing fits these filters. Clear them to see the whole queue."
    VIEWER = "You can read the queue. Deciding needs the role auditor, which {name} does not have."

    NAMELESS = "Say who you are first: each decision carries a name. Until then you can read the queue."

    # --- the desk ------------------------------------------------------------------------------------------------------

    DESK: dict[str, Any] = {
        "progress": "{done} of {all} reviewed",
        "saving": "{count} being saved",
        "late": "{count} not saved yet, trying again",
        "dismiss": "Dismiss",
        "evidence": "Evidence in its context",
        "why": "Why it was filed here",
        "decide": "Decide",
        "chunk": "The chunk",
        "helper": "Contextual helper",
        "noHelper": "This source has none.",
        "openSource": "Open the chunk in its source, in another tab",
        "opinion": "Second opinion (the engine's own similarity):",
        "unknown": "No second opinion was computed.",
        "alike": "Likeness of words:",
        "chosen": "chosen",
        "passed": "offered, not chosen",
        "more": "more offered, not chosen",
        "fresh": "new",
        "noDecisions": "No decision is on record for this filing.",
        "whyQueued": "Why it is in the queue",
        "neighbours": "Nearest neighbours",
        "noNeighbours": "No other chunk is like it.",
        "loading": "Loading the evidence …",
        "approve": "Approve",
        "refile": "Re-file …",
        "reject": "Reject",
        "skip": "Skip",
        "previous": "Previous",
        "next": "Next",
        "undo": "Undo",
        "help": "Keys",
        "close": "Close",
        "cancel": "Cancel",
        "again": "Look again",
        "reason": "Reason",
        "reasonHint": "optional, kept with the decision",
        "likeliest": "Or re-file to",
        "refileTo": "Re-file to",
        "search": "Search the categories",
        "searching": "Searching …",
        "nothingFound": "No leaf has these words in its path.",
        "present": "is there now",
        "sending": "being saved",
        "decidedAlready": "Decided already. Undo takes it back.",
        "takenBack": "Taken back.",
        "takenBy": "Decided by {by}",
        "somebody": "somebody else",
        "overtaken": "somebody else decided first, so your decision was not applied.",
        "refused": "this could not be done.",
        "bounced": "Too quick: that key was pressed a moment ago, so this press does not count.",
        "states": BADGES,
        "verdicts": {
            "approve": "Approved",
            "reject": "Rejected",
            "skip": "Skipped",
            "refile": "Re-filed to",
            "undo": "Being taken back",
            "correct": "Corrected",
        },
        "keysOn": "Single keys work on this page",
        "keys": [
            ["A", "Approve: it is in the right place"],
            ["R", "Re-file: search for the right place, Enter files it there"],
            ["1 2 3 4 5", "Re-file to one of the likeliest places at once"],
            ["E", "Of a fact: set its words right, then decide; Enter keeps them, Esc leaves them"],
            ["X", "Reject: wrong here, the right place is not known"],
            ["S", "Skip: decide later"],
            ["J →", "Next item, without deciding"],
            ["K ←", "Previous item"],
            ["U", "Undo the decision shown, else the last one"],
            ["N", "Write a reason for the next decision"],
            ["L", "Look again, at the end of the queue"],
            ["?", "These keys"],
        ],
        "skippedLeft": "{count} skipped: they still wait for a decision. Look again to see them.",
        "allDone": {"title": "All reviewed", "text": NOTHING["unreviewed"][1]},
    }
    NO_UNDO = "There is nothing to take back: {says}"

    # --- the list ------------------------------------------------------------------------------------------------------

    LIST_ABOUT = "Choose rows, then one verdict for all of them. You see what it does before it is done."
    CHOSEN = "{count} chosen"
    NONE_CHOSEN = "Choose rows in the table: click the boxes, or move with the arrow keys and press Enter."
    OPEN_ITEM = "Look at it closely"
    VERDICT_FOR_ALL = "Verdict for all"
    WHERE_TO = "Re-file to"
    WHERE_HELP = "Type words of the path"
    FIND_PLACE = "Words of the path"
    NO_PLACE = "No leaf has these words in its path."
    BULK_REASON = "Reason"
    BULK_REASON_HINT = "Kept with each of them"
    EFFECT = "What it does"
    DO_FOR = {"approve": "Approve {count}", "reject": "Reject {count}", "skip": "Skip {count}", "refile": "Re-file {count}"}
    EFFECTS = {
        "approve": "{chunks} stay where they are, as approved.",
        "reject": "{chunks} leave the tree and its answers until somebody files them anew.",
        "skip": "{chunks} go to the end of the queue.",
        "refile": "{chunks} move.",
    }
    MORE_LEAVES = "and {count} more categories"
    NOT_DONE = "Would not be done:"
    RISK_HELP = "How much speaks against the filing, from what the engine knows; the queue is in this order."
    ROWS_OF = "{shown} of {all} rows"
    DONE_ALL = "{done} of {all} done."
    UNDO_ALL = "Undo all {count}"
    UNDONE_ALL = "{done} of {all} taken back."
    MORE_ROWS = "Next rows"
    FIRST_ROWS = "First rows"

    # --- elsewhere -----------------------------------------------------------------------------------------------------

    TO_REVIEW = "{count} to review"
    TO_REVIEW_HELP = "Go through what was filed here, the riskiest first."
    WAIT = "{filings} for a review."
    REVIEW = "Review"

    # --- facts ---------------------------------------------------------------------------------------------------------

    KINDS = {"filings": "Filings", "facts": "Facts"}
    KIND = "What is reviewed"
    FACTS_OF = "Facts of {user}"
    OLDER, NEWER, LEARNED = "Earlier", "Later", "Learned"
    FACT_ASKS = {
        "proposal": "Does the later one take the place of the earlier one?",
        "supersession": "Did the older one rightly give way?",
        "fact": "Is this what was said?",
        "suggestion": "An agent suggests this. Is it right?",
    }
    YES_DOES = {
        "update": "Yes: the older one becomes outdated, because it changed.",
        "conflict": "Yes: the older one becomes outdated, because both cannot be so.",
        "duplicate": "Yes: it counts as said again, and stays one fact.",
        "merged": "Yes: both become one fuller fact{together}.",
        "corrected": "Yes: the older one was never so{together}.",
        "added": "Yes: it is added, and in force from then on.",
        "correction": "Yes: it is set right{together}.",
        "retired": "Yes: it has ended.",
    }
    NO_DOES = "No: both stand as they are."
    NO_CHANGES = "No: nothing changes."
    TOGETHER = ": “{content}”"
    FACT_DOES = {
        "supersession": ("Yes: it stays outdated, as approved.", "No: the older one is in force again, beside the newer one."),
        "fact": ("Yes: it stands, as approved.", "No: it becomes outdated, because you said so. Its words stay on record."),
    }
    FACT_LABELS = {
        "proposal": {"approve": "Yes, it does", "reject": "No, keep both"},
        "supersession": {"approve": "Yes, it did", "reject": "No, bring it back"},
        "fact": {"approve": "Yes, approve", "reject": "No, reject"},
        "suggestion": {"approve": "Yes, it is", "reject": "No, reject"},
    }
    NOTHING_FACTS = {
        "unreviewed": ("All facts reviewed", "Facts that are drawn from conversations wait here for a person."),
        "approved": ("No fact approved yet", "What reviewers approve is listed here and can be taken back."),
        "rejected": ("No fact rejected yet", "Facts that were rejected are listed here."),
        "skipped": ("Nothing skipped", "What reviewers skipped waits here."),
    }
    DESK |= {
        "correct": "Correct its words",
        "rightWords": "The right words",
        "rightHint": "Enter keeps them for your decision, Esc leaves them as they were.",
        "approveRight": "Yes, with these words",
        "rightOnly": "These words go with a yes. Press Esc in their field to decide without them.",
        "factEvidence": "What was said",
        "factWhy": "What is asked",
        "openFact": "Open the fact on the Facts page, in another tab",
        "modelSaid": "The reason given",
        "chain": "What was believed about it",
        "outdated": "outdated",
        "inForce": "in force",
    }


texts = Review()
