"""Texts of the Facts page."""

from __future__ import annotations

from ui.words import Plural, Words


class Facts(Words):
    TITLE = "Facts"
    ABOUT = "What is remembered of a person, since when, from which sentence, and what was believed before."
    WORKSPACE = "The workspace"
    USER = "Whose facts"
    STATUS = "State"
    STATUSES = {"active": "active", "outdated": "outdated"}
    TYPE = "Type"
    ALL_TYPES = "All types"
    FIND = "Find"
    FIND_PLACEHOLDER = "Words or a question"
    FIND_HELP = "Shows the facts that are nearest to this. No model is asked."
    FOUND = {
        "meaning": "The best answer stands first.",
        "words": "The best answer stands first. Found by words alone: no embedder that knows meaning is at work (Settings).",
    }
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
    VIEW = "View"
    VIEWS = {"Timeline": "Timeline", "Table": "Table", "Relations": "Relations"}  # by what stands in the address
    TIMELINE_WORDS = {
        "label": "Facts over time; arrow keys walk from one to the next, Enter opens it, Space selects it",
        "now": "now",
        "selected": "selected",
        "more": "Show {count} more",
    }
    SINCE = "since {since}"
    UNTIL = "until {until}"
    FROM_TO = "{since} to {until}"
    BELIEVED = "{state}, {period}"
    EXPIRING = "{believed}, expires {when}"
    ENDED_AS = {"corrected": "corrected", "retired": "ended", "expired": "expired"}  # causes that say more than "outdated"
    NEVER = "never so"
    WHY_OUTDATED = "Why outdated"
    ANY_CAUSE = "Any reason"
    BY_CAUSE = {
        "update": "It changed",
        "conflict": "Contradicted",
        "merged": "Part of a fuller one",
        "person": "Rejected",
        "corrected": "Corrected",
        "retired": "Ended by hand",
        "expired": "Expired",
    }
    AGENT = "Agent"
    ANY_AGENT = "Any agent"

    WHOSE = "Facts belong to people"
    WHOSE_TEXT = "Say who you are, and you may look at what is remembered of them."
    EMPTY = "Nothing is remembered yet"
    EMPTY_TEXT = "Facts are drawn from conversations. Bring one along, or begin with the sample conversations."
    SAMPLES = "Remember the sample conversations"
    NONE_FOUND = "No fact fits"
    NONE_FOUND_TEXT = "Try another state, another type, or a later moment."

    CHOOSE = (
        "Click a fact to see where it comes from and to put it right; Space or Ctrl+click selects several. "
        "By keyboard: Tab to the timeline, arrow keys from fact to fact, Enter opens."
    )
    CHOOSE_ROWS = "Click a fact to open it; tick the boxes to change several at once."
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
        "proposed": "An agent suggested it, and nobody has agreed",
    }
    BECAUSE = "{cause}: “{reason}”"
    EVIDENCE = "Show the evidence"
    EVIDENCE_TITLE = "The sentences behind it"
    SAID_BY = "{who}, message {message} of {conversation}"
    STATED_BY = "said so by {who} on {when}"
    STATED_BY_HAND = "said so by {who}"
    FROM_SOURCE = "from {source}"
    SOME_SOURCE = "a document that is no longer there"
    NO_QUOTE = "It was stated by hand, so there is no message to show."
    NOTED_BY = "noted by the agent {agent}"
    EXPIRES = "expires {when}"
    METADATA = "Metadata"
    EARLIER, LATER = "Earlier", "Now"
    ONLY = "Said here"
    RESTORE = "Bring it back"
    RESTORE_HELP = "Both facts are active then. It can be undone in the activity."
    RESTORE_REASON = "Why is it still so?"
    FORGET_ABOUT = Plural(
        "Its words go from the memory for good, from messages, prompts and replies too. That cannot be taken back.",
        "Their words go from the memory for good, from messages, prompts and replies too. That cannot be taken back.",
    )
    FORGET_PLACES = {
        "fact": Plural("{count} fact", "{count} facts"),
        "message": Plural("{count} message", "{count} messages"),
        "payload": Plural("{count} prompt or reply", "{count} prompts and replies"),
        "embedding": Plural("{count} vector", "{count} vectors"),
    }
    FORGET_CLEARS = "Cleared of these words: {places}."
    FORGET_ALSO = "These go with it, for they say the same or were made of it"
    FORGET_AGAIN = "In force again, for only a fuller fact had taken their place"
    FORGET_MORE = "and {count} more"
    FORGET_STAYS = "The same words also stand elsewhere and stay there: {places}. This fact was not drawn from them."
    FORGET_ELSEWHERE = "Message {message} of {conversation}"
    FORGOTTEN = "It has been forgotten."
    IN_CONVERSATION = "Open the conversation"
    IN_ACTIVITY = "What was done"

    DECIDE_TITLE = "To decide"
    MORE_TO_DECIDE = "{count} more in the review"
    DECIDE_ABOUT = "The model was not sure, or the engine's own comparison doubts it. Nothing has been changed."
    WOULD = {
        "update": "Would make the older one outdated: it changed",
        "conflict": "Would make the older one outdated: they contradict each other",
        "duplicate": "Would count as said again",
        "merged": "Would join both into one",
        "corrected": "Would put the older one right: it was never so",
        "added": "Would be added",
        "correction": "Would be set right: “{content}”",
        "retired": "Would end",
    }
    DOUBTS = {
        "model": "the model was not sure",
        "second_opinion": "the engine's comparison doubts it",
        "by_hand": "it was added by hand and speaks of the same thing",
        "agent": "an agent suggests it",
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

    # --- facts put right by hand -----------------------------------------------------------------------------------------

    EDIT = "Put it right"
    VERBS = {"add": "Add a fact", "correct": "Correct", "retire": "End", "expire": "Expiry", "forget": "Forget"}
    VERBS_HELP = {
        "add": "Say it in one short sentence. It is compared with what is known: the same said again is recognised.",
        "correct": "It was never so: say what is. The wrong one stays on record as corrected.",
        "retire": "It was so, and is no longer. It stays on record with the day it ended.",
        "expire": "It is outdated by itself from a time that you set, and the timeline shows it before it happens.",
        "forget": "Its words are erased for good, wherever they were drawn from. That cannot be undone.",
    }
    ADD_HELP = "State a fact directly. No model is asked."
    CANCEL = "Cancel"
    OWNER_PLACEHOLDER = "A name or an e-mail address; empty for the workspace"
    WORDS = "What is so"
    WORDS_PLACEHOLDER = "Is allergic to nuts"
    MORE_FIELDS = "Type, dates and names"
    SUBJECT = "About whom or what"
    NAMES = "Names in it"
    NAMES_HELP = "People, places and things that it speaks of."
    NAMES_HINT = "Type a name, then Enter"
    FROM, TO = "From", "Until"
    DATE_HINT = "2026-03-07"
    DATE_HELP = "As exactly as it is known: 2026, 2026-03 or 2026-03-07. Empty if nobody said."
    ENDED_ON = "Since when is it no longer so?"
    ENDED_HINT = "Now, or a date: 2026-03-07"
    EXPIRES_AT = "When does it expire?"
    EXPIRES_IN = {"week": "In a week", "month": "In a month", "year": "In a year", "day": "At a time", "never": "Never"}
    WHY = "Reason"
    WHY_HINT = "For whoever asks later"
    DO: dict[str, str | Plural] = {
        "correct": "Correct it",
        "add": "Add it",
        "retire": Plural("End it", "End {count} facts"),
        "expire": Plural("Set the expiry", "Set the expiry of {count} facts"),
        "forget": Plural("Forget for good", "Forget {count} facts for good"),
    }
    KEEP_FOR_EVER = "Take the expiry back"
    FOLLOWS = "What follows"
    NOTHING_YET = {
        "correct": "Change something, and you see here what follows.",
        "expire": "Choose a time, and you see here what follows.",
    }
    EMPTY_YET = "Say what is so, and you see here what follows."
    REFUSED = "This cannot be done"
    LOOK_AGAIN = "What follows has changed since you looked. Here it is as it stands now; press again to do it."
    NEVER_SO = "was never so: it becomes outdated, as corrected."
    TAKES_PLACE = "takes its place, said by {who}, beside the words it was drawn from."
    DETAILS_CHANGE = "takes its place with {details}, said by {who}."
    DETAILS = {
        "type": "another type",
        "subject": "another subject",
        "entities": "other names",
        "valid_from": "another beginning",
        "valid_to": "another end",
    }
    ENDS_NOW = Plural("It ends now and stays on record.", "{count} facts end now and stay on record.")
    ENDS_THEN = Plural("It ended {when} and stays on record.", "{count} facts ended {when} and stay on record.")
    WILL_EXPIRE = Plural(
        "It is active until {when}, and outdated from then on by itself.",
        "{count} facts are active until {when}, and outdated from then on by themselves.",
    )
    WONT_EXPIRE = Plural("It does not expire any more.", "{count} facts do not expire any more.")
    MERGED_WITH = "Put together with others in"
    GIVES_WAY = "Took the place of"
    WAITING = Plural("{count} question about it waits for a decision", "{count} questions about it wait for a decision")
    RELATED = Plural("{count} relation to another fact", "{count} relations to other facts")
    USED = Plural("{count} answer used it; it stays as it was given", "{count} answers used it; they stay as they were given")
    SAID_IN = Plural(
        "It was said in {count} conversation, which keeps its words",
        "It was said in {count} conversations, which keep their words",
    )
    OPEN_ANSWER = "Open the answer"
    KNOWN = "This is known already; it gets one origin more, you:"
    NOT_TAKEN = "It stays as it is: {details} not taken. To have that, correct it or let it expire."
    BESIDE_WORDS = {
        "type": "type",
        "entities": "names",
        "valid_from": "beginning",
        "valid_to": "end",
        "expires_at": "expiry",
        "agent_id": "agent",
        "metadata": "metadata",
    }
    SAYS_THE_SAME = "This is known already. Both stay, and a person is asked whether they are one:"
    CLOSE_TO = "It speaks of the same thing as these. Both stay, and a person is asked whether it takes their place:"
    IS_NEW = "Nothing that is known says the same or speaks of the same thing."
    ADDED_KNOWN = "It was known already. You stand beside its other origins now."
    ADDED_ASKS = "Added. {count} to decide: it speaks of the same thing as what is known."
    SELECTED = Plural("1 fact selected", "{count} facts selected")
    CLEAR = "Clear"
    NOT_ACTIVE = "Only active facts can be ended or expire. {count} of these are outdated: leave them out."

    # --- what a prompt would get -----------------------------------------------------------------------------------------

    CONTEXT = "What a prompt would get"
    CONTEXT_ABOUT = "The block that memory.context() gives a model for a question: each line with its fact id and dates."
    CONTEXT_QUESTION = "Question"
    CONTEXT_HINT = "Where does she live?"
    CONTEXT_BUDGET = "Tokens at most"
    CONTEXT_TOKENS = "{facts} in {tokens}"
    CONTEXT_NOTHING = "No fact answers this."


texts = Facts()
