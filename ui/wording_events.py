"""Texts of what was done, in the app's own language: a sentence for each kind of event, words for each verb, and what fills them.

Invariant: every kind and verb of the engine stands here (tests/pages/test_event_words.py). Braces name a value that the engine
gives with an event of that kind; which those are, its registry says (memoir_engine/store/events).
"""

from __future__ import annotations

from ui.words import Plural, Words

DONE_TO = ("fact.retired", "fact.expires")  # kinds of the events that Events.DONE counts


class Events(Words):
    VERBS = {  # as a heading; after a person's name see wording.VERBS
        "ingest": "Added a source",
        "add_knowledge": "Added knowledge",
        "withdraw": "Withdrew a source",
        "erase": "Erased a source",
        "set_helper": "Wrote a description",
        "regenerate_helper": "Had a description rewritten",
        "refile": "Moved a chunk",
        "refile_many": "Moved chunks",
        "create": "Created a category",
        "rename": "Renamed a category",
        "move": "Moved a category",
        "merge": "Merged categories",
        "split": "Split a category",
        "retire": "Closed a category",
        "approve": "Approved a chunk",
        "reject": "Rejected a chunk",
        "skip": "Skipped a chunk",
        "decline": "Declined a suggestion for the tree",
        "sign_off": "Signed off",
        "converse": "Sent a message",
        "open_session": "Started a conversation",
        "limit_session": "Set the retention of a conversation",
        "clear_session": "Deleted a conversation",
        "remove_graph_states": "Deleted agent checkpoints",
        "choose_model": "Changed the model",
        "undo": "Undid an action",
        "close": "Finished a run",
        "remember": "Extracted facts",
        "restore_fact": "Restored a fact",
        "approve_fact": "Confirmed: newer fact replaces older one",
        "reject_fact": "Kept both facts",
        "forget_fact": "Erased a fact",
        "erase_person": "Erased a person's data",
        "confirm_fact": "Approved a fact",
        "withdraw_fact": "Rejected a fact",
        "skip_fact": "Skipped a fact",
        "correct_fact": "Corrected a fact",
        "add_fact": "Added a fact",
        "retire_fact": "Ended a fact",
        "expire_fact": "Set an expiry date",
        "store_items": "Stored an agent's memories",
        "suggest_fact": "Suggested a change to facts",
    }

    DONE = {  # by verb, after the action, which names the facts: one, and several
        "correct_fact": Plural("Corrected", "Corrected"),
        "add_fact": Plural("Added", "Added"),
        "retire_fact": Plural("Ended", "{count} facts ended"),
        "expire_fact": Plural("Expiry set", "Expiry of {count} facts set"),
        "approve_fact": Plural("The change was made", "The change was made"),
        "reject_fact": Plural("Both facts stay", "Both facts stay"),
        "restore_fact": Plural("Restored", "Restored"),
    }

    EVENTS = {  # by kind: one event, and several alike
        "": Plural("and {count} more event", "and {count} more events"),
        "source.added": Plural("{source} was stored", "{count} sources were stored"),
        "source.withdrawn": Plural("{source} left the tree with {filings}", "{count} sources left the tree"),
        "source.replaced": Plural(
            "{source} was replaced by its newer version", ("{count} sources were replaced by newer versions")
        ),
        "source.restored": Plural("{source} returned to the tree with {filings}", ("{count} sources returned to the tree")),
        "source.erased": Plural("{source} was erased for good", "{count} sources were erased for good"),
        "helper.set": Plural(
            "version {version} of the description of {source} was written", ("{count} descriptions were written")
        ),
        "helper.chosen": Plural(
            "version {version} of the description of {source} is now used", ("{count} descriptions were changed")
        ),
        "chunks.added": Plural("{source} was split into {chunks}", "{count} sources were split into chunks"),
        "category.created": Plural("{category} was created", "{count} categories were created"),
        "category.closed": Plural("{category} was closed", "{count} categories were closed"),
        "category.reopened": Plural("{category} was reopened", "{count} categories were reopened"),
        "category.renamed": Plural("a category was renamed", "{count} categories were renamed"),
        "category.moved": Plural("a category was moved", "{count} categories were moved"),
        "category.merged": Plural("a category was merged into another", "{count} categories were merged into others"),
        "category.restored": Plural("{category} was restored", "{count} categories were restored"),
        "chunk.filed": Plural("{chunk} was filed", "{count} chunks were filed"),
        "chunk.refiled": Plural("{chunk} was moved", "{count} chunks were moved"),
        "filing.reviewed": Plural("{chunk} was reviewed", "{count} chunks were reviewed"),
        "chunk.rejected": Plural("{chunk} was removed from its category", ("{count} chunks were removed from their categories")),
        "chunk.returned": Plural("{chunk} was filed again", "{count} chunks were filed again"),
        "proposal.reviewed": Plural("a suggestion for the tree was reviewed", ("{count} suggestions for the tree were reviewed")),
        "sign_off.made": Plural("{subject} was signed", "{count} signatures were given"),
        "sign_off.withdrawn": Plural("the signature on {subject} was withdrawn", ("{count} signatures were withdrawn")),
        "sign_off.restored": Plural("the signature on {subject} is valid again", ("{count} signatures are valid again")),
        "session.opened": Plural("a conversation was started", "{count} conversations were started"),
        "session.said": Plural("{messages} were added", "{count} turns of a conversation were added"),
        "session.trimmed": Plural(
            "the oldest messages were removed by the limit", ("the oldest messages were removed by the limit, {count} times")
        ),
        "session.limited": Plural("the retention of a conversation was set", ("the retention of {count} conversations was set")),
        "session.cleared": Plural("a conversation was deleted", "{count} conversations were deleted"),
        "person.erased": Plural("a person's data was erased for good", "the data of {count} people was erased for good"),
        "checkpoints.removed": Plural("agent checkpoints were deleted", "agent checkpoints were deleted {count} times"),
        "fact.recorded": Plural("a fact was added", "{count} facts were added"),
        "fact.outdated": Plural("a fact became outdated", "{count} facts became outdated"),
        "fact.corrected": Plural("a fact was corrected", "{count} facts were corrected"),
        "fact.retired": Plural("a fact ended", "{count} facts ended"),
        "fact.expires": Plural("the expiry of a fact was set", "the expiry of {count} facts was set"),
        "fact.restored": Plural("a fact is active again", "{count} facts are active again"),
        "fact.withdrawn": Plural("a fact was removed by an undo", "{count} facts were removed by an undo"),
        "fact.returned": Plural("a fact was restored by an undo", "{count} facts were restored by an undo"),
        "fact.forgotten": Plural("a fact was erased for good", "{count} facts were erased for good"),
        "fact.seen": Plural("a known fact was mentioned again", "{count} known facts were mentioned again"),
        "fact.unseen": Plural("a mention of a fact was undone", "mentions of {count} facts were undone"),
        "fact.seen_again": Plural("a mention of a fact counts again", "mentions of {count} facts count again"),
        "cuts.recorded": Plural("a conversation was read in {parts}", "{count} conversations were read"),
        "cuts.withdrawn": Plural("a conversation counts as not read", "{count} conversations count as not read"),
        "cuts.returned": Plural("a conversation counts as read again", ("{count} conversations count as read again")),
        "conversation.seen_again": Plural("a known conversation came again", ("{count} known conversations came again")),
        "fact.proposed": Plural("a question about facts needs a decision", ("{count} questions about facts need a decision")),
        "fact.settled": Plural("a question about facts was answered", "{count} questions about facts were answered"),
        "fact.unproposed": Plural("a question about facts was removed", ("{count} questions about facts were removed")),
        "fact.reviewed": Plural("a fact was reviewed", "{count} facts were reviewed"),
        "fact.related": Plural("two facts were linked", "{count} pairs of facts were linked"),
        "fact.unrelated": Plural("two facts are no longer linked", "{count} pairs of facts are no longer linked"),
        "fact.related_again": Plural("two facts were linked again", "{count} pairs of facts were linked again"),
        "model.chosen": Plural("the model was changed to {model}", "{count} times the model was changed"),
        "run.closed": Plural("the run ended: {status}", "{count} runs ended"),
    }

    NAMED = {  # by kind: of one fact that has a name, with a fact before and one after, or with only one of them
        "fact.recorded": ("", "“{fact}” was added"),
        "fact.outdated": ("“{before}” was replaced by “{after}”", "“{fact}” became outdated"),
        "fact.corrected": ("“{before}” was corrected to “{after}”", "“{fact}” was corrected"),
        "fact.retired": ("", "“{fact}” ended"),
        "fact.expires": ("", "the expiry of “{fact}” was set"),
        "fact.restored": ("", "“{fact}” is active again"),
        "fact.withdrawn": ("", "“{fact}” was removed by an undo"),
        "fact.returned": ("", "“{fact}” was restored by an undo"),
        "fact.seen": ("", "“{fact}” was mentioned again"),
        "fact.unseen": ("", "a mention of “{fact}” was undone"),
        "fact.seen_again": ("", "a mention of “{fact}” counts again"),
        "fact.proposed": ("needs a decision: “{before}” or “{after}”", "needs a decision: “{fact}”"),
        "fact.settled": ("decided: “{before}” or “{after}”", "decided: “{fact}”"),
        "fact.reviewed": ("", "“{fact}” was reviewed"),
        "fact.related": ("“{before}” and “{after}” were linked", "“{fact}” was linked to another fact"),
        "fact.unrelated": ("“{before}” and “{after}” are no longer linked", "“{fact}” is no longer linked to another fact"),
        "fact.related_again": ("“{before}” and “{after}” were linked again", "“{fact}” was linked to another fact again"),
    }
    SHOWING, TURNED, NOWHERE = "{done}: {ends}", "{before} → {after}", "–"
    SHORT = {"approve_fact": "Confirmed", "reject_fact": "Kept both"}  # verbs before a sentence that names the facts

    MOMENTS = {  # what was done to the tree: an edit by its verb, everything else by the kind of its first event
        "create": "{name} created",
        "rename": "{category} renamed to {name}",
        "move": "{category} moved to {other}",
        "merge": "{category} merged into {other}",
        "split": "{name} split off from {category}",
        "retire": "{category} closed",
        "refile_many": "chunks moved to {other}",
        "source.added": "{source} added with {chunks}",
        "source.withdrawn": "{source} withdrawn",
        "source.replaced": "{source} replaced by a newer version",
        "source.restored": "{source} added again",
        "source.erased": "{source} erased",
        "category.created": "category created",
        "category.closed": "category closed",
        "category.reopened": "category reopened",
        "category.renamed": "category renamed",
        "category.moved": "category moved",
        "category.merged": "category merged",
        "category.restored": "category restored",
        "chunk.filed": "a chunk added to {category}",
        "chunk.refiled": "a chunk moved from {was} to {category}",
        "chunk.rejected": "a chunk removed from {category}",
        "chunk.returned": "a chunk added again to {category}",
    }
    TAKEN_BACK = "undone: {done}"

    MADE, OPENED_AGAIN, STANDS_AGAIN = "created", "reopened", "separate again"
    MERGED = "merged into {path}"
    RENAMED, MOVED, AND = "renamed from {before} to {after}", "moved from {before} to {after}", " and "
    FILED, FILED_AGAIN, MOVED_HERE = "filed", "filed again", "moved from {path}"

    CHUNK, CHUNK_OF_NOTHING = "chunk {position} of {source}", "chunk {number}"
    COUNTED = {
        "parts": Plural("{count} part", "{count} parts"),
        "messages": Plural("{count} message", "{count} messages"),
        "chunks": Plural("{count} chunk", "{count} chunks"),
        "filings": Plural("{count} chunk", "{count} chunks"),
    }
    NO_CATEGORY = "a category"
    UNKNOWN = {  # where the engine has no name
        "model": "the one in the settings",
        "source": "a source",
        "subject": "a source",
        "name": "a category",
        "chunks": "chunks",
        "category": "the top of the tree",
        "other": "the top of the tree",
        "was": "the top of the tree",
    }
    OTHERWISE_UNKNOWN = "…"
    VERSION = "version {number}"
    VERDICTS = {"approved": "approved", "refiled": "moved", "rejected": "rejected", "skipped": "skipped"}


texts = Events()
