"""Weigh how much speaks for a newer statement having changed what an older one says, where no rule of words decides it.

What is weighed: what both name (things, names, kinds, topics and scenes of everyday life), what the newer one says of change
(events, marks, values, what people say at the end of such a scene), and what tells the two apart.
Invariant: the weights are fixed, and one pair always weighs the same. Pure. Source: TIMEM "Consolidation Rules" 2 and 4.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from memoir_engine.text.clauses import complement, is_past_event, names_subject
from memoir_engine.text.terms import stem
from memoir_offline.rules.endings import feeling
from memoir_offline.rules.frames import Event, Frame, modifiers, tables
from memoir_offline.rules.values import differing

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ARTICLE = "(?:my|our|their|the|his|her|your)"
_POINTS = "(?:the|my|our|their|his|her|that|this)"
_NONE = "(?:no|no more|not an?|without|never)"
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FULL_NAME = re.compile(r"(?:[A-Z][\w'’.-]+,?\s|(?:of|the|de|la|von|van|and|\d+)\s)+")
_THEY = re.compile(r"\bthey\b", re.IGNORECASE)
MEASURES = frozenset(
    """januari februari march april may june juli august septemb octob novemb decemb monday tuesday wednesday thursday friday
    saturday sunday morn afternoon even night week weekend day month year hour minut end first last next today tomorrow
    pound quid euro dollar penc cent grand kilo kilometr km mile metr gram percent time""".split()
)
ENDINGS = frozenset(
    ("lost", "stopped", "left", "cancelled", "moved", "changed", "recovered", "split", "tired", "switched", "finished", "paused")
)
COUNTED = ("sum", "number", "hours", "minutes", "weight", "distance", "percent", "age", "pages", "years", "clock")
WEIGHTS = {
    "name": 0.9,
    "head": 1.0,
    "stem": 0.6,
    "topic": 0.8,
    "scene": 0.1,
    "scene ends": 1.8,
    "scene turns": 1.2,
    "one ends": 0.6,
    "no more": 0.8,
    "broad ends": 0.8,
    "broad turns": 0.4,
    "event same": 0.8,
    "event kind": 0.7,
    "event name": 1.0,
    "near value": 1.1,
    "definite": 0.2,
    "told of both": 0.55,  # for each sign of change, where they share anything
    "done": 0.3,
    "felt": -0.6,
    "sister": -0.9,
    "told apart": -1.6,
    "at other times": -2.0,
    "ended another": -1.4,
    "was past": -0.7,
    "also": -0.7,
}
LEAST = -3.8  # with nothing in common
TELLING = (
    "scene ends",
    "event same",
    "event kind",
    "event name",
    "none of it",
    "no more",
    "near value",
    "change",
    "over",
)
MOST_SIGNS = 3
DOUBTFUL, SURE = -1.2, 1.1  # the weights from which on a person is asked, and from which on it is taken to have ended


@dataclass(frozen=True, slots=True)
class Scenes:
    """The scenes a statement is of, those it tells the end of, and those it tells a turn of."""

    of: frozenset[str]
    ends: frozenset[str]
    turns: frozenset[str]


@dataclass(frozen=True)
class SceneTable:
    by_word: Mapping[str, frozenset[str]]
    ends: Mapping[str, re.Pattern[str]]
    turns: Mapping[str, re.Pattern[str]]
    one: frozenset[str]  # of which somebody is in one at a time
    broad: frozenset[str]  # of so many statements that they tell nothing of two which share no word
    idle: re.Pattern[str]  # words that speak of no scene where they stand


@lru_cache(maxsize=4)
def scene_table(language: str) -> SceneTable:
    listed = tomllib.loads((Path(__file__).parent / f"scenes_{language}.toml").read_text(encoding="utf-8"))
    idle = _any_of(listed.pop("idle"))
    by_word: dict[str, set[str]] = {}
    for name, scene in listed.items():
        for word in scene["of"].split():
            for key in {word, stem(word) or word}:
                by_word.setdefault(key, set()).add(name)
    ends, turns = ({name: _any_of(scene[part]) for name, scene in listed.items() if part in scene} for part in ("ends", "turns"))
    one, broad = (frozenset(name for name, scene in listed.items() if scene.get(flag)) for flag in ("one", "broad"))
    return SceneTable({word: frozenset(names) for word, names in by_word.items()}, ends, turns, one, broad, idle)


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    joined = "|".join(phrases).replace("{my}", _ARTICLE).replace("’", "'")
    return re.compile(rf"(?<![\w'])(?:{joined})(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def scenes(text: str, language: str) -> Scenes:
    table, plain = scene_table(language), text.replace("’", "'")
    words = _WORD.findall(table.idle.sub(" ", plain).casefold())
    keys = {*words, *map(stem, words), *(f"{one}-{other}" for one, other in pairwise(words))}
    of = frozenset(name for key in keys for name in table.by_word.get(key, ()))
    ends, turns = (
        frozenset(name for name, pattern in patterns.items() if pattern.search(plain)) for patterns in (table.ends, table.turns)
    )
    return Scenes(of, ends, turns - ends)


@dataclass(frozen=True, slots=True)
class Weighed:
    """The weight of a pair. is_told: something tells of a change, is_end: of the end of a scene or a name."""

    weight: float
    is_told: bool = False
    is_end: bool = False


def weigh(before: Frame, after: Frame, told: Mapping[Event, str], language: str) -> Weighed:
    """Weigh a pair. told: how what each event speaks of stands to the older statement (`changes.match`)."""
    common = dict(_common(before, after, language))
    signs = dict(_signs(before, after, told, language))
    apart = dict(_apart(before, after, told, language))
    if not any(signs[name] for name in signs.keys() - {"definite"}):
        return Weighed(LEAST)
    of_both = min(MOST_SIGNS, sum(map(bool, signs.values()))) if any(common.values()) or signs["scene ends"] else 0
    held = common | signs | apart | {"told of both": of_both}
    weight = LEAST + sum(WEIGHTS.get(name, 0.0) * value for name, value in held.items())
    return Weighed(weight, any(signs[name] for name in TELLING), bool(signs["scene ends"] or signs["event name"]))


def _common(before: Frame, after: Frame, language: str) -> Iterator[tuple[str, int]]:
    spoken_of = _spoken_of(before) & _spoken_of(after)
    names = (before.names & after.names) - MEASURES - spoken_of
    heads = _heads(before, after) - names
    stems = {word for word in before.stems & after.stems if not word[:1].isdigit()} - MEASURES - spoken_of - names - heads
    yield "name", min(1, len(names))
    yield "head", min(2, len(heads))
    yield "stem", min(2, len(stems))
    yield "kind", len(before.kinds.keys() & after.kinds.keys())
    yield "topic", min(2, len(before.topics & after.topics))
    of = scenes(before.text, language).of & scenes(after.text, language).of
    yield "scene", min(2, len(of - scene_table(language).broad))


def _heads(before: Frame, after: Frame) -> frozenset[str]:
    named = frozenset(head for head in before.heads & after.heads if not head[:1].isdigit())
    return (
        named - MEASURES - (_spoken_of(before) & _spoken_of(after)) - {before.verb, after.verb} - before.persons - after.persons
    )


def _spoken_of(before: Frame) -> frozenset[str]:
    """Return the stems of the name that a statement is about: that both are about Ada Lovelace tells nothing."""
    named = _FULL_NAME.match(before.text)
    return frozenset(stem(word.casefold()) for word in _WORD.findall(named[0])) if named else frozenset()


def _signs(before: Frame, after: Frame, told: Mapping[Event, str], language: str) -> Iterator[tuple[str, int]]:
    """Yield what speaks of a change, as 0, 1 or 2."""
    mine, later = scenes(before.text, language), scenes(after.text, language)
    of = mine.of - mine.ends - mine.turns - ({"home"} if _stays(before, after) else set())
    heads = _heads(before, after)
    ended = {how for event, how in told.items() if event.name in ENDINGS}
    broad = scene_table(language).broad
    named = bool(heads or (before.stems & after.stems) - MEASURES)
    yield "scene ends", min(2, len((of & later.ends) - broad))
    yield "scene turns", min(2, len((of & later.turns) - broad))
    yield "one ends", bool(of & later.ends & scene_table(language).one)
    yield "no more", named and "no more" in after.marks and "no more" not in before.marks
    yield "broad ends", named and bool(of & later.ends & broad)
    yield "broad turns", named and bool(of & later.turns & broad)
    yield "change", "change" in after.marks
    yield "over", "over" in after.marks
    yield "event same", "same" in ended
    yield "event kind", "kind" in ended
    yield "event part", "part" in ended
    yield "event name", any((event.gone.own | event.gone.more) & before.names for event in told if event.name in ENDINGS)
    yield "definite", _stands_behind(_POINTS, heads, after.text)
    yield "none of it", _stands_behind(_NONE, heads, after.text)
    at_once = is_past_event(before.text) and is_past_event(after.text)  # three books bought, and then five
    yield "near value", near_value(before, after) and not at_once
    yield "other value", bool(differing(before.values, after.values) - {"number", "weekday"}) and not at_once
    yield "denied", ("unreal" in after.marks) != ("unreal" in before.marks) and complement(after.text)[2] in heads
    yield "come", ("open" in before.marks or before.tense == "ahead") and after.tense != "ahead"


def _stays(before: Frame, after: Frame) -> bool:
    """Report whether a town that is named as home may stay it: a bigger flat may be there, and a company is no person."""
    is_of_them = not names_subject(after.text) or _THEY.search(after.text)
    return bool(before.names) and not (after.names - before.names and is_of_them)


def _stands_behind(words: str, heads: frozenset[str], text: str) -> bool:
    return any(re.search(rf"\b{words} (?:\w+ )?{re.escape(head)}", text, re.IGNORECASE) for head in heads)


def near_value(before: Frame, after: Frame) -> bool:
    """Report whether both name a number of one size, and not the same: a rent of 1,150 and one of 1,240."""
    mine, theirs = (
        {float(value) for kind in COUNTED for value in frame.values.get(kind, ()) if _NUMBER.fullmatch(value)}
        for frame in (before, after)
    )
    return not mine & theirs and any(0.4 * other < one < 2.5 * other for one in mine for other in theirs)


def _apart(before: Frame, after: Frame, told: Mapping[Event, str], language: str) -> Iterator[tuple[str, int]]:
    ended = [(event.gone, how) for event, how in told.items() if event.name in ENDINGS]
    ended_another = any(how == "other" or (not how and not said.bare and not said.loose and said.definite) for said, how in ended)
    ended_another = ended_another and not any(how in ("same", "kind", "part") for _, how in ended)
    one = scenes(before.text, language).of & scenes(after.text, language).ends & scene_table(language).one
    ended_another = ended_another and not one
    yield "done", is_past_event(after.text)
    yield "felt", bool(feeling(before.text))
    yield "also", "also" in after.marks
    of_both = [kind for kind in before.kinds.keys() & after.kinds.keys() if kind not in tables(language).single]
    yield "was past", is_past_event(before.text) and not {"since", "open"} & before.marks
    yield "ended another", ended_another
    yield "sister", any(_is_apart(before.kinds[kind] - {""}, after.kinds[kind] - {""}) for kind in of_both)
    heads = before.heads & after.heads
    days = differing(before.values, after.values) & {"weekday"}
    at_other_times = bool(days) and not {"change", "over"} & after.marks and not ended
    with_others = ("unreal" in after.marks) != ("unreal" in before.marks) and _is_apart(before.names, after.names) and bool(heads)
    yield "at other times", at_other_times
    by_words = [(modifiers(before.text, head), modifiers(after.text, head)) for head in heads]
    yield "told apart", with_others or any(_is_apart(mine, theirs) for mine, theirs in by_words)


def _is_apart(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    mine, theirs = (frozenset(word for word in words if not word[:1].isdigit()) for words in (mine, theirs))
    return bool(mine and theirs and not mine & theirs)
