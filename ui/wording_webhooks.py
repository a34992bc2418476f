"""Texts of webhooks: the programs that are told of changes, and what is owed to each."""

from __future__ import annotations

from ui.words import Plural, Words


class Webhooks(Words):
    TITLE = "Programs told of changes"
    ABOUT = (
        "After each change a signed message goes to these addresses: who did what, and when. The setting webhooks names them. "
        "Whatever is not taken is sent again later, in order."
    )
    STATES = {"up to date": "up to date", "owed": "on its way", "retrying": "will be tried again", "stopped": "stopped"}
    OWED = Plural("1 event still to be told", "{count} events still to be told")
    TOLD = "last told {when}"
    WHY = "Not taken: {problem}"
    STOPPED = "The receiver asked for no more messages (410). Press “Deliver now” to try again."
    DELIVER = "Deliver now"
    DELIVERED = "“{name}” has been told of everything."
    NOT_YET = "“{name}” could not be told of everything."


texts = Webhooks()
