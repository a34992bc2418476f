"""English verb forms, and the tense of a statement: now, past, or only wished for.

Invariant: a change ("moved to", "became", "was promoted") is of now, because it describes the state since. A word that is not a
known verb is returned unchanged. Pure.
"""

from __future__ import annotations

import re
from typing import Literal

PAST = frozenset(
    """was were had did went got made took saw met found bought began left won lost gave told felt came became said thought knew
    ran sang wrote read sat stood spent sent built kept slept taught caught brought fought sold held heard hurt ate drank drove
    flew fell grew rode rose chose broke spoke wore woke threw drew led fed paid meant dealt hit put set quit cut shut let cost
    beat bet swam shot stuck struck swung hung dug fled lent lit bent bound hid lay laid understood forgot froze shook stole swore
    tore ended outgrew overcame wed""".split()
)
_COMMON = frozenset(
    """accept add admire adopt adore advise agree aim allow announce answer apply appreciate approve argue arrange arrive
    ask attend avoid bake be become begin believe belong borrow break bring broke build buy call cancel care carry catch
    celebrate change check choose clean climb coach collect commute compete complete consider contact continue cook cope
    create cry cultivate cycle dance date decide decline dedicate design detest develop die disagree discover discuss
    dislike divorce do donate draw dream drink drive drop earn eat employ encourage end engage enjoy enroll expect
    experience explore explain express face fall fear feel fight find finish fix fly follow forget form found garden
    gather get give go graduate grow guide handle happen hate have head hear help hike hire hold hope host hug hunt
    imagine improve include inspire intend invest invite join jog juggle jump keep knit know launch lead learn leave lend
    let lie lift like listen live lose look love maintain make manage marry mean measure meet mention mentor miss move
    need notice offer open order organise organize outgrow own paint pass pay perform photograph plan plant play practice
    practise prefer prepare present produce promise prove publish pursue put quit race raise read realise realize recall
    receive recommend record recover refuse relax relocate remain remember rent repair reside resign rest restore retire
    return ride run sail save say see seem sell send serve settle share shop show sing sit skate ski sleep smoke solve
    speak spend stand start stay stop struggle study suffer suggest support surf swim switch take talk teach tell tend
    think throw train travel treat try turn type understand undertake upgrade use value visit volunteer vote wait wake
    walk want wash watch wear weigh welcome win wish wonder work worry write""".split()
)
_PRESENT = dict(
    pair.split(":")
    for pair in """went:go got:get made:make took:take saw:see met:meet found:find bought:buy began:begin left:leave won:win
    gave:give became:become knew:know ran:run sang:sing wrote:write spent:spend built:build slept:sleep taught:teach
    caught:catch brought:bring sold:sell held:hold ate:eat drank:drink drove:drive flew:fly grew:grow rode:ride chose:choose
    spoke:speak wore:wear threw:throw drew:draw led:lead paid:pay swam:swim stood:stand sat:sit told:tell thought:think
    kept:keep lost:lose""".split()
)
_BOTH = frozenset("read put set quit cut shut let cost beat bet hit hurt".split())  # the same in the present
_MODALS = frozenset("can could will would shall should may might must ought cannot".split())
_IRREGULAR = {"am": "is", "are": "is", "have": "has", "do": "does", "go": "goes", "be": "is"}
_NOT_PAST = frozenset("need feed bleed breed speed seed exceed proceed succeed embed shed heed weed wed".split())
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh|o)$")
_AHEAD = re.compile(r"\b(?:will|going to|gonna|about to|planning|plan to|hope to|want to)\b|['’]ll\b", re.IGNORECASE)
_OF_NOW = re.compile(r"(?:\b(?:am|is|are)|['’](?:m|re|s))\s+(?:\w+ly\s+|so\s+|very\s+|really\s+)?\w+ed\b", re.IGNORECASE)
_THEN = re.compile(r"\b(?:yesterday|ago|last \w+|(?:in|since) (?:19|20)\d\d|this morning|when i was|already)\b", re.IGNORECASE)
_BESIDE = re.compile(r"^[^,;.]*?\band ([a-z]+)", re.IGNORECASE)
_SEEMS = re.compile(r"(?:look|sound|seem|feel)(?:s|ed)|were")  # "Boston looks great": an impression, no fact
_FOR_GOOD = frozenset(("quit",))  # nobody does it again and again, unless it is said so
_EVERY = re.compile(r"\b(?:every|always|usually|often|each|whenever|daily)\b", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?", re.IGNORECASE)


def is_past_form(word: str) -> bool:
    """Return True for a past form, given in lower case."""
    return word in PAST or (len(word) > 3 and word.endswith("ed") and word not in _NOT_PAST)


def is_verb(word: str) -> bool:
    """Return True for a form of a common verb that a statement about a person may begin with: "lives", "moved", "is"."""
    low = word.lower()
    if low in _OPENERS or low in PAST:
        return True
    return any(base in _COMMON for base in _bases(low))


def is_bare_verb(word: str) -> bool:
    """Return True for the form after "they": "work", "order"; nouns may look alike. Lower case."""
    return word in _COMMON


def to_present(word: str) -> str:
    """Return the form after "they" for an irregular past, lower case; any other word unchanged."""
    return _PRESENT.get(word, word)


def _bases(low: str) -> tuple[str, ...]:
    if low.endswith("ied"):
        return (f"{low[:-3]}y",)
    if low.endswith("ed"):
        return (low[:-2], low[:-1], low[:-3])
    if low.endswith("ies"):
        return (f"{low[:-3]}y",)
    return (low[:-1], low[:-2]) if low.endswith("s") else ()


_OPENERS = (_MODALS - {"may"}) | frozenset(
    "is are was were has had have does did am no not never really also just now often always usually".split()
)


def looks_ahead(text: str) -> bool:
    return bool(_AHEAD.search(text))


def is_past(text: str) -> bool:
    """Return True if the text has a past form that is not also a present one, and no future.

    "is excited", "are married" are of now.
    """
    if looks_ahead(text):
        return False
    words = _WORD.findall(_OF_NOW.sub(" ", text).lower())
    return any(is_past_form(word) and word not in _BOTH for word in words)


def is_third_person(word: str) -> bool:
    """Return True for the form after one person's name: "lives", "moved", "is"; not "live", "are", "could"."""
    low = word.lower()
    if low in _OPENERS:
        return low in ("is", "was", "has", "had", "does", "did")
    return is_verb(low) and not _SEEMS.fullmatch(low)


def is_first_person(word: str) -> bool:
    """Return True for the present form after "I": "live", "am", "put"."""
    low = word.lower()
    return low in _COMMON or low in _IRREGULAR or low in _BOTH


def is_used_as_past(verb: str, rest: str) -> bool:
    """Return True if a verb with equal present and past ("put", "quit") is used as a past here."""
    if verb not in _BOTH:
        return False
    beside = _BESIDE.search(rest)
    if _THEN.search(rest) or (beside and is_past_form(beside[1].lower())):
        return True
    return verb in _FOR_GOOD and not _EVERY.search(rest)


def to_third_person(word: str) -> str:
    """Turn the form after "I" into the form after "she": live → lives, have → has, went → went, can → can."""
    low = word.lower()
    if not low.isalpha() or low in _MODALS or (is_past_form(low) and low not in _BOTH):
        return word
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if _SIBILANT.search(low) else "s")


Tense = Literal["now", "once", "ahead"]

_ONCE = re.compile(
    r"\b(?:used to|formerly|previously|in the past|back then|in those days|at the time|once upon a time"
    r"|(?:when|while) (?:i|they|we|he|she) (?:was|were)|as an? (?:child|kid|teen(?:ager)?|boy|girl|student)"
    r"|(?:in|during) (?:my|their|his|her) (?:childhood|youth|twenties|teens|student days))\b",
    re.IGNORECASE,
)
_MADE = (
    r"(?:\w+ly )?(?!(?:married|engaged|employed|based|located|divorced|retired|interested|tired)\b)(?:\w+(?:ed|orn|iven)"
    r"|made|let go|laid off)"
)
_STATE = re.compile(  # the first verb is of the past of a state; "was born", "was promoted" made them what they are
    rf"^(?:\w+\s){{0,3}}?(?:(?:was|were)(?! {_MADE})"
    r"|lived|resided|worked|had|owned|drove|weighed|dated|studied|spoke|belonged|did|played|smoked|liked|loved|hated|wore|could)\b",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\b(?:one day|some ?day|would (?:like|love|rather|prefer)|wish(?:es)?|dreams? (?:of|about)|hopes?|hoping"
    r"|thinking (?:of|about)|considers?|considering|might|(?-i:may)|intends?|wants?|plans?|planning)\b",
    re.IGNORECASE,
)


def tense_of(statement: str) -> Tense:
    if looks_ahead(statement) or _WISHED.search(statement):
        return "ahead"
    return "once" if _ONCE.search(statement) or _STATE.search(statement) else "now"
