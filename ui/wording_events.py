"""Texts of what was done, in the app's own language: a sentence for each kind of event, words for each verb, and what fills them.

Invariant: every kind and verb of the engine stands here (tests/pages/test_event_words.py). Braces name a value that the engine
gives with an event of that kind; which those are, its registry says (memoir_engine/store/events).
"""

from __future__ import annotations

from ui.words import Plural, Words

DONE_TO = ("fact.retired", "fact.expires")  # kinds of the events that Events.DONE counts


class Events(Words):
    VERBS = {  # as a heading; after a person's name see wording.VERBS
        "ingest": "Ingested",
        "add_knowledge": "Added knowledge",
        "withdraw": "Withdrew a source",
        "erase": "Erased a source",
        "set_helper": "Wrote a contextual helper",
        "regenerate_helper": "Had a contextual helper drawn anew",
        "refile": "Re-filed a chunk",
        "refile_many": "Re-filed chunks",
        "create": "Made a category",
        "rename": "Renamed a category",
        "move": "Moved a category",
        "merge": "Merged categories",
        "split": "Split a category",
        "retire": "Retired a category",
        "approve": "Approved a filing",
        "reject": "Rejected a filing",
        "skip": "Skipped a filing",
        "decline": "Declined a proposal for the tree",
        "sign_off": "Signed off",
        "converse": "Said something",
        "open_session": "Opened a conversation",
        "limit_session": "Set how much of a conversation is kept",
        "clear_session": "Cleared a conversation",
        "remove_graph_states": "Removed states of graphs",
        "undo": "Undid an action",
        "close": "Ended a run",
        "remember": "Remembered a conversation",
        "restore_fact": "Brought a fact back into force",
        "approve_fact": "Agreed that a fact gave way",
        "reject_fact": "Refused that a fact gives way",
        "forget_fact": "Forgot a fact",
        "erase_person": "Erased the data of a person",
        "confirm_fact": "Approved a fact",
        "withdraw_fact": "Rejected a fact",
        "skip_fact": "Skipped a fact",
        "correct_fact": "Set a fact right",
        "add_fact": "Added a fact",
        "retire_fact": "Ended a fact",
        "expire_fact": "Set when a fact expires",
        "store_items": "Stored items of a graph",
        "suggest_fact": "Suggested a change of facts",
    }

    DONE = {  # by verb, after the action, which names the facts: one, and several
        "correct_fact": Plural("Corrected", "Corrected"),
        "add_fact": Plural("Added", "Added"),
        "retire_fact": Plural("Ended", "{count} facts ended"),
        "expire_fact": Plural("Expiry set", "Expiry of {count} facts set"),
        "approve_fact": Plural("Decided: the change was made", "Decided: the change was made"),
        "reject_fact": Plural("Decided: both stay as they are", "Decided: both stay as they are"),
        "restore_fact": Plural("Brought back", "Brought back"),
    }

    EVENTS = {  # by kind: one event, and several alike
        "": Plural("and {count} more event", "and {count} more events"),
        "source.added": Plural("{source} is stored", "{count} sources are stored"),
        "source.withdrawn": Plural("{source} leaves the tree with {filings}", "{count} sources leave the tree"),
        "source.replaced": Plural("{source} gives way to its newer version", "{count} sources give way to newer versions"),
        "source.restored": Plural("{source} returns to the tree with {filings}", "{count} sources return to the tree"),
        "source.erased": Plural("{source} is erased for good", "{count} sources are erased for good"),
        "helper.set": Plural("version {version} of the helper of {source} is written", "{count} helpers are written"),
        "helper.chosen": Plural("version {version} of the helper of {source} is in force", "{count} helpers change"),
        "chunks.added": Plural("{source} is cut into {chunks}", "{count} sources are cut into chunks"),
        "category.created": Plural("{category} is made", "{count} categories are made"),
        "category.closed": Plural("{category} closes", "{count} categories close"),
        "category.reopened": Plural("{category} opens again", "{count} categories open again"),
        "category.renamed": Plural("a category gets another name", "{count} categories get other names"),
        "category.moved": Plural("a category moves", "{count} categories move"),
        "category.merged": Plural("a category becomes one with another", "{count} categories become one with others"),
        "category.restored": Plural("{category} is what it was before", "{count} categories are what they were before"),
        "chunk.filed": Plural("{chunk} is filed", "{count} chunks are filed"),
        "chunk.refiled": Plural("{chunk} is filed anew", "{count} chunks are filed anew"),
        "filing.reviewed": Plural("the filing of {chunk} is reviewed", "{count} filings are reviewed"),
        "chunk.rejected": Plural("{chunk} is taken out of its place", "{count} chunks are taken out of their places"),
        "chunk.returned": Plural("{chunk} is filed again", "{count} chunks are filed again"),
        "proposal.reviewed": Plural("a proposal for the tree is reviewed", "{count} proposals for the tree are reviewed"),
        "sign_off.made": Plural("{subject} is signed", "{count} signatures are given"),
        "sign_off.withdrawn": Plural("the signature under {subject} is withdrawn", "{count} signatures are withdrawn"),
        "sign_off.restored": Plural("the signature under {subject} stands again", "{count} signatures stand again"),
        "session.opened": Plural("a conversation is opened", "{count} conversations are opened"),
        "session.said": Plural("a turn of {messages}", "{count} turns of a conversation"),
        "session.trimmed": Plural("the oldest messages give way to the limit", "{count} times the oldest messages give way"),
        "session.limited": Plural("what is kept of a conversation is set", "{count} conversations get another limit"),
        "session.cleared": Plural("a conversation is cleared", "{count} conversations are cleared"),
        "person.erased": Plural(
            "the data of a person is erased for good", "{count} people are erased with all that was kept of them"
        ),
        "checkpoints.removed": Plural("states of graphs are removed", "{count} times states of graphs are removed"),
        "fact.recorded": Plural("a fact was recorded", "{count} facts were recorded"),
        "fact.outdated": Plural("a fact is outdated", "{count} facts are outdated"),
        "fact.corrected": Plural("a fact was corrected", "{count} facts were corrected"),
        "fact.retired": Plural("a fact has ended", "{count} facts have ended"),
        "fact.expires": Plural("the expiry of a fact was set", "the expiry of {count} facts was set"),
        "fact.restored": Plural("a fact is active again", "{count} facts are active again"),
        "fact.withdrawn": Plural("a fact was taken back", "{count} facts were taken back"),
        "fact.returned": Plural("a fact is back", "{count} facts are back"),
        "fact.forgotten": Plural("a fact is forgotten for good", "{count} facts are forgotten for good"),
        "fact.seen": Plural("a known fact was said again", "{count} known facts were said again"),
        "fact.unseen": Plural("that a fact was said again is taken back", "{count} facts count as not said again"),
        "fact.seen_again": Plural("that a fact was said again holds again", "{count} facts count as said again"),
        "cuts.recorded": Plural("a conversation is cut into {parts}", "{count} conversations are cut"),
        "cuts.withdrawn": Plural("a conversation counts as not remembered", "{count} conversations count as not remembered"),
        "cuts.returned": Plural("a conversation counts as remembered again", "{count} conversations count as remembered again"),
        "conversation.seen_again": Plural("a remembered conversation came again", "{count} remembered conversations came again"),
        "fact.proposed": Plural("a question about facts waits for a person", "{count} questions about facts wait for a person"),
        "fact.settled": Plural("a question about facts was decided", "{count} questions about facts were decided"),
        "fact.unproposed": Plural("a question about a fact is taken back", "{count} questions about facts are taken back"),
        "fact.reviewed": Plural("a fact is reviewed", "{count} facts are reviewed"),
        "fact.related": Plural("two facts have to do with one another", "{count} pairs of facts are related"),
        "fact.unrelated": Plural("two facts are no longer related", "{count} pairs of facts are no longer related"),
        "fact.related_again": Plural("two facts are related again", "{count} pairs of facts are related again"),
        "run.closed": Plural("the run ends: {status}", "{count} runs end"),
    }

    MOMENTS = {  # what was done to the tree: an edit by its verb, everything else by the kind of its first event
        "create": "{name} made",
        "rename": "{category} renamed to {name}",
        "move": "{category} moved below {other}",
        "merge": "{category} merged into {other}",
        "split": "{name} split off {category}",
        "retire": "{category} retired",
        "refile_many": "chunks filed in {other}",
        "source.added": "{source} filed in {chunks}",
        "source.withdrawn": "{source} withdrawn",
        "source.replaced": "{source} replaced by a newer version",
        "source.restored": "{source} filed again",
        "source.erased": "{source} erased",
        "category.created": "category created",
        "category.closed": "category closed",
        "category.reopened": "category reopened",
        "category.renamed": "category renamed",
        "category.moved": "category moved",
        "category.merged": "category merged",
        "category.restored": "category restored",
        "chunk.filed": "a chunk filed in {category}",
        "chunk.refiled": "a chunk moved from {was} to {category}",
        "chunk.rejected": "a chunk taken out of {category}",
        "chunk.returned": "a chunk filed again in {category}",
    }
    TAKEN_BACK = "taken back: {done}"

    MADE, OPENED_AGAIN, STANDS_AGAIN = "made", "opened again", "stands by itself again"
    MERGED = "became one with {path}"
    RENAMED, MOVED, AND = "renamed from {before} to {after}", "moved from {before} to {after}", " and "
    FILED, FILED_AGAIN, MOVED_HERE = "filed", "filed again", "moved from {path}"

    CHUNK, CHUNK_OF_NOTHING = "chunk {position} of {source}", "chunk {number}"
    COUNTED = {
        "parts": Plural("{count} part", "{count} parts"),
        "messages": Plural("{count} message", "{count} messages"),
        "chunks": Plural("{count} chunk", "{count} chunks"),
        "filings": Plural("{count} filing", "{count} filings"),
    }
    NO_CATEGORY = "a category"
    UNKNOWN = {  # where the engine has no name
        "source": "a source",
        "subject": "a source",
        "name": "a category",
        "chunks": "chunks",
        "category": "the root",
        "other": "the root",
        "was": "the root",
    }
    OTHERWISE_UNKNOWN = "…"
    VERSION = "version {number}"
    VERDICTS = {"approved": "approved", "refiled": "refiled", "rejected": "rejected", "skipped": "skipped"}


texts = Events()
