"""Texts about whose a question is, and who may open its answer."""

from __future__ import annotations

from ui.words import Words


class ShareWords(Words):
    SHARE, UNSHARE = "Share this answer", "Stop sharing"
    SHARE_HELP = "Everybody who signs in here can then open this answer by its link. You can stop sharing it at any time."
    UNSHARE_HELP = "Whoever opens the link is then told that the answer is no longer shared, and sees nothing of it."
    PRIVATE = "Your question. Only you see it, and people who check this memory (auditors, readers, administrators)."
    PRIVATE_OFF = "Your question. Only you see it, and people who check this memory. Sharing is turned off here."
    CLOSED = "Its link was closed {when}."
    OWN_CLOSED = "Your question. You stopped sharing it {when}: its link opens for nobody else."
    OWN_CLOSED_BY = "Your question. {by} stopped sharing it {when}: its link opens for nobody else."
    SHARED_BY_YOU = "You shared this answer {when}. Everybody who signs in here can open its link."
    SHARED_BY = "{owner} shared this answer {when}."
    OF_ANOTHER = "The question of {owner}. You see it because of your role."
    EVERYBODY = "The question of {owner}. Here everybody who signs in sees all questions."
    YOURS = {  # by the setting question_sharing: below the form, where people sign in
        "owner": "Your questions are yours: others see an answer only once you share it. People who check this memory see all.",
        "off": "Your questions are yours: beside you, only people who check this memory see them.",
        "all": "Everybody who signs in here sees all questions.",
    }


texts = ShareWords()
