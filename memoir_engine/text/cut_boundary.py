"""Conversation boundary: cut where the speakers themselves begin something new.

A place scores for each sign: a user begins, a long pause, good-byes before it, a greeting after it, or an announced change of
subject. The phrases are rules of five languages, not taken from any collection of conversations.
Invariant: the same conversation has the same boundaries; linear in it.
Source: CHUNK 4; measured in benchmarks/cutting.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memoir_engine.core.results.conversations import CutLimits
from memoir_engine.text.cut_division import best_cuts
from memoir_engine.text.cut_strategies import CHUNKERS, CutInput, NoBoundaries, Range
from memoir_engine.text.transcripts import Utterance

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
_GREETING = 40
_GREETING_WORDS = 5
_WORD = re.compile(r"\w+")

Phrases = Mapping[str, tuple[str, ...]]  # the longest word of each -> phrases, a blank at both ends


def _plain(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _phrases(listed: str) -> Phrases:
    found: dict[str, tuple[str, ...]] = {}
    for phrase in listed.split("|"):
        words = _WORD.findall(phrase)
        longest = max(words, key=len)
        found[longest] = (*found.get(longest, ()), _plain(words))
    return found


_TOPIC = _phrases(
    "by the way|btw|anyway|anyways|before i forget|moving on|one more thing|one more question|another thing|another question|"
    "on another note|on a different note|on another topic|on a different topic|different topic|different question|other topic|"
    "new topic|new question|next question|next topic|next thing|next issue|next task|other question|different subject|"
    "let's talk about|let's turn to|let's move on|let's discuss|change of topic|change of subject|changing topics|"
    "changing the subject|change the subject|change topics|switching topics|switching gears|switch gears|"
    "übrigens|anderes thema|andere frage|neue frage|apropos|au fait|autre question|autre sujet|autre chose|"
    "por cierto|otra pregunta|otra cosa|cambiando de tema"
)
_TOPIC_CJK = ("ところで", "話は変わ", "話変わ", "別の話", "別の質問", "別の件", "次の質問", "次の話題", "それはそうと")
_HELLO = _phrases(
    "hi|hey|hello|yo|howdy|greetings|good morning|good afternoon|good evening|good day|long time no see|long time no talk|"
    "what's up|it's been a while|it's been so long|it's great to see|it's great to hear|it's good to see|it's good to hear|"
    "hallo|moin|servus|guten morgen|guten tag|guten abend|bonjour|salut|bonsoir|hola|buenos días|buenas tardes|buenas noches"
)
_HELLO_CJK = ("こんにちは", "こんばんは", "おはよう", "お久しぶり")
_GOODBYE = _phrases(
    "bye|goodbye|good bye|see you|see ya|talk soon|talk later|talk again|talk to you|talk to ya|speak soon|speak later|"
    "speak to you|chat soon|chat later|chat tomorrow|take care|catch you|catch ya|good night|goodnight|ttyl|until next time|"
    "have a great|have a good|have a nice|have a lovely|have a wonderful|have a fantastic|gotta go|gotta run|have to go|"
    "have to run|got to go|got to run|need to go|need to run|i'm off|tschüss|bis bald|bis später|bis morgen|auf wiedersehen|"
    "gute nacht|au revoir|à bientôt|à demain|à plus|bonne nuit|adiós|hasta luego|hasta pronto|hasta mañana|nos vemos"
)
_GOODBYE_CJK = ("さようなら", "さよなら", "またね", "じゃあね", "おやすみ", "また明日")


@CHUNKERS.register("conversation_boundary")
def conversation_boundary(talk: CutInput, limits: CutLimits) -> list[Range]:
    """Cut at the strongest signs. Raises NoBoundaries without a user's message, a pause or a phrase that begins something."""
    worth, reasons = boundaries(talk.messages)
    if not (worth[1:] > 0).any() and int(talk.tokens.sum()) > limits.max_tokens:
        raise NoBoundaries("no natural break was found in it")
    starts = best_cuts(talk.tokens, worth, minimum=limits.min_tokens, maximum=limits.max_tokens)
    stops = [*starts[1:], len(talk)]
    return [Range(first, stop, (reasons[first] or NO_PLACE) if first else "") for first, stop in zip(starts, stops, strict=True)]


def boundaries(messages: Sequence[Utterance]) -> tuple[NDArray[np.float64], list[str]]:
    """Return the score of a cut before each message, (n,) from 0 on, and the main reason."""
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
    signs = ((AFTER_GOODBYE, parted), (HELLO, greets), (NEW_TOPIC, _turns(message.text[:_HEAD])))
    return [reason for reason, found in signs if found]


def _turns(head: str) -> bool:
    return _holds(head, _TOPIC, _TOPIC_CJK)


def _says_goodbye(text: str) -> bool:
    return _holds(text[-_TAIL:], _GOODBYE, _GOODBYE_CJK)


def _greets(text: str) -> bool:
    words = _WORD.findall(text[:_GREETING].casefold())
    plain = _plain(words)
    hello = any(plain.startswith(phrase) for word in words[:_GREETING_WORDS] for phrase in _HELLO.get(word, ()))
    return hello or text.lstrip().startswith(_HELLO_CJK)


def _holds(text: str, phrases: Phrases, marks: Sequence[str]) -> bool:
    words = _WORD.findall(text.casefold())
    told = [phrase for word in words if word in phrases for phrase in phrases[word]]
    if told:
        plain = _plain(words)
        return any(phrase in plain for phrase in told)
    return not text.isascii() and any(mark in text for mark in marks)


def _pauses(messages: Sequence[Utterance]) -> list[tuple[int, float, float]]:
    """Return (message, seconds before it, score) for each gap much longer than usual."""
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
