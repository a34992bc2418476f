"""Texts of the Sources page: adding, describing a source, jobs, a source and its versions.

Invariant: glossary words only; a figure computed in advance is called estimated.
"""

from __future__ import annotations

from ui.words import Plural, Words


class Sources(Words):
    # --- adding --------------------------------------------------------------------------------------------------------

    ADD_FILES, ADD_TEXT, ADD_TALK = "Files", "Pasted text", "Conversation"
    DROP = "Drop files here: text, Markdown, HTML, PDF, Word or e-mail"
    TEXT_NAME = "Name"
    TEXT_NAME_PLACEHOLDER = "meeting-notes.md"
    TEXT_BODY = "Text"
    TEXT_BODY_PLACEHOLDER = "Paste or type the text here"
    PASTED_NAME = "pasted text.txt"
    FILE_IT = "File it"
    NO_TEXT = "There is no text to file yet."
    GO_ON = "Go on"
    HOW_FILED = (
        "Each text is cut into chunks of {least} to {most} tokens, and each chunk is filed into the category tree, "
        "level by level. "
        "You can watch it happen, and cancel it until it is stored."
    )
    ASKED_FIRST = (
        "Nobody writes the contextual helper for you here (auto_source_identification is off): each text waits until "
        "you have said "
        "what it is, and nothing is stored before."
    )
    RECURS = "**{name}** is there already. What is this one?"
    NEWER = "A new version of it (now v{version}, {chunks})"
    NEWER_OF = "A new version of the one of {when} (v{version}, {chunks})"
    ANOTHER = "Another source of the same name"
    NEWER_NOTE = "The chunks of the older version leave questions and stay readable."
    SAY_FIRST = "Say above what the files are whose name is there already."
    ESTIMATED = "**Estimated:** {chunks} · about {calls} · {tokens} · {cost}"
    ESTIMATED_ABOUT = (
        "From the chunks this text is really cut into. Tokens are those of prompts and replies together; answers paid "
        "for earlier "
        "are used again and cost nothing."
    )
    ESTIMATE = "Estimate"
    ESTIMATING = "Estimating"
    CAP = "Hard cap: a run stops before it would spend more than {cap} (max_cost)."
    CAP_NOT_COUNTED = "The hard cap of {cap} (max_cost) counts nothing of this model: no price is known for it."
    CAP_UNKNOWN = "The hard cap of {cap} (max_cost) cannot be held: no price is known for this model, so it will not be asked."
    OVER_CAP = "The estimate is above the hard cap of {cap} (max_cost): it will stop before it is done."

    # --- what a source is ----------------------------------------------------------------------------------------------

    DRAFTS = "Waiting for you"
    DRAFTS_ABOUT = (
        "Say what these texts are, then they are filed. Select rows to confirm or cancel some of them, one row to edit it; "
        "with nothing selected the buttons mean all."
    )
    READY, NEEDS = "ready", "needs {fields}"
    NEEDED = {
        "date": "date",
        "author": "author",
        "topic": "topic",
        "description": "description",
        "text": "another paragraph",
    }
    CONFIRM_ALL, CONFIRM_SOME = "Confirm all", "Confirm selected ({count})"
    UNKNOWN_ALL, UNKNOWN_SOME = "Write “unknown” where empty", "Write “unknown” where empty ({count})"
    CANCEL_ALL, CANCEL_SOME = "Cancel all", "Cancel selected ({count})"
    EDIT_ONE = "Edit"
    EDIT_HELP = "Select one row to edit it."
    CONFIRMED = "{count} confirmed."
    NOT_READY = "{count} still need something: see the last column."
    SAY_WHAT = "Say what it is"
    SAYING = "What is this source?"
    SAYING_ABOUT = "This stands beside each of its chunks when they are filed or read. Write **unknown** where you do not know."
    FIELD_LABELS = {"date": "Date of creation", "author": "Author", "topic": "Topic", "description": "Short description"}
    FIELD_HINTS = {
        "date": "2024-05-17, or unknown",
        "author": "Who wrote it, or unknown",
        "topic": "What it is about, or unknown",
        "description": "A sentence or two, or unknown",
    }
    DATE_FORM = "ISO 8601: 2024, 2024-05, 2024-05-17 or 2024-05-17T09:30:00"
    TOKENS_OF = "Tokens, of {most}"
    OF_TOKENS = "{tokens} of {most} tokens"
    PREVIEW = "Preview"
    COMPOSED, EDITED = "composed", "edited by you"
    NOTHING_YET = "The paragraph appears here as soon as you have said something."
    CONFIRM = "Confirm and file"
    EDIT_TEXT, BACK_TO_COMPOSED = "Edit the paragraph", "Back to the composed one"
    DRAFT_CANCEL = "Cancel"
    DRAFT_CANCELLED = "Cancelled. Nothing of it is kept."
    BEING_READ = "The file is being read. The form appears here in a moment."
    ON_ITS_WAY = "You have said what it is, and it is on its way."

    # --- jobs ----------------------------------------------------------------------------------------------------------

    JOBS = "Jobs"
    EARLIER, OF_THEM_FAILED = "Earlier jobs", ", {failed} failed"
    WAS_THERE = "already in memory"
    CANCELLING = "Cancelling…"
    CANCEL_ALL_SAMPLES = "Cancel all"
    SAMPLES_ONE_BY_ONE = "The sample documents are filed one after another."
    READING, WRITING_HELPER = "Reading the file", "Writing the contextual helper"
    NO_JOBS = "No jobs yet. What you add appears here while it is being filed."
    CANCEL = "Cancel"
    CANCELLED = "Cancelled. Nothing was stored."
    TOO_LATE = "Too late to cancel: it is being stored at this moment."
    WAITS = "Waiting for another text to be filed first"
    WAITS_FOR_YOU = "Nothing is stored before you have said what it is."
    INTERRUPTED = "Stopped before it ended. No partial data was stored."
    RESUME, DISCARD = "Resume", "Discard"
    DISCARD_HELP = "Give it up: what was kept so that it could go on is deleted."
    RESUME_NEW = "Nothing was paid for yet: resuming begins anew."
    RESUME_KEPT = (
        "{kept} kept{of}. Resuming asks only for what is missing, and again for those whose categories have changed since."
    )
    RESUME_OF = " of about {calls}"
    LOG = "Batches and cost"
    BATCHES = "Each batch of chunks as it was asked, level by level."
    NO_BATCHES = "No batch has been classified."
    MORE_BATCHES = "The last {count} are shown."

    # --- sources -------------------------------------------------------------------------------------------------------

    ALL_SOURCES = "All sources"
    SHOW_EARLIER = "Show earlier versions"
    EARLIER_HIDDEN = Plural(
        "{count} earlier or withdrawn version is hidden.", "{count} earlier or withdrawn versions are hidden."
    )
    THIS_ONE = "v{version} (this one)"
    MORE_SOURCES = "Show more"
    NO_SOURCES = "No sources yet"
    NO_SOURCES_TEXT = "Add a file or a text above, or load the sample memory to look around first."
    SOURCES_SOON = "A source appears here as soon as it is stored."
    OPEN_SOURCE = "Select a row to open a source."
    SOURCE_STATUS = {
        "filed": "in force",
        "stored": "searched only",
        "replaced": "replaced",
        "withdrawn": "withdrawn",
        "erased": "erased",
    }
    REPLACED_NOTE = "A newer version of this source is in force; questions no longer read this one."
    WITHDRAWN_NOTE = "This source was withdrawn; questions no longer read it."
    SEARCHED_HELP = "Into so many passages of 512 characters it is cut for the search; each is found by its words and its vector."
    KNOWN_AS = "Known as **{doc_id}**. It can be searched; questions to the tree read it once it is filed."
    FILE_KNOWLEDGE = "File it in the tree"
    FILE_KNOWLEDGE_HELP = (
        "It becomes the next version of this source, with chunks in the category tree, and stays known by its name."
    )
    BEING_FILED = "It is being filed: watch it on the Sources page."
    NOT_FILED = "This text is not filed in the tree, so it has no chunks. Here it is whole."
    OPEN_NEWEST = "Open the version in force"
    CHUNKS_TITLE = "Chunks of this source"
    CHUNKS_ABOUT = "The whole text, cut where the chunks begin. Click a path to see the chunk in the tree, and why it is there."
    TAB_CHUNKS, TAB_HELPER, TAB_VERSIONS = "Chunks", "Contextual helper", "Versions"
    VERSIONS_ABOUT = "Newest first. Select a row to open a version."
    ONE_VERSION = "This is the only version. Add a file of the same name to make a newer one."

    # --- a source's helper ---------------------------------------------------------------------------------------------

    HELPER_ORIGIN = {"generated": "written by the model", "user": "written by a person"}
    HELPER = "Contextual helper"
    HELPER_ABOUT = "A short paragraph about this source that stands beside each of its chunks when they are filed or read."
    NO_HELPER = "This source has no contextual helper."
    WRITE_OWN, REGENERATE = "Write my own", "Regenerate"
    REGENERATE_ABOUT = "The model writes it anew from the name, the headings and the first chunks."
    REGENERATE_NOTE = "A person wrote the one in force. It stays in force unless you choose otherwise here."
    REGENERATE_FORCE = "Put the new one in force"
    REGENERATING = "The model is writing it anew …"
    OWN_TEXT = "What this source is"
    REASON = "Reason"
    REASON_PLACEHOLDER = "Why you change it (kept with the action)"
    SAVE, NEVER_MIND = "Put in force", "Never mind"
    HISTORY = "Its versions"
    COMPARE = "Compare"
    BEFORE_VERSION, AFTER_VERSION = "From version", "to version"
    VERSION_LINE = "Version {version} · {origin} · {tokens}"
    DIFFERENCE = "Difference, word by word"
    DIFFERENCE_KEY = ":red-badge[removed] :green-badge[added]"
    SAME_TEXT = "The two versions have the same words."
    LAST_CHANGE = "Last change: {actor} {verb}, {when}{reason}"
    UNDO = "Take it back"
    HELPER_VERBS = {
        "set_helper": "wrote a helper",
        "regenerate_helper": "regenerated the helper",
        "undo": "took a change of the helper back",
    }


texts = Sources()
