"""A conversation of 28 messages with 20 facts, a person of whom 200 facts are known, and what a capable model answers about them.

The conversation corrects itself, moves a known date, says one known thing again in another language, and tells of others.
"""

from __future__ import annotations

from typing import Any

from fake_openai import Seen, offline
from memoir_engine.prompts import consolidate, facts

PERSON = "Ilka"
TURNS = """\
Morning! Quick catch-up, a lot has happened since we last spoke.
Good morning Ilka, I am all ears. What is the news?
First the job: the harbour office moved my start. It was the 4th of May and now it is the 18th, still as a crane planner.
Two more weeks of freedom, then. Have you settled on how you will get there every morning?
I'll take the number 7 tram, it stops right at the gate. I sold the scooter last Friday, to a student.
Sensible. Is the flat in Marl Street still giving you trouble with the heating?
Oh no, we left Marl Street. The new place on Quay Road is on the fourth floor and it has a balcony facing the water.
Lovely. Did Jonte move in with you, or does he stay in Kiel for now?
Jonte moved in as well. He works nights at the bakery, so I hardly see him before six.
And the choir? You mentioned rehearsals on Tuesdays.
Rehearsals are on Thursdays now, and we sing the Fauré Requiem on the 12th of June. No wait, on the 13th, it's the Saturday.
Noted, Saturday the 13th. Will your sister come to listen?
Maren will come if her shift allows. She has two boys by now, Emil and Ole, and drives an ambulance in Flensburg.
That sounds like a full house. Anything you cannot eat at the dinner afterwards?
Immer noch keine Haselnüsse, das weißt du ja. And I gave up coffee in March, only mint tea for me.
I will keep that in mind. If you won the lottery, would you still plan cranes?
Ha, if I won I'd buy a lighthouse and never look at a crane again. But seriously, I'd like to learn to sail one day.
A sailing course could be a nice birthday present. When was it again?
On the 2nd of September, I'll be 34. My knee needs to hold until then, the physio says eight more weeks.
Take care of it. Shall I remind you of the appointments?
Yes please, Mondays at half past eight. Great fun, getting up that early, exactly what I always dreamed of.
I can hear the enthusiasm. How is your Norwegian coming along?
I passed the B1 exam in April! And I read my first novel in Norwegian, by Vigdis Hjorth.
Congratulations, that is a big step. Is the cat coping with all the moving?
Pelle is fine, he sleeps in the box of winter coats. He weighs six kilos, the vet wants five.
Poor Pelle. Then we should talk about his food, too.
Another time. I have to run, the plumber comes at ten and the bank wants my signature for the loan of 9,000 euros.
All right, good luck with both. Talk soon!""".split("\n")

# content, type, subject, (message, quote) …, valid_from
DRAWN: tuple[tuple[str, str, str, tuple[tuple[int, str], ...], str], ...] = (
    ("Ilka starts at the harbour office on 18 May", "professional", PERSON, ((3, "now it is the 18th"),), "2026-05-18"),
    ("Ilka takes the number 7 tram to work", "activity", PERSON, ((5, "I'll take the number 7 tram"),), ""),
    ("Ilka sold her scooter", "activity", PERSON, ((5, "I sold the scooter last Friday"),), ""),
    ("Ilka lives in a flat on Quay Road with a balcony", "personal", PERSON, ((7, "The new place on Quay Road"),), ""),
    ("Jonte lives with Ilka", "personal", "Jonte", ((9, "Jonte moved in as well"),), ""),
    ("Jonte works nights at the bakery", "professional", "Jonte", ((9, "He works nights at the bakery"),), ""),
    ("Ilka's choir rehearses on Thursdays", "activity", PERSON, ((11, "Rehearsals are on Thursdays now"),), ""),
    ("Ilka's choir sings the Fauré Requiem on 12 June", "plan", PERSON, ((11, "on the 12th of June"),), "2026-06-12"),
    ("The concert of the choir is on 13 June", "plan", PERSON, ((11, "on the 13th"), (12, "Saturday the 13th")), "2026-06-13"),
    ("Maren has two boys, Emil and Ole", "personal", "Maren", ((13, "She has two boys by now, Emil and Ole"),), ""),
    ("Maren drives an ambulance in Flensburg", "professional", "Maren", ((13, "drives an ambulance in Flensburg"),), ""),
    ("Ilka isst immer noch keine Haselnüsse", "health", PERSON, ((15, "Immer noch keine Haselnüsse"),), ""),
    (
        "Ilka has drunk no coffee since March, only mint tea",
        "preference",
        PERSON,
        ((15, "I gave up coffee in March"),),
        "2026-03",
    ),
    ("Ilka would like to learn to sail", "plan", PERSON, ((17, "I'd like to learn to sail one day"),), ""),
    ("Ilka was born on 2 September", "personal", PERSON, ((19, "On the 2nd of September, I'll be 34"),), ""),
    ("Ilka has physio for her knee on Mondays at 8:30", "health", PERSON, ((21, "Mondays at half past eight"),), ""),
    ("Ilka passed the B1 exam in Norwegian in April", "activity", PERSON, ((23, "I passed the B1 exam in April"),), "2026-04"),
    ("Ilka read a novel by Vigdis Hjorth", "activity", PERSON, ((23, "by Vigdis Hjorth"),), ""),
    ("Ilka's cat Pelle weighs six kilos", "personal", PERSON, ((25, "He weighs six kilos"),), ""),
    ("Ilka takes a loan of 9,000 euros", "plan", PERSON, ((27, "the loan of 9,000 euros"),), ""),
)
JOB = "Ilka starts at the harbour office as a crane planner on 4 May"
STILL = "Ilka starts at the harbour office as a crane planner"
HOME = "Ilka lives in a flat in Marl Street with old heating"
NUTS = "Ilka is allergic to hazelnuts"
TUESDAYS = "Ilka's choir rehearses on Tuesdays"
CONCERT = "Ilka's choir sings the Fauré Requiem on 13 June"
# new content → relation, earlier content, merged, keep
VERDICTS: dict[str, tuple[str, str, str, str]] = {
    DRAWN[0][0]: ("update", JOB, "", STILL),
    DRAWN[3][0]: ("update", HOME, "", ""),
    DRAWN[6][0]: ("update", TUESDAYS, "", ""),
    DRAWN[8][0]: ("correction", DRAWN[7][0], CONCERT, ""),
    DRAWN[11][0]: ("duplicate", NUTS, "", ""),
}
THINGS = "lamp rug kettle clock mirror drum vase globe kite ladder".split()
PLACES = "Oslo Gdansk Porto Turku Ghent Bergen Cork Malmo Riga Bath".split()
FRIENDS = "Anke Boris Celia Dario Edda Finn Greta Hugo Ines Jarl".split()
KNOWN: tuple[tuple[str, str, str], ...] = (
    (JOB, "professional", "2026-05-04"),
    (HOME, "personal", ""),
    (NUTS, "health", ""),
    (TUESDAYS, "activity", ""),
    *((f"Ilka bought a {thing} for her hall in {place}", "activity", "") for thing in THINGS for place in PLACES),
    *((f"Ilka went to {place} with her friend {friend} by train", "activity", "") for place in PLACES for friend in FRIENDS),
)[:200]


def messages() -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text, "at": f"2026-04-20T08:{at:02}:00+00:00"} for at, text in enumerate(TURNS)]


def known(first: int, last: int) -> list[dict[str, Any]]:
    """Return a conversation that says some of the known facts."""
    return [{"role": "user", "content": content, "at": "2026-02-01T09:00:00+00:00"} for content, _, _ in KNOWN[first:last]]


def answered(seen: Seen) -> Any:
    """Answer as a capable model would, in well-formed JSON. A part with another first line is one of known facts."""
    task = seen.instructions.split("/")[0].removeprefix("task: ")
    if task == "relate":
        return {"relations": []}
    if task == "consolidate":
        return _compared(consolidate.read(seen.user_text))
    if task != "facts":
        return offline(seen)
    turns = facts.read(seen.user_text).turns
    if turns[0].text == TURNS[0]:
        return {"facts": [_fact(content, kind, whom, quotes, since) for content, kind, whom, quotes, since in DRAWN[::-1]]}
    dates = {content: (kind, since) for content, kind, since in KNOWN}
    return {"facts": [_fact(turn.text, *_known(turn.text, dates, turn.number)) for turn in turns]}


def _known(content: str, dates: dict[str, tuple[str, str]], number: int) -> tuple[str, str, tuple[tuple[int, str], ...], str]:
    kind, since = dates[content]
    return kind, PERSON, ((number, content),), since


def _fact(content: str, kind: str, whom: str, quotes: tuple[tuple[int, str], ...], since: str) -> dict[str, Any]:
    said = [{"message": message, "quote": quote} for message, quote in quotes]
    fact = {"content": content, "type": kind, "subject": whom, "entities": [], "quotes": said}
    return fact | {"confidence": 0.9, "valid_from": since, "valid_to": ""}


def _compared(comparison: consolidate.FactComparison) -> dict[str, Any]:
    labels = {fact.content: fact.label for fact in (*comparison.known, *comparison.new)}
    verdicts = []
    for fact in comparison.new:
        relation, earlier, merged, keep = VERDICTS.get(fact.content, ("none", "", "", ""))
        known = [labels[earlier]] if earlier in labels else []
        found = {"new": fact.label, "relation": relation if known else "none", "known": known}
        verdicts.append(found | {"merged": merged, "keep": keep, "sure": True, "why": "It was said so."})
    return {"verdicts": verdicts}
