"""Palette: find anything by its name and do what one may, from every page, by keyboard alone.

Invariant: it leads to addresses that every page has anyway, and does nothing that a page would not let this viewer do: a verb
whose role is missing is not offered, and its page would refuse it. What the browser sends is a kind and an id, looked up again.
Source: docs/decisions/0108-things-are-found-by-name-in-sql.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from memoir_engine import MemoirError, Memory, NameMatch
from ui import ask_box, event_words, figures, language, language_switch, presenting, problems, setting_groups
from ui.components import palette
from ui.wording import texts as wording
from ui.wording_facts import texts as fact_words
from ui.wording_palette import texts
from ui.wording_sources import texts as source_words

KEY = "palette"
OF_EACH = 5  # results of a kind
OF_VERB = "verb-"  # before the verb, in the id of an item that stands for all actions of a kind
NAME_CHARS = 140
VERBS = {  # the role that each needs, and where it leads
    "add": ("viewer", "sources", {}),
    "bring": ("viewer", "conversations", {"bring": "1"}),
    "decide": ("auditor", "review", {}),
    "undo": ("auditor", "activity", {}),
    "verify": ("viewer", "activity", {}),
    "model": ("admin", "settings", {"group": "model"}),
    "backup": ("admin", "settings", {"group": "storage"}),
    "roles": ("admin", "people", {"show": "accounts"}),
}
_COUNT = "palette-n"  # of this tab's answers
Target = tuple[str, dict[str, str]]  # a page, and the parameters of its address


@st.fragment
def show(memory: Memory) -> None:
    """Draw the button; answer what is typed, and go where a choice leads."""
    typed = palette.typed(KEY)
    chosen = palette.show(_data(memory, typed), key=KEY)
    if chosen is not None:
        with problems.noted():
            _go(memory, chosen["kind"], chosen["id"], chosen["text"].strip())


def _data(memory: Memory, typed: str | None) -> dict[str, Any]:
    if typed:
        st.session_state[_COUNT] = int(st.session_state.get(_COUNT, 0)) + 1
    return {
        "own": [*_verbs(memory), *_pages()],
        "say": [_item("verb", "ask", texts.ASK), _item("verb", "search", texts.SEARCH)],
        "found": {"n": int(st.session_state.get(_COUNT, 0)), **_found(memory, typed)},
        "words": {
            "open": texts.OPEN,
            "field": texts.FIELD,
            "keys": texts.KEYS,
            "close": texts.CLOSE,
            "key": texts.KEY,
            "nothing": texts.NOTHING,
            "waiting": texts.WAITING,
            "result": texts.RESULTS.form(1).format(count="{n}"),
            "results": texts.RESULTS.form(2).format(count="{n}"),
            "groups": texts.GROUPS,
        },
    }


def _item(kind: str, number: str, name: str, about: str = "", also: str = "") -> dict[str, str]:
    return {"kind": kind, "id": number, "name": name, "about": about, "also": also}


def _verbs(memory: Memory) -> list[dict[str, str]]:
    may = [name for name, (role, _, _) in VERBS.items() if role in memory.actor.roles]
    items = [_item("verb", name, texts.VERBS[name], texts.ABOUT[name]) for name in (*may, "present")]
    others = [(code, name) for code, name in language.SPOKEN.items() if code != language.current()]
    return items + [
        _item("verb", f"speak-{code}", texts.SPEAK.format(language=name), also=wording.LANGUAGE) for code, name in others
    ]


def _pages() -> list[dict[str, str]]:
    return [_item("page", name, title, wording.PAGE_HELP[name], name) for name, title in wording.PAGES.items()]


def _found(memory: Memory, typed: str | None) -> dict[str, Any]:
    """Return what the engine finds for the words, and the settings whose words in this language hold them."""
    if not typed:
        return {"text": "", "items": []}
    kinds = [kind for kind in texts.GROUPS if kind not in ("verb", "page", "setting")]
    try:
        matches = memory.find(typed, limit=OF_EACH, kinds=kinds)
        settings = setting_groups.matching(memory.settings(), typed)[:OF_EACH]
    except MemoirError as error:
        return {"text": typed, "items": [], "problem": texts.FAILED.format(problem=error)}
    items = [_item(one.kind, one.id, figures.one_line(_name(one), NAME_CHARS), _about(one)) for one in matches]
    items += _done(memory, typed)[:OF_EACH]
    items += [_item("setting", one.name, one.name, setting_groups.about(one)) for one in settings]
    return {"text": typed, "items": items}


def _done(memory: Memory, typed: str) -> list[dict[str, str]]:
    """Return kinds of actions by what this language calls them: Activity lists those of a kind."""
    words = typed.casefold().split()
    named = ((verb, event_words.verb(verb)) for verb in memory.audit.verbs())
    return [
        _item("action", OF_VERB + verb, name, texts.EVERY)
        for verb, name in named
        if all(word in name.casefold() for word in words)
    ]


def _name(match: NameMatch) -> str:
    if match.kind == "action":
        return event_words.verb(match.verb)
    return wording.RUNS.get(match.verb, match.name) if match.name == match.verb else match.name


def _about(match: NameMatch) -> str:
    """Return what stands beside a name, in the language of this session."""
    words: dict[str, Callable[[], str]] = {
        "source": lambda: source_words.SOURCE_STATUS.get(match.about, match.about),
        "fact": lambda: " · ".join(filter(None, (match.owner, fact_words.STATUSES.get(match.about, match.about)))),
        "person": lambda: "",
        "actor": lambda: texts.OF_ACTOR,
        "run": lambda: wording.STATUS.get(match.about, match.about),
    }
    return figures.one_line(words.get(match.kind, lambda: match.about)(), NAME_CHARS)


def _go(memory: Memory, kind: str, number: str, text: str) -> None:
    """Lead to the address of what was chosen, or do it."""
    if kind == "verb":
        _do(memory, number, text)
        return
    simple: dict[str, Target] = {
        "page": (number, {}),
        "source": ("sources", {"src": number}),
        "category": ("tree", {"cat": number}),
        "person": ("people", {"user": number}),
        "actor": ("activity", {"who": number}),
        "action": ("activity", {"what": number.removeprefix(OF_VERB)} if number.startswith(OF_VERB) else {"action": number}),
        "setting": ("settings", {"q": number}),
    }
    if kind == "fact":
        _open("facts", {"user": memory.facts.get(number).user_id or "", "fact": number})
    elif kind == "run":
        _open(*_of_run(memory, number))
    elif kind in simple and (kind != "page" or number in wording.PAGES):
        _open(*simple[kind])


def _of_run(memory: Memory, run_id: str) -> Target:
    run = memory.runs.get(run_id).run
    source = run.result.get("source_id")
    if run.verb == "query":
        return "ask", {"run": run_id}
    return ("sources", {"src": str(source)}) if isinstance(source, int) else ("activity", {"run": run_id, "all": "1"})


def _do(memory: Memory, verb: str, text: str) -> None:
    code = verb.removeprefix("speak-")
    if verb == "ask" and text:
        ask_box.ask(memory, text)
    elif verb == "search" and text:
        _open("search", {"q": text})
    elif verb == "present":
        presenting.turn(on=not presenting.is_on())
        st.rerun(scope="app")
    elif code in language.SPOKEN:
        language_switch.choose(code)
        st.rerun(scope="app")
    elif verb == "undo":
        _undo(memory)
    elif verb in VERBS and VERBS[verb][0] in memory.actor.roles:
        _open(*VERBS[verb][1:])


def _undo(memory: Memory) -> None:
    """Lead to the last action of the viewer that stands, where its undo is previewed."""
    mine = memory.audit.actions(limit=20, actor=memory.actor.name, but=("close", "converse", "undo"))
    last = next((action for action in mine if action.undone_by is None), None)
    if last is None:
        st.toast(texts.NO_UNDO, icon=":material/info:")
    else:
        _open("activity", {"action": last.action_id})


def _open(page: str, query: dict[str, str]) -> None:
    st.switch_page(f"../pages/{page}.py", query_params=query)
