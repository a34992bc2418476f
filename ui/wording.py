"""Texts shared by the app's pages, in plain language.

Invariant: glossary words only; the second opinion is the engine's own similarity and is never called confidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from ui.words import Plural, Words

NOT_CHOSEN, PART = "not chosen", "part"  # reasons of the engine


class Shared(Words):
    # --- everywhere ----------------------------------------------------------------------------------------------------

    OFFLINE = (
        ":small[:material/cloud_off: **The built-in offline model answers.** "
        ":gray[Word statistics only: no key, no cost, nothing leaves this machine.]]"
    )
    OTHER_MODEL = "Use a language model"
    PAGES = {
        "overview": "Overview",
        "sources": "Sources",
        "conversations": "Conversations",
        "review": "Review",
        "tree": "Category tree",
        "ask": "Ask",
        "search": "Search",
        "facts": "Facts",
        "cuts": "Cuts",
        "people": "People",
        "activity": "Activity",
        "settings": "Settings",
    }
    GROUPS = {"build": "Build", "explore": "Explore", "admin": "Admin"}
    CHAIN_LENGTH = Plural("{count} audit event", "{count} audit events")
    CODE = "Code {code}"
    PAGE_HELP = {
        "overview": "What the memory holds, what needs attention and what was done last.",
        "sources": "Add files or text, watch them being filed, and see what became of each chunk.",
        "conversations": "Read what was said, bring conversations in, take them along, and set what is kept of them.",
        "review": "Go through what was filed, the riskiest first: approve, re-file, reject, and take back.",
        "tree": "Walk the categories, read what is filed under each, and see why it is there.",
        "ask": "Ask the memory a question and see the way the answer was found.",
        "search": "Find passages by their words and by their vectors, and open each where it stands.",
        "cuts": "See where a long conversation would be cut before facts are drawn from it, by each strategy.",
        "facts": "What is remembered of people, since when, from which sentence, and what was believed before.",
        "people": "Whose data is kept, all of it on one page or in one file, and its erasure.",
        "activity": "Who did what, when and why; take it back, and check that the record was not touched.",
        "settings": "What is in force and where it came from, a test call, and the check of the audit chain.",
    }
    METRIC_HELP = {
        "COST": "What the providers charge by their price lists; unknown where a model has no known price. Offline is free.",
        "LATENCY": "Waiting for the model and reading chunks, added up. "
        "The clock on the wall shows less where calls overlap, more where the engine itself was at work in between.",
        "PASSAGES": (
            "Pieces of 512 characters into which the text is cut for the search; each is found by its words and its vector."
        ),
        "OFFERED": "Categories the model could choose from, over all levels.",
        "SELECTED": "Categories that were followed, over all levels.",
        "DROPPED": "Paths that were open but not followed to the answer.",
    }
    UNEXPECTED = "Something went wrong on this page"
    UNEXPECTED_REMEDY = "Nothing was changed by looking at it. Reload the page; if it stays so, the log of the app says why."
    OPEN = "Open"
    COPY_LINK = "Copy link"
    COPIED = "Copied"
    ROOT = "Memory"
    LOAD_SAMPLES = "Load the sample memory"
    ADD_OWN = "Add a source of your own"
    SAMPLES_HELP = "A few short documents, so that there is a tree to look at. They are filed like any other text."
    STATUS = {
        "queued": "queued",
        "running": "running",
        "waiting_helper": "waiting for you",
        "done": "done",
        "failed": "failed",
        "cancelled": "cancelled",
        "interrupted": "interrupted",
        "answered": "answered",
        "unanswered": "no answer found",
    }

    # --- overview ------------------------------------------------------------------------------------------------------

    OVERVIEW_TITLE = "Memory overview"
    HEAD = "Audit head {events}"
    UNDONE = "taken back"
    OVERVIEW_EMPTY = "Nothing is remembered yet"
    OVERVIEW_EMPTY_TEXT = "Add a document and watch it being filed, or load the sample memory to look around first."
    ABOUT = "What it is about"
    ABOUT_HELP = "The first two levels of the tree; the larger, the more chunks. Click a category to open it."
    ATTENTION = "Needs attention"
    ALL_WELL = ":green[:material/check_circle:] Nothing is waiting for you."
    INTERRUPTED_NOTE = (
        "Stopped before it ended. No partial data was stored. "
        "Resume a text on the Sources page: answers already paid for are used again. Ask a question again."
    )
    DRAFTS_WAIT = Plural("{count} text waits until you say what it is.", "{count} texts wait until you say what they are.")
    ACTIVITY = "Recent activity"
    NO_ACTIVITY = "Nothing has been done yet."
    ASK_PLACEHOLDER = "Ask the memory a question"
    VERBS = {
        "ingest": "filed",
        "ingest_text": "filed a text",
        "ingest_file": "filed a file",
        "add_knowledge": "added knowledge",
        "create_summary": "had a summary written",
        "embed": "had passages embedded",
        "reindex": "rebuilt the search indexes",
        "query": "asked a question",
        "refile": "moved a chunk",
        "approve": "approved a filing",
        "reject": "rejected a filing",
        "skip": "skipped a filing",
        "undo": "took an action back",
        "load_samples": "loaded the sample memory",
        "set_helper": "wrote a contextual helper",
        "regenerate_helper": "regenerated a contextual helper",
        "withdraw": "withdrew a source",
        "erase": "erased a source",
        "refile_many": "moved chunks",
        "create": "made a category",
        "rename": "renamed a category",
        "move": "moved a category",
        "merge": "merged categories",
        "split": "split a category",
        "propose_split": "proposed a split",
        "retire": "retired a category",
        "tidy": "had the tree looked over",
        "decline": "declined a proposal for the tree",
        "sign_off": "signed off",
        "close": "ended a run",
        "converse": "said something",
        "open_session": "opened a conversation",
        "limit_session": "limited a conversation",
        "clear_session": "cleared a conversation",
        "remove_graph_states": "deleted agent checkpoints",
        "remember": "extracted facts",
        "approve_fact": "approved a change of facts",
        "reject_fact": "rejected a change of facts",
        "restore_fact": "brought a fact back",
        "forget_fact": "had a fact forgotten",
        "erase_person": "erased the data of a person",
        "confirm_fact": "approved a fact",
        "withdraw_fact": "rejected a fact",
        "skip_fact": "skipped a fact",
        "correct_fact": "corrected a fact",
        "add_fact": "added a fact",
        "retire_fact": "ended facts",
        "expire_fact": "set when facts expire",
        "store_items": "stored memories of an agent",
        "suggest_fact": "suggested a change of facts",
    }

    # --- tree ----------------------------------------------------------------------------------------------------------

    TREE_EMPTY = "There is no tree yet"
    TREE_EMPTY_TEXT = "Categories appear when the first text is filed. Add one on the Sources page, or load the sample memory."
    TREE_WORDS = {
        "find": "Filter categories",
        "shown": "shown",
        "nothing": "No category has this in its name.",
        "empty": "No categories yet.",
        "level": "level",
    }
    TREE_HINT = "Choose a category to see what is in it."
    INSIDE = "Categories inside"
    FILED_HERE = "Chunks filed here"
    LEAF_EMPTY = "No chunk is filed here now."
    OPEN_CHUNK = "Select a row to read the chunk in its source and to see why it is here."
    NEXT_PAGE, FIRST_PAGE = "Next page", "First page"
    IN_SOURCE = "In its source"
    WHY_HERE = "Why it is here"
    WHY_ABOUT = (
        "One card per level: what was chosen, and what was offered beside it. The bars are the **second opinion**: "
        "how near the engine's own word statistics put this text to each category. "
        "It is not the model's, and it says nothing about how sure the model was."
    )
    PROMPT_OF = "Prompt of level {level}"
    NO_DECISIONS = "No decision is on record for this chunk."
    BEFORE, AFTER = "Before", "After"
    BACK_TO = "Back to the category"

    # --- choices -------------------------------------------------------------------------------------------------------

    LEAF = "leaf"
    LEVEL_OF = "{level} of {depth}"
    CHUNK_OF = "{chunk} of {source}"
    RUN = "run {run}"
    CITATION = "citation {number}"
    ESTIMATED = "{tokens} (estimated)"
    ATTEMPT = "attempt {number}"
    ENDED = {"ok": "ok", "reused": "reused"}
    LEVEL, LEVELS = "Level {level}", "Levels {first}–{last}"
    FORCED = "one option, no call"
    SKIPPED = "{levels} levels, one choice each"
    EVIDENCE = "Evidence"
    SEE_CALL = "See the prompt and the reply of this call"
    CHOICE_WORDS = {
        "opinion": "Second opinion (the engine's own similarity):",
        "unknown": "No second opinion was computed.",
        "chosen": "Chosen, rank",
        "passed": "Offered, not chosen",
        "more": "more offered, not chosen",
        "less": "show fewer",
        "fresh": "new",
    }
    _DROPPED = {
        NOT_CHOSEN: "Path dropped: nothing below it was chosen",
        "budget": "Dropped to keep the token budget",
        PART: "Some of its chunks were left out to keep the token budget",
        "empty": "No chunk is filed here",
        "gone": "The category is no longer there",
    }
    _DECIDED = {
        "limit": "The level was full, so an existing category had to be chosen.",
        "reviewer": "Decided by a person.",
        "net": "Added from the safety net.",
        "opinion": "The model was not understood, so the engine's second opinion was followed.",
    }
    TAUGHT = "The model was shown what people had placed: chunk ids {ids}."

    def dropped(self, reason: str) -> str:
        return self._DROPPED.get(reason, reason)

    def decided_by(self, who: str, note: str | None, taught: Sequence[int] = ()) -> str:
        """Describe who decided. taught: ids of human-placed chunks that the model was shown as examples."""
        said = note or self._DECIDED.get(who, "")
        shown = self.TAUGHT.format(ids=", ".join(map(str, taught))) if taught else ""
        return f"{said} {shown}".strip()

    def evidence(self, read: int, cited: int) -> str:
        if not read:
            return "no chunk read"
        chunks = "chunk" if read == 1 else "chunks"
        return f"{cited} of {read} {chunks} cited" if cited else f"{read} {chunks} read, none cited"

    # --- ask -----------------------------------------------------------------------------------------------------------

    QUESTION = "Question"
    QUESTION_PLACEHOLDER = "What would you like to know?"
    NO_QUESTION = "Write a question first. Nothing was asked."
    ASK = "Ask"
    ASK_AGAIN = "New question"
    SAME_AGAIN = "Ask again"
    TAKE_ALONG, REPORT = "Take along", "Audit report"
    EXPORT, EXPORT_JSON = "For programs", "Answer and calls (JSON)"
    EXPORT_ABOUT = "The answer with its evidence, every decision, and every call to the model."
    ANSWER = "Answer"
    NO_ANSWER = "No answer found in memory"
    NEXT = "What you can do next"
    LOOK_WIDER = "Look wider"
    LOOK_WIDER_HELP = "Ask again with the strategy '{strategy}', which follows more categories and costs more."
    READ_NET = "Read what the safety net caught"
    READ_NET_HELP = "Ask again; this time the chunks that share the question's words are read, too, wherever they are filed."
    SEARCH_WORDS = "Search for it"
    STRATEGY = "Strategy"
    NOT_A_QUESTION = "This run is no question. Runs that file a source are on the Sources page."
    NOT_ENDED = "This question stopped before it was answered. Ask it again."
    TOO_LATE_TO_STOP = "Too late to stop: it has just ended."
    NEXT_STEP = "Next step"
    STOP = "Stop"
    STRATEGIES = {
        "one_shot": (
            "One path",
            "Follow the single best category at each level. Cheapest; misses an answer that is spread over two branches.",
        ),
        "wide_branch": ("A few paths", "Follow the best N categories at every level. A good start for most questions."),
        "zoom_in": (
            "Zoom in",
            "Begin with N categories and follow N2 fewer at each level. For questions whose topic is unclear at first.",
        ),
        "branch_out": (
            "Branch out",
            "Begin with N categories and follow N2 more at each deeper level. For one topic with many sides.",
        ),
    }
    N_LABEL, N2_LABEL = "N, categories per level", "N2, change per level"
    SCOPES = {"level": "N over a level", "path": "N for each path"}
    WIDTH_SCOPE = {
        "level": "N counts the categories of a level over all open paths together (width_scope = level).",
        "path": "N counts the categories of a level for each open path (width_scope = path).",
    }
    ADVANCED = "More settings"
    LIMITING = "When the chunks do not fit the token budget"
    LIMITINGS = {
        "PRUNE": "PRUNE: leave some out",
        "SUMMARIZE": "SUMMARIZE: shorten every chunk (more calls)",
    }
    BUDGET = "Token budget"
    BUDGET_HELP = "Tokens the final prompt may have (max_token_budget). Lower it to see pruning or summarising at work."
    PRUNE_BY = "Left out first"
    PRUNE_BY_HELP = (
        "Where not all that was read fits into the budget. To leave out single chunks keeps more of what answers a "
        "question than to "
        "leave out whole paths, by the measurements in docs/benchmarks.md."
    )
    PRUNED_BY = {"path": "paths left out first", "chunk": "chunks left out first"}
    PRUNE_BYS = {"path": "Whole paths, the lowest ranked", "chunk": "The chunks least like the question"}
    PER_PATH = "From each leaf"
    PER_PATHS = {"auto": "As many as fit, the nearest first", "all": "All its chunks"}
    BUDGET_OF = "budget {tokens}"
    NET = "Safety net"
    NET_HELP = "Beside the tree, look for the question's words in all chunks. What the tree missed is shown apart."
    NET_IN_PROMPT = "Use what it catches for the answer"
    NET_IN_PROMPT_HELP = "The chunks that the safety net caught are read behind those of the paths, and marked in the answer."
    NET_READ = "safety net read"
    NET_ON, NET_OFF = "safety net on", "safety net off"
    QUESTION_CANCELLED = "This question was stopped. What was asked until then is kept below."
    STOPPING = "Stopping…"
    ASK_EMPTY = "There is nothing to ask yet"
    ASK_EMPTY_TEXT = "Answers are found in what was filed. Add a text on the Sources page, or load the sample memory."
    RECENT, RECENT_ABOUT = "Asked before", "Select a row to see the answer and its path again."
    CITATIONS = "Click a number to open the words it stands on."
    NO_CITATIONS = "The answer cites no chunk."
    OPEN_CITATION = "Open the evidence: {path}"
    OPEN_CAUGHT = "Open the evidence, caught by the safety net: {path}"
    CAUGHT = "caught by the safety net"
    PATH_TITLE = "Decision path"
    PATH_ABOUT = (
        ":gray[Discs are the order in which the model chose. "
        "Bars are the **second opinion**, the engine's own similarity of the question to each category: "
        "not the model's, and not a measure of how sure it was.]"
    )
    NO_PATH = "No category was chosen yet."
    TAB_CALLS, TAB_READ, TAB_DROPPED, TAB_NET = "Calls", "Chunks read", "Dropped paths", "Safety net"
    TAB_SUMMARIES, TAB_SETTINGS = "Summaries", "How it was asked"
    SUMMARIES_ABOUT = (
        "The chunks did not fit, so each was shortened in proportion: a chunk of n characters may keep n × {ratio} of them, "
        "and no path was dropped. Click a row, or turn the pages below, to read a summary beside its chunk."
    )
    NO_SUMMARIES = "Everything fitted into the budget, so nothing was summarised."
    NOT_SUMMARISING = "This question was not asked with SUMMARIZE."
    SUMMARY_NUMBERS = ("Compression ratio", "Characters before", "Target", "Characters after")
    SUMMARY, ITS_CHUNK = "Summary", "Its chunk"
    DETERMINISTIC = ("deterministic", "Temperature 0 was sent and taken in every call.")
    NOT_DETERMINISTIC = (
        "not deterministic",
        "Temperature 0 was not in force in every call: the same question may get another answer.",
    )
    ASKED_WITH = "What was asked for"
    SENT_WITH = "What was recorded with the calls"
    AS_CONFIGURED = "{value} (as configured now)"
    CALLS_ABOUT = "Every request to the model, in order. Select a row to see the prompt and the reply as they went over the wire."
    NO_CALLS = "No request was needed."
    NO_DROPPED = "Every path that was opened was followed to the end."
    NET_ABOUT = "Chunks that share words with the question but lie outside the paths. They were not in the prompt."
    NET_WAS_READ = (
        "Chunks that share words with the question but lie outside the paths. {read} of {caught} were read for the answer."
    )
    NET_EMPTY = "The net caught nothing that the tree had missed."
    LEFT_OUT = "{chunks} more in the chosen categories were left out by the limit per path."
    STEPS = {
        "LevelSelected": "Level {level}: {offered} offered, {selected} chosen",
        "ChunksRetrieved": "{chunks} chunks read from {paths} paths",
        "PathDropped": "A path was dropped: {reason}",
        "NetCaught": "The safety net caught {chunks}",
        "AnswerReady": "Answer written",
    }
    WAITING_FIRST = "Waiting for the first level"
    PROMPT_TITLE, REPLY_TITLE = "The body as it went over the wire", "Reply"
    ROLES = {"system": "Instructions", "developer": "Instructions", "user": "Prompt", "assistant": "Earlier reply", "": "Prompt"}
    NO_TEXT = "The text was erased."
    CALL_TITLE = "Call"
    EVIDENCE_TITLE = "Evidence"
    CATEGORY_TITLE = "Category"
    IN_TREE, IN_SOURCES = "Open in the tree", "Open the source"


texts = Shared()
