"""Texts of erasing a source, of its tombstone, and of downloading the whole memory.

Invariant: an irreversible effect is stated before it happens, in plain words.
"""

from __future__ import annotations

from ui.words import Words


class Erasure(Words):
    # --- erasing -------------------------------------------------------------------------------------------------------

    ERASE = "Erase for good"
    ERASE_HELP = "Takes the text out of every place that holds it. Withdrawing is enough where it may stay readable."
    ERASE_TITLE = "Erase {name}"
    ERASE_ABOUT = (
        "The text leaves the tree, the file, the prompts and the answers that quote it. **This cannot be undone.** "
        "What stays is that it was here, who erased it and why."
    )
    WHAT_GOES = "What will be cleared"
    PLACE, ROWS = "Place", "Rows"
    FILED = "{chunks} will leave the tree."
    READ_BY = "{questions} read it: their answers go too, the rest of each record stays."
    OTHER_VERSIONS = "It has {versions}. They stay: each version is erased by itself."
    NAMES = "Category names that say its words"
    NAMES_ABOUT = (
        "These words stand in no other source. Other sources are filed below these categories, so the names are "
        "shared: give each a "
        "new one. Write the old name to keep it."
    )
    NEW_NAME = "{path} ({chunks} of other sources)"
    CLOSING = "Nothing else is filed below these; they close: {names}"
    WHY = "Reason"
    WHY_PLACEHOLDER = "Stands on the tombstone, so do not repeat what is to be erased"
    CONFIRM = "Type “{word}” to confirm"
    NOT_CONFIRMED = "Nothing was erased: type the word as it stands there, and say why."
    DO_IT = "Erase now"
    NEVER_MIND = "Never mind"
    ERASED_TOAST = "Erased"

    # --- a tombstone ---------------------------------------------------------------------------------------------------

    TOMBSTONE = "Erased by **{who}**, {when}"
    TOMBSTONE_ABOUT = "The chain still verifies: event {seq} says what was cleared, and covers what was left of each row."
    CLEARED = "What was cleared"
    IN_ACTIVITY = "See it in the activity"

    ANSWER = "The answer was erased with a source that it had read. What it asked, chose and cost is still here."

    # --- the whole memory ----------------------------------------------------------------------------------------------

    FILE_TITLE = "The whole memory as one file"
    FILE_ABOUT = (
        "Everything that stands here, with its record, for another place or another database: `memoir import FILE` "
        "gives the same "
        "memory back, or refuses a file that is not as it was written. Keys and settings are not in it."
    )
    EXPORT = "Download the export"


texts = Erasure()
