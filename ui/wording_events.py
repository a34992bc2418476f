"""Words of audit events by kind and number, where the app says them otherwise than reports: facts without their row numbers.

Source: decision 0026.
"""

from __future__ import annotations

from memoir_engine import Action, Change

FACTS = {
    "fact.recorded": ("a fact was recorded", "{count} facts were recorded"),
    "fact.seen": ("a known fact was said again", "{count} known facts were said again"),
    "fact.corrected": ("a fact was corrected", "{count} facts were corrected"),
    "fact.retired": ("a fact has ended", "{count} facts have ended"),
    "fact.expires": ("the expiry of a fact was set", "the expiry of {count} facts was set"),
    "fact.outdated": ("a fact is outdated", "{count} facts are outdated"),
    "fact.restored": ("a fact is active again", "{count} facts are active again"),
    "fact.withdrawn": ("a fact was taken back", "{count} facts were taken back"),
    "fact.returned": ("a fact is back", "{count} facts are back"),
    "fact.proposed": ("a question about facts waits for a person", "{count} questions about facts wait for a person"),
    "fact.settled": ("a question about facts was decided", "{count} questions about facts were decided"),
}
DONE = {
    "correct_fact": ("Corrected", "Corrected"),
    "add_fact": ("Added", "Added"),
    "retire_fact": ("Ended", "{count} facts ended"),
    "expire_fact": ("Expiry set", "Expiry of {count} facts set"),
    "approve_fact": ("Decided: the change was made", "Decided: the change was made"),
    "reject_fact": ("Decided: both stay as they are", "Decided: both stay as they are"),
    "restore_fact": ("Brought back", "Brought back"),
}


def done(action: Action) -> str | None:
    """Return what an action on facts did, in short; None if it is another action."""
    words = DONE.get(action.verb)
    number = sum(change.count for change in action.changes if change.kind in ("fact.retired", "fact.expires"))
    return None if words is None else words[number > 1].format(count=f"{number:,}")


def says(change: Change) -> str:
    """Return the words of a change."""
    words = FACTS.get(change.kind)
    return change.says if words is None else words[change.count != 1].format(count=f"{change.count:,}")
