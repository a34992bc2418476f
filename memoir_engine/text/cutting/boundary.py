"""Conversation boundary: cut where people themselves begin something new.

The worth of a place is what speaks for it: a user begins, nobody had written for a while, good-byes were said before, hello is
said after, or somebody says that the subject changes. Words are rules of five languages, not of any collection of talks.
Invariant: the same conversation has the same boundaries; linear in it.
Source: CHUNK 4; measured in benchmarks/cutting.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoir_engine.results.cuts import CutLimits
from memoir_engine.text.cutting.choosing import best_cuts
from memoir_engine.text.cutting.strategies import CHUNKERS, NoBoundaries, Range, Talk
from memoir_engine.text.turns import Utterance

USER = 0.3  # alone never enough to cut where there is still room
SIGN = 0.9  # of words; with a user's beginning enough
PAUSE = 1.0  # a pause is enough by itself
LONGER = 0.5  # for each time that a pause is ten times longer
ELSEWHERE = 0.5  # what a sign counts before a message that is not a user's
LEAST_PAUSE_S = 600.0
PAUSES_APART = 6.0  # times the usual gap

USERS_MESSAGE = "a user's message begins here"
NEW_TOPIC = "a new subject is announced"
HELLO = "somebody says hello"
AFTER_GOODBYE = "good-byes were said before"
NO_PLACE = "no natural break within reach"

_HEAD = 80  # characters in which a message says what it is
_TAIL = 160
_TOPIC = re.compile(
    r"\b(?:by the way|btw|anyways?|before i forget|moving on|one more (?:thing|question)"
    r"|on (?:another|a different) (?:note|topic|subject)|let'?s (?:talk|turn|move on|discuss)"
    r"|(?:a |an )?(?:different|new|other|another|next) (?:topic|question|subject|thing|issue|task)"
    r"|(?:chang(?:e|ing)|switch(?:ing)?) (?:of |the )?(?:topics?|subject|gears)|now,? (?:about|on to)"
    r"|übrigens|anderes thema|andere frage|neue frage|apropos|au fait|autre (?:question|sujet|chose)"
    r"|por cierto|otra (?:pregunta|cosa)|cambiando de tema)\b"
    r"|ところで|話は変わ|話変わ|別の(?:話|質問|件)|次の(?:質問|話題)|それはそうと",
    re.IGNORECASE,
)
_HELLO = re.compile(
    r"\W*(?:(?:hi|hey|hello|yo|howdy|greetings|good (?:morning|afternoon|evening|day)|long time no (?:see|talk)|what'?s up"
    r"|it'?s (?:been|great|good) (?:a while|so long|to (?:hear|see))|hallo|moin|servus|guten (?:morgen|tag|abend)"
    r"|bonjour|salut|bonsoir|hola|buen(?:os|as) (?:días|tardes|noches))\b|こんにちは|こんばんは|おはよう|お久しぶり)",
    re.IGNORECASE,
)
_GOODBYE = re.compile(
    r"\b(?:good ?bye|bye|see (?:you|ya)|(?:talk|speak|chat)(?: to you)? (?:soon|later|again|tomorrow)|talk to (?:you|ya)"
    r"|take care|catch (?:you|ya)|later!|good ?night|ttyl|until next time|have a (?:great|good|nice|lovely|wonderful) \w+"
    r"|(?:gotta|have to|got to|need to) (?:go|run)|i'?m off|tschüss|bis (?:bald|später|morgen)|auf wiedersehen|gute nacht"
    r"|au revoir|à (?:bientôt|demain|plus)|bonne nuit|adiós|hasta (?:luego|pronto|mañana)|nos vemos|buenas noches)\b"
    r"|さようなら|さよなら|またね|じゃあね|おやすみ|また明日",
    re.IGNORECASE,
)


@CHUNKERS.register("conversation_boundary")
def conversation_boundary(talk: Talk, limits: CutLimits) -> list[Range]:
    """Raises NoBoundaries where no message is a user's, nobody paused, and no words say that anything begins."""
    worth, reasons = boundaries(talk.messages)
    if not (worth[1:] > 0).any() and int(talk.tokens.sum()) > limits.max_tokens:
        raise NoBoundaries("no natural break was found in it")
    starts = best_cuts(talk.tokens, worth, minimum=limits.min_tokens, maximum=limits.max_tokens)
    stops = [*starts[1:], len(talk)]
    return [Range(first, stop, (reasons[first] or NO_PLACE) if first else "") for first, stop in zip(starts, stops, strict=True)]


def boundaries(messages: Sequence[Utterance]) -> tuple[NDArray[np.float64], list[str]]:
    """What speaks for a cut before each message, (n,) from 0 on, and why."""
    worth = np.zeros(len(messages))
    reasons = [""] * len(messages)
    hello = goodbye = False
    for index, message in enumerate(messages):
        greets, parts = _greets(message.text), _says_goodbye(message.text)
        found = _signs(message, greets=greets and not hello, parted=goodbye and not parts)
        worth[index] = USER * message.is_person + (1.0 if message.is_person else ELSEWHERE) * SIGN * len(found)
        reasons[index] = found[0] if found else USERS_MESSAGE if message.is_person else ""
        hello, goodbye = greets, parts
    for index, seconds, pause in _pauses(messages):
        worth[index] += pause
        reasons[index] = f"after a pause of {_told(seconds)}"
    return worth, reasons


def _signs(message: Utterance, *, greets: bool, parted: bool) -> list[str]:
    signs = ((AFTER_GOODBYE, parted), (HELLO, greets), (NEW_TOPIC, _TOPIC.search(message.text[:_HEAD]) is not None))
    return [reason for reason, found in signs if found]


def _greets(text: str) -> bool:
    return _HELLO.match(text) is not None


def _says_goodbye(text: str) -> bool:
    return _GOODBYE.search(text[-_TAIL:]) is not None


def _pauses(messages: Sequence[Utterance]) -> list[tuple[int, float, float]]:
    """(message, seconds before it, their worth) where much more time went by than usual."""
    times = np.array([message.at.timestamp() if message.at else np.nan for message in messages])
    gaps = np.diff(times)
    known = gaps[np.isfinite(gaps) & (gaps > 0)]
    if not len(known):
        return []
    least = max(LEAST_PAUSE_S, PAUSES_APART * float(np.median(known)) if len(known) > 2 else 0.0)
    found = np.flatnonzero(np.nan_to_num(gaps, nan=0.0) >= least)
    return [(int(at) + 1, float(gaps[at]), PAUSE + LONGER * float(np.log10(gaps[at] / least))) for at in found]


def _told(seconds: float) -> str:
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {name}{'s' if number > 1 else ''}"
    return f"{int(seconds)} seconds"
