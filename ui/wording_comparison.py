"""Texts of two runs side by side, and of branches."""

from __future__ import annotations

from ui.words import Words


class Comparison(Words):
    WHAT_IF = "What if this had been chosen?"
    WHAT_IF_ABOUT = (
        "Asks the question again with this category taken here, in place of what was chosen. "
        "Levels above stay as they were; below, the model chooses anew. The original stays untouched."
    )
    WHAT_IF_GO = "Take it and see"
    BRANCH = "A branch of another run: at level {level}, {names} was taken instead."
    BESIDE = "Side by side"
    ORIGINAL = "Beside the original"
    COMPARE = "Compare"
    COMPARE_WITH = "Beside which question?"
    COMPARE_NONE = "There is no other answered question yet."
    COMPARE_GO = "Lay side by side"
    ALONE = "Back to this run"
    SWAP = "Swap sides"
    ONE, OTHER = "First", "Second"
    PART = "They part at level {level}"
    SAME_WAY = "Both took the same way"
    SAME_ANSWER = "The answers are word for word the same."
    TREE_CHANGED = "Between the two, the tree was changed: the same question may find other options."
    DIFFERENT = "Asked differently"
    READ_BOTH, READ_ONE, READ_OTHER = "Read by both ({count})", "Only by the first ({count})", "Only by the second ({count})"
    READ_NOTHING = "No chunk."
    NOT_DONE = "This run has not been answered, so there is nothing to lay beside."
    WORDS = {
        "about": "Choices of both runs, level by level",
        "one": "first",
        "other": "second",
        "chosen": "chosen, place",
        "passed": "offered, not chosen",
        "absent": "did not come here",
        "onlyOne": "only the first",
        "onlyOther": "only the second",
        "more": "more offered, chosen by neither",
    }


texts = Comparison()
