"""Texts of manual tree edits: the edits, their effects and outcomes."""

from __future__ import annotations

from ui.words import Words


class Edit(Words):
    EDIT = "Edit"
    EDIT_ABOUT = "You see what a change would do before it is done; every change can be taken back."
    VERBS = {
        "create": "New category",
        "rename": "Rename",
        "move": "Move",
        "merge": "Merge",
        "split": "Split",
        "refile_many": "Re-file chunks",
        "retire": "Retire",
    }
    ICONS = {
        "create": ":material/create_new_folder:",
        "rename": ":material/edit:",
        "move": ":material/drive_file_move:",
        "merge": ":material/merge:",
        "split": ":material/call_split:",
        "refile_many": ":material/move_item:",
        "retire": ":material/folder_off:",
    }
    ABOUT = {
        "create": "An empty category below {name}. Ingestions and people can file in it from then on.",
        "rename": "It keeps its place and all that is in it.",
        "move": "Below another category of the level above; all that it holds goes with it.",
        "merge": "All that it holds goes to another category of its level; what has one name below the two becomes one.",
        "split": "What you choose goes to a new category beside it.",
        "refile_many": "The chunks you choose go to another leaf, as reviewed by you.",
        "retire": "It closes. Only an empty category can be retired.",
    }
    DO = {
        "create": "Make the category",
        "rename": "Rename",
        "move": "Move it",
        "merge": "Merge them",
        "split": "Split",
        "refile_many": "Re-file",
        "retire": "Retire it",
    }
    TOP = "the top of the tree"
    NAME = "Name"
    NAME_FORM = "One to four words"
    NEW_NAME = "Name of the new category"
    FIND = "Search the paths"
    FIND_FORM = "Words of a path, or their beginnings"
    TO = {"move": "Below", "merge": "Into", "refile_many": "To the leaf"}
    CHOOSE = "Choose a category"
    NOTHING_FITS = "No category fits these words."
    NO_PLACE = {
        "move": "There is no other category one level up to move it below.",
        "merge": "There is no other category of its level to merge it into.",
        "refile_many": "There is no other leaf to file chunks in.",
    }
    CHOOSE_CHUNKS = "Choose chunks: tick their rows."
    CHOOSE_CATEGORIES = "Choose categories: tick their rows."
    SOME_SHOWN = "The first {shown} of {all} are shown."
    CHOSEN = "{chosen} of {all} chosen"
    WOULD = "What this would do"
    MOVED = "Chunks moved"
    CHANGED = "Categories changed"
    CANNOT = "This cannot be done"
    REASON = "Reason"
    REASON_FORM = "Kept with the change, for whoever asks later"
    CHANGED_MEANWHILE = "Somebody has changed the tree meanwhile. Look at the effect again, as it is now."
    FILE_ELSEWHERE = "File this chunk elsewhere"

    BY = "How"
    BY_HAND, BY_MODEL = "By selection", "By proposal of the model"
    ASK = "Ask for a proposal"
    ASK_AGAIN = "Ask again"
    ASK_ABOUT = "The model looks for groups in what this category holds. Nothing changes until you confirm a group."
    ASKING = "The model is looking for groups …"
    ONE_SUBJECT = "The model sees one subject only, and proposes no group."
    GROUPS = "Groups"
    PROPOSED = "The model proposes these groups. Choose one to see what it would do; its name can be changed."
    GROUP = "{name}: {count}"
    WHY = "Why, in the model's words: {why}"
    STAYS = "{count} would stay where they are."
    UNSEEN = "{count} more were not shown to the model, and stay."
    SOMETHING_LEFT = "What of it is not in this category any more cannot be split off. Ask again for a new proposal."
    STOPPED = "The proposal was not made."

    DONE = "Done: {what}."
    DONE_TO = "{what}: {about}"
    UNDO = "Undo"
    UNDO_IT = "Undo it"
    CLOSE = "Close"
    UNDO_WOULD = "Undoing it would do this"
    UNDO_CANNOT = "It cannot be undone now"
    UNDO_FIRST = "Undo these first:"
    UNDONE_BEFORE = "It has been taken back."


texts = Edit()
