"""What actions and events about facts and cuts are called; a part of the table of `words`.

Source: DESIGN §6, §8.
"""

from __future__ import annotations

VERBS: dict[str, str] = {
    "remember": "Remembered a conversation",
    "restore_fact": "Brought a fact back into force",
    "approve_fact": "Agreed that a fact gave way",
    "reject_fact": "Refused that a fact gives way",
    "forget_fact": "Forgot a fact",
    "confirm_fact": "Approved a fact",
    "withdraw_fact": "Rejected a fact",
    "skip_fact": "Skipped a fact",
}

# kind → one, many
KINDS: dict[str, tuple[str, str]] = {
    "cuts.recorded": ("a conversation is cut into {parts}", "{count} conversations are cut"),
    "cuts.withdrawn": ("a conversation counts as not remembered", "{count} conversations count as not remembered"),
    "cuts.returned": ("a conversation counts as remembered again", "{count} conversations count as remembered again"),
    "conversation.seen_again": ("a remembered conversation came again", "{count} remembered conversations came again"),
    "fact.recorded": ("fact {fact} is learned", "{count} facts are learned"),
    "fact.outdated": ("fact {fact} is outdated", "{count} facts are outdated"),
    "fact.restored": ("fact {fact} holds again", "{count} facts hold again"),
    "fact.withdrawn": ("fact {fact} is taken back", "{count} facts are taken back"),
    "fact.returned": ("fact {fact} stands again", "{count} facts stand again"),
    "fact.forgotten": ("fact {fact} is forgotten for good", "{count} facts are forgotten for good"),
    "fact.seen": ("fact {fact} was said again", "{count} known facts were said again"),
    "fact.unseen": ("that fact {fact} was said again is taken back", "{count} facts count as not said again"),
    "fact.seen_again": ("that fact {fact} was said again holds again", "{count} facts count as said again"),
    "fact.related": ("two facts have to do with one another", "{count} pairs of facts are related"),
    "fact.unrelated": ("two facts are no longer related", "{count} pairs of facts are no longer related"),
    "fact.related_again": ("two facts are related again", "{count} pairs of facts are related again"),
    "fact.proposed": ("a person is asked whether a fact gives way", "{count} facts are put to a person"),
    "fact.settled": ("it is settled whether a fact gives way", "{count} questions about facts are settled"),
    "fact.reviewed": ("a fact is reviewed", "{count} facts are reviewed"),
    "fact.unproposed": ("a question about a fact is taken back", "{count} questions about facts are taken back"),
}
