"""Words that say little as the name of a category.

NEVER: no name has them. VAGUE: nouns that fit almost any text, so a name of them alone is worth half.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from memoir_engine.prompts.classify import Batch
from memoir_engine.text.names import clean, problem
from memoir_engine.text.terms import STOP, is_cjk, stem, terms, tokens
from memoir_offline.subjects import subjects

_PIECE = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]|\n\s*\n|\d+")
_CJK_RUN = re.compile(r"[\u4e00-\u9fff\u3005]{2,6}|[\u30a1-\u30fa\u30fc]{3,12}|[\uac00-\ud7af]{2,6}")
_FEW_STOPS = 0.15
_FEW_CAPITALS = 0.25  # of the words within sentences; above, capitals mean nothing (German, titles, shouting)

_PREPOSITIONS = frozenset("of in on for from by with into".split())
_BEFORE_NOUN = _PREPOSITIONS | frozenset("the a an this that these those its their our his her my your each every no any".split())
_BEFORE_VERB = frozenset(
    "to will would can could may might must shall should we i you they he she it who not don't didn't let cannot won't".split()
)
_NOUN_ENDS = (
    "tion", "sion", "ment", "ness", "ity", "ism", "ship", "ance", "ence", "ure", "age", "cy", "logy", "ics", "dom", "hood", "phy",
    "er", "or", "ist", "ing", "ery", "ory", "sis", "ware",
)  # fmt: skip
_ADJECTIVE_ENDS = ("al", "ic", "ive", "ous", "ful", "less", "able", "ible", "ary", "ish", "human", "ian")
_ADVERB_LIKE = frozenset(
    "family policy assembly supply anomaly monopoly reply ally italy bully belly jelly lily fly butterfly".split()
)


@dataclass(frozen=True)
class Phrase:
    """name: ready to be shown. stems: what makes two phrases one. proper: written with capitals within sentences.

    common: all of its words stand in lower case somewhere in the text.
    """

    name: str
    stems: tuple[str, ...]
    score: float
    proper: bool
    common: bool = True


@dataclass
class _Seen:
    """Counts of one word's uses in the text."""

    count: int = 0
    noun: int = 0
    verb: int = 0
    head: int = 0  # nothing it could describe follows
    capital: int = 0
    inside: int = 0  # occurrences where a capital would mean something
    forms: Counter[str] = field(default_factory=Counter)

    @property
    def common(self) -> bool:
        return any(form.islower() for form in self.forms)


def phrases(text: str, *, favoured: Collection[str] = ()) -> list[Phrase]:
    """Best first. favoured: stems that count more, such as those of the source's topic."""
    plain = unicodedata.normalize("NFKC", text)
    if is_cjk(plain):
        return _runs(plain)
    pieces = [found.group() for found in _PIECE.finditer(plain)]
    seen, pairs = _look(pieces)
    if _is_foreign(pieces):
        return _best(_long_words(seen))
    capitals = sum(word.capital for word in seen.values()) / max(1, sum(word.inside for word in seen.values()))
    words = {word: _worth(word, found, favoured) for word, found in seen.items()}
    ones = (_one(word, found, words[word], capitals) for word, found in seen.items())
    twos = (_two(pair, count, seen, words, capitals) for pair, count in pairs.items())
    return _best([found for found in (*ones, *twos) if found])


def _look(pieces: list[str]) -> tuple[dict[str, _Seen], Counter[tuple[str, str]]]:
    seen: dict[str, _Seen] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    for before, piece, after in _threes(pieces):
        if not _may_name(piece.lower()):
            continue
        found = seen.setdefault(piece.lower(), _Seen())
        found.count += 1
        found.forms[piece] += 1
        lead, follows = before.lower(), after.lower()
        inside = before != "" and before[0].isalpha()
        found.inside += inside
        found.capital += inside and piece[0].isupper()
        gerund = lead in _PREPOSITIONS and piece.endswith("ing")  # "by reducing …" is something done, "the building" a thing
        found.noun += lead in _BEFORE_NOUN and not gerund or follows == "of"
        found.verb += lead in _BEFORE_VERB
        found.head += not after or not after[0].isalpha() or follows in STOP
        if after and after[0].isalpha() and _may_name(follows):
            pairs[piece.lower(), follows] += 1
    return seen, pairs


def _is_foreign(pieces: list[str]) -> bool:
    """Report a text with hardly any English function word: the rules for nouns do not apply."""
    words = [piece.lower() for piece in pieces if piece[0].isalpha()]
    return len(words) >= 8 and sum(word in STOP for word in words) < _FEW_STOPS * len(words)


def _long_words(seen: dict[str, _Seen]) -> Iterator[Phrase]:
    """Score the long words of an unknown language by frequency, length and capitals."""
    for word, found in seen.items():
        if len(word) >= 6:
            worth = (1 + math.log(found.count)) * min(1.5, len(word) / 8) * (1.3 if found.capital else 1.0)
            yield Phrase(_shown(word, found, first=True), (stem(word),), worth, proper=False, common=found.common)


def _threes(pieces: list[str]) -> Iterator[tuple[str, str, str]]:
    for at, piece in enumerate(pieces):
        if piece[0].isalpha():
            yield pieces[at - 1] if at else "", piece, pieces[at + 1] if at + 1 < len(pieces) else ""


def _may_name(word: str) -> bool:
    if len(word) < 3 or word in STOP or word in NEVER or "'" in word or "’" in word:
        return False
    return not (word.endswith("ly") and word not in _ADVERB_LIKE)


def _worth(word: str, found: _Seen, favoured: Collection[str]) -> float:
    """Score a word by how much it is a noun, times its frequency."""
    ending = 0.25 if word.endswith(_NOUN_ENDS) or word.endswith(tuple(f"{end}s" for end in _NOUN_ENDS)) else 0.0
    company = (found.noun + 0.5 * found.head - 1.5 * found.verb) / found.count
    past = 0.7 if word.endswith("ed") and len(word) > 4 else 0.0
    noun = min(1.0, max(0.0, 0.35 + ending + 0.4 * company - past))
    found_stem = stem(word)
    vague = 0.5 if word in VAGUE else 1.3 if found_stem in subjects().words else 0.5 if word.endswith("ing") else 0.8
    return noun * vague * (1 + math.log(found.count)) * (1.4 if found_stem in favoured else 1.0)


def _one(word: str, found: _Seen, worth: float, capitals: float) -> Phrase | None:
    short = len(word) < 4 and found.forms.most_common(1)[0][0].islower()
    if not found.head or not found.noun or worth <= 0 or short or word.endswith("ing") and found.noun * 2 < found.count:
        return None
    proper = _is_proper(found, capitals)
    describes = 1.0 if not word.endswith(_ADJECTIVE_ENDS) else 0.8 if stem(word) in subjects().words else 0.6
    return Phrase(
        _shown(word, found, first=True), (stem(word),), worth * describes * (0.6 if proper else 1.0), proper, found.common
    )


def _two(pair: tuple[str, str], count: int, seen: dict[str, _Seen], words: dict[str, float], capitals: float) -> Phrase | None:
    """Build a phrase of two words: the second is its head, the first narrows it."""
    first, second = (seen[word] for word in pair)
    if not second.head or words[pair[1]] <= 0.3 or first.verb > first.noun or pair[0] == pair[1]:
        return None
    if pair[0].endswith(("ing", "ed")) and first.noun == 0 or not (first.noun or second.noun):
        return None
    proper = _is_proper(first, capitals) and _is_proper(second, capitals)
    worth = (0.5 * words[pair[0]] + words[pair[1]]) * (0.55 + 0.5 * math.log2(count + 0.5) if count > 1 else 0.55)
    name = f"{_shown(pair[0], first, first=True)} {_shown(pair[1], second, first=False)}"
    return Phrase(name, (stem(pair[0]), stem(pair[1])), worth * (0.6 if proper else 1.0), proper, first.common and second.common)


def _is_proper(found: _Seen, capitals: float) -> bool:
    """Report a word that always has a capital, even within sentences, unless the text capitalises everything."""
    lower = sum(count for form, count in found.forms.items() if form[0].islower())
    return (
        capitals < _FEW_CAPITALS
        and found.capital > 0
        and lower == 0
        or capitals >= _FEW_CAPITALS
        and lower == 0
        and found.inside == 0
    )


def _shown(word: str, found: _Seen, *, first: bool) -> str:
    form = min(found.forms.items(), key=lambda item: (-item[1], item[0].isupper(), item[0]))[0]
    if form.isupper() and len(form) <= 5 and word not in found.forms or not form[1:].islower() and not form.isupper():
        return form  # an abbreviation, or a name with a capital inside
    if first:
        return word[0].upper() + word[1:]
    return form if form[0].isupper() and word not in found.forms and not form.isupper() else word


def _runs(text: str) -> list[Phrase]:
    """Return the words of scripts without spaces: runs of kanji, katakana, hangul."""
    counts = Counter(found.group() for found in _CJK_RUN.finditer(text))
    return _best(
        [Phrase(run, (run,), (1 + math.log(count)) * min(1.0, 0.4 + len(run) / 6), False) for run, count in counts.items()]
    )


def _best(found: Iterable[Phrase]) -> list[Phrase]:
    """Keep one phrase for each set of stems, best first; ties by name."""
    kept: dict[tuple[str, ...], Phrase] = {}
    for phrase in sorted(found, key=lambda phrase: (-round(phrase.score, 6), phrase.name)):
        kept.setdefault(phrase.stems, phrase)
    return list(kept.values())


GENERAL = "General"
LEAST_SCORE = 0.9
LEAST_AT_TOP = 2.2  # level 1 names from the text only where the text insists
NEAR_BEST = 0.8  # among phrases nearly as good, the one other chunks of the batch share


class Naming:
    """Names new categories for the chunks of one batch.

    Invariant: a name is fit to be stored (text/names), does not repeat its path, and at level 1 is never a proper name.
    Source: DESIGN §10; verified/offline-model.md §3.1 (names).
    """

    def __init__(self, batch: Batch) -> None:
        self._options = batch.options
        self._favoured = frozenset(terms(batch.helper).counts)
        self._path = {stem for name in batch.options.path for stem in tokens(name)}
        self._others = [terms(text).counts for _, text in batch.chunks]

    def name(self, text: str, *, taken: Iterable[str], insist: bool) -> str | None:
        """Return a name, None if nothing in the text reads as a topic. insist: only a good one, as the chunk fits elsewhere."""
        refused = {frozenset(tokens(name)) for name in taken}
        least = LEAST_AT_TOP if self._options.level == 1 else LEAST_SCORE if insist else 0.3
        fit = [found for found in phrases(text, favoured=self._favoured) if found.score >= least and self._is_fit(found, refused)]
        near_best = [found for found in fit if found.score >= NEAR_BEST * fit[0].score]
        return max(near_best, key=self._shared).name if near_best else None

    def _is_fit(self, phrase: Phrase, refused: set[frozenset[str]]) -> bool:
        if self._options.level == 1 and is_cjk(phrase.name):
            return False  # a run of characters says not whether it names a subject or somebody
        stems = set(phrase.stems)
        if (
            stems <= self._path
            or frozenset(stems) in refused
            or self._options.level == 1
            and (phrase.proper or not phrase.common)
        ):
            return False
        return problem(clean(phrase.name)) is None

    def _shared(self, phrase: Phrase) -> tuple[int, float]:
        return (sum(all(stem in counts for stem in phrase.stems) for counts in self._others), phrase.score)


NEVER = frozenset(
    """january february march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday today tomorrow yesterday thousand million billion hundred dozen people person man men woman
    women thing way time year years day days week weeks month months hour hours lot lots bit kind sort part parts number
    numbers example examples case cases fact facts reason reasons result results point points place places side end
    beginning rest area areas piece pieces group groups question questions answer answers problem problems issue issues
    idea ideas change changes need needs help work works use post wrote line lines word words name names list lists mr
    mrs ms dr sir everyone anyone someone something nothing everything anything stuff guy guys sure able possible
    different important great big small large long short high low main whole certain particular own several current
    recent good bad better best real true right wrong hard easy common general specific similar available following
    previous simple single full open clear ready free special additional various entire major minor course order level
    levels form forms set sets type types value values note notes section sections figure figures table tables rule
    rules view views effort efforts purpose purposes sense matter matters call calls step steps start stop read reading
    yeah dear please regards sincerely subject organization distribution reply edu com org net www http https html""".split()
)
VAGUE = frozenset(
    """world nation nations country countries future life lives power powers action actions act acts strength history hope
    hopes honor honour user users team teams project projects department departments government system systems community
    development process processes service services opportunity opportunities support progress program programs effort
    role state states citizen citizens children child family friend friends company companies member members office
    source sources resource resources condition conditions situation method methods feature features function functions
    object objects information data model models approach plan plans policy goal goals interest interests experience
    activity activities technology tool tools quality value benefit benefits chance position positions author authors
    change changes version versions implementation discussion addition attention knowledge practice practices
    relationship structure field fields matter century quarter success failure difference differences perception
    responsibility responsibilities commitment institution institutions warning warnings error errors update updates
    page pages book books story report reports letter message messages price cost costs money business market public
    home house school city town water land air body hand hands head eye eyes face heart mind voice door room table car
    game play show food music law rights freedom peace war society""".split()
)
