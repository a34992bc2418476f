"""Texts of the Facts page."""

from __future__ import annotations

TITLE = "Facts"
ABOUT = "What is remembered of a person, since when, from which sentence, and what was believed before."
WORKSPACE = "The workspace"
USER = "Whose facts"
STATUS = "State"
STATUSES = {"active": "active", "outdated": "outdated"}
TYPE = "Type"
ALL_TYPES = "All types"
FIND = "Find"
FIND_PLACEHOLDER = "Words in a fact, or a question"
FIND_HELP = "Shows the facts that are nearest to this. No model is asked."
AS_OF = "As of"
AS_OF_HELP = (
    "Known then: what was believed at that moment; facts learned later are not there. "
    "True then: what held on that day, as far as it was said."
)
KNOWN_THEN, TRUE_THEN = "known then", "true then"
NOW = "now"
HELD = "This is what was true on {when}, as it is known now."
THEN = "This is what was believed at {when}. Nothing can be changed in the past."

TYPES = {
    "personal": "Personal",
    "professional": "Work",
    "health": "Health",
    "preference": "Taste",
    "activity": "Activity",
    "plan": "Plan",
    "miscellaneous": "Other",
}
ACTIVE, OUTDATED, LAST, TO_DECIDE = "Active facts", "Outdated", "Last change", "To decide"
VIEWS = ("Timeline", "Table", "Relations")
TIMELINE_WORDS = {
    "label": "Facts over time; arrow keys walk from one to the next, Enter opens it",
    "more": "Show {count} more",
}
SINCE = "since {since}"
UNTIL = "until {until}"
FROM_TO = "{since} to {until}"
BELIEVED = "{state}, {period}"
DOUBTED = "waits for a decision"

NOT_YOURS = "Facts belong to people"
NOT_YOURS_TEXT = "Say who you are to look at them. Your name is kept with whatever you change."
WHOSE = "Facts belong to people"
WHOSE_TEXT = "Say who you are, and you may look at what is remembered of them."
EMPTY = "Nothing is remembered yet"
EMPTY_TEXT = "Facts are drawn from conversations. Bring one along, or begin with the sample conversations."
SAMPLES = "Remember the sample conversations"
NONE_FOUND = "No fact fits"
NONE_FOUND_TEXT = "Try another state, another type, or a later moment."

CHOOSE = "Choose a fact to see where it comes from and what it took the place of."
CHAIN = "How it changed"
ALONE = "Where it comes from"
LEARNED = "learned {when}"
GONE = "evidence removed"
UNSUPPORTED = "its quote does not stand in the message"
STATED = "stated confidence {share}"
CAUSES = {
    "update": "It is no longer so",
    "conflict": "It was contradicted",
    "merged": "It is part of a fuller one",
    "person": "Somebody said so",
    "corrected": "It was put right: it was never so",
    "retired": "Somebody said that it has ended",
    "expired": "It has expired",
}
BECAUSE = "{cause}: “{reason}”"
EVIDENCE = "Show the evidence"
EVIDENCE_TITLE = "The sentences behind it"
SAID_BY = "{who}, message {message} of {conversation}"
EARLIER, LATER = "Earlier", "Now"
ONLY = "Said here"
RESTORE = "Bring it back"
RESTORE_HELP = "Both facts are active then. It can be undone in the activity."
RESTORE_REASON = "Why is it still so?"
FORGET = "Forget…"
FORGET_ABOUT = "Its words go from the memory for good, from messages, prompts and replies too. That cannot be taken back."
FORGET_PLACES = {
    "fact": ("fact", "facts"),
    "message": ("message", "messages"),
    "payload": ("prompt or reply", "prompts and replies"),
    "embedding": ("vector", "vectors"),
}
FORGET_CLEARS = "Cleared of these words: {places}."
FORGET_ALSO = "These go with it, for they say the same or were made of it"
FORGET_AGAIN = "In force again, for only a fuller fact had taken their place"
FORGET_MORE = "and {count} more"
FORGET_STAYS = "The same words also stand elsewhere and stay there: {places}. This fact was not drawn from them."
FORGET_ELSEWHERE = "Message {message} of {conversation}"
FORGET_REASON = "Why should it be forgotten?"
FORGET_GO = "Forget for good"
FORGOTTEN = "It has been forgotten."
IN_CONVERSATION = "Open the conversation"
IN_RUN = "Open the run"
IN_ACTIVITY = "What was done"

DECIDE_TITLE = "To decide"
DECIDE_ABOUT = "The model was not sure, or the engine's own comparison doubts it. Nothing has been changed."
WOULD = {
    "update": "Would make the older one outdated: it changed",
    "conflict": "Would make the older one outdated: they contradict each other",
    "duplicate": "Would count as said again",
    "merged": "Would join both into one",
    "corrected": "Would put the older one right: it was never so",
}
DOUBTS = {
    "model": "the model was not sure",
    "second_opinion": "the engine's comparison doubts it",
    "by_hand": "it was added by hand and speaks of the same thing",
}
OLD, NEW = "Earlier", "Later"
APPROVE, REJECT = "That is right", "Keep both"

NO_RELATIONS = "No relations between these facts"
NO_RELATIONS_TEXT = "Relations are found between facts of one conversation: what contradicts, contains or explains what."
RELATIONS = {
    "same_subject": "same matter",
    "part_of": "part of",
    "because_of": "because of",
    "follows": "follows",
    "contradicts": "contradicts",
}
FEWER_RELATIONS = "The first {shown} of {all} relations are drawn."

EXPORT = "Export"
EXPORT_HELP = "The facts that the filters let through."
EXPORT_CSV, EXPORT_JSON = "As CSV", "As JSON"

REMEMBER = "Remember a conversation"
REMEMBER_ABOUT = "Facts are drawn from what the people in it say. A conversation that was remembered before changes nothing."
REMEMBER_USER = "Whose facts they are"
REMEMBER_USER_PLACEHOLDER = "A name or an e-mail address"
PASTE = "Paste a conversation"
PASTE_PLACEHOLDER = "Mia: I moved to Lyon last week.\nAssistant: How do you like it?"
DROP = "or choose a file"
GO = "Remember it"
NO_TEXT = "Paste a conversation or choose a file first."
NO_USER = "Say whose facts they are first."
A_TALK = "A conversation"
NO_TALKS = "Nothing is being remembered. A conversation that you add appears here, with its facts as they are drawn."
MORE_DRAWN = "and {count} more"
PARTS_READ = "{done} of {all} parts read"
COUNTING = "Counting and cutting the conversation"
OPEN_FACTS = "Facts"
CLOSE = "Close"
RUNNING = "Remembering a conversation"
CUT = "{messages} in {cuts}"
DRAWN = "Part {number} of {of}: {facts}"
PART_FAILED = "Part {number} of {of} could not be read"
COMPARED = "{new} met {known}"
DONE = "{added}, {outdated}"
FAILED = "The conversation could not be remembered"
STOP = "Stop"

COLUMNS = {
    "content": "Fact",
    "state": "State",
    "type": "Type",
    "subject": "About",
    "since": "Since",
    "until": "Until",
    "said": "Said",
    "confidence": "Stated confidence",
}
