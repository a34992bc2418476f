"""Texts of the second look over the tree: what is proposed, and what became of it."""

from __future__ import annotations

from ui.words import Words


class Tidy(Words):
    TIDY = "Tidy up"
    ABOUT = "The model looks over thin and crowded branches again and proposes merges, splits and new names. You decide each one."
    LOOK, LOOK_AGAIN = "Look for what could be tidier", "Look again"
    LOOKING = "Looking over the tree …"
    STOPPED = "The look did not come to an end."
    NOTHING = "Nothing to tidy: no branch needs it."
    SHAPE = "{thin} of {leaves} leaves hold one chunk. The largest leaf holds {largest} of all chunks."
    LEFT = "{count} more branches wait for another look."
    WAITING = "{count} to decide"
    VERBS = {"merge": "Merge", "split": "Split", "rename": "Rename"}
    ICONS = {"merge": ":material/merge:", "split": ":material/call_split:", "rename": ":material/edit:"}
    REASONS = {"thin": "holds little", "alike": "may mean the same", "crowded": "holds too much", "name": "name"}
    STATES = {"done": "Accepted", "declined": "Declined", "overtaken": "No longer fits: {problem}."}
    MERGE = "**{others}** into **{into}**"
    MERGE_AS = "**{others}** and **{into}** become **{name}**"
    SPLIT = "**{name}** is split off **{path}**"
    RENAME = "**{path}** is called **{name}**"
    ACCEPT, DECLINE = "Accept", "Decline"
    SETTLED = "Decided ({count})"


texts = Tidy()
