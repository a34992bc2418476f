"""Reports are deterministic, contain no live markup of others, and name what stays the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from memoir_engine.audit.report_page import STYLE, page
from memoir_engine.audit.reports import REPORT_FORMAT, as_json, digest, record
from told_report import HOSTILE, told

TAGS = set(
    "html head meta title style body main header h1 h2 h3 p span section dl dt dd blockquote article pre table thead tbody tr th "
    "td b br ul li footer time bdi".split()
)


class Seen(HTMLParser):
    """Elements with their attributes, and the text between, as a browser parses them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_comes_alive(text: str) -> None:
    seen = Seen(page(record(told(text))))
    assert {tag for tag, _ in seen.tags} <= TAGS
    assert {name for _, attributes in seen.tags for name in attributes} <= {
        *("lang", "charset", "http-equiv", "content", "name", "class", "scope", "datetime")
    }


def test_characters_of_every_text_are_the_same_to_the_eye() -> None:
    text = "&lt;b&gt; & é <bdi> \"quoted\" 'too'"
    assert Seen(page(record(told(text)))).text.count(text) > 20


def test_marks_of_direction_end_with_their_text_and_control_characters_are_shown() -> None:
    shown = page(record(told("\u202eevil\x00")))
    assert "\x00" not in shown
    assert "\u202e" not in shown


def test_nothing_is_loaded_from_anywhere() -> None:
    shown = page(record(told("plain")))
    assert not re.search(r"https?:|url\(|@import|src=|href=|<script", shown)
    allowed = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    assert f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{allowed}'" in shown
    assert f"<style>{STYLE}</style>" in shown


def test_the_page_says_what_the_json_says() -> None:
    made = record(told("plain words"))
    text = Seen(page(made)).text
    assert made["digest"] in text
    assert made["head"]["hash"] in text
    assert "3 more chunks are not in this report" in text
    assert "2 more actions are not in this report" in text


def test_the_digest_covers_everything_but_itself() -> None:
    made = json.loads(as_json(record(told("plain"))))
    assert digest(made) == made["digest"]
    made["chunks"][0]["text"] = "forged"
    assert digest(made) != made["digest"]


NAMES = {
    "": {
        *("format", "kind", "title", "made_by", "made_at", "head", "facts", "helpers", "categories", "chunks", "answer", "runs"),
        *("sign_offs", "actions", "left_out", "digest"),
    },
    "helpers": {"version", "origin", "in_force", "text", "tokens", "written_at"},
    "categories": {"id", "path", "level", "chunks"},
    "chunks": {"id", "source", "number", "span", "tokens", "category", "path", "text", "review", "decisions"},
    "runs": {
        *("id", "verb", "actor", "status", "started_at", "ended_at", "tree_event", "request", "error", "tokens_prompt"),
        *("tokens_completion", "latency_ms", "cost", "warnings", "calls", "decisions"),
    },
    "sign_offs": {
        *("event", "subject", "subject_id", "title", "signer", "at", "statement", "chunks", "reviewed", "categories", "digest"),
        *("state", "ended_by"),
    },
    "actions": {"action", "at", "actor", "verb", "says", "reason", "run", "undoes", "undone_by", "changes"},
}


@pytest.mark.parametrize("part", NAMES)
def test_names_of_the_json_stay(part: str) -> None:
    made = record(told("plain"))
    assert made["format"] == REPORT_FORMAT == "memoir-report/1"
    assert set(made[part][0] if part else made) >= NAMES[part]


def test_names_of_decisions_calls_and_answers_stay() -> None:
    made = record(told("plain"))
    assert set(made["chunks"][0]["decisions"][0]) >= {
        "level",
        "under",
        "chosen",
        "rejected",
        "decided_by",
        "attempts",
        "call",
        "note",
    }
    assert set(made["runs"][0]["calls"][0]) >= {
        "purpose",
        "model",
        "prompt_version",
        "latency_ms",
        "tokens_prompt",
        "cost",
        "attempt",
    }
    assert set(made["answer"]) >= {"question", "text", "as_of_event", "read", "dropped", "safety_net"}
    assert made["answer"]["read"][0]["quotes"] == [{"span": [0, 4], "text": "plai"}]


def test_what_lost_stands_by_its_nearness() -> None:
    (decision,) = record(told("plain"))["chunks"][0]["decisions"]
    assert [(one["category"], one["second_opinion"]) for one in decision["rejected"]] == [(2, 0.5), (3, None)]
    assert [(one["category"], one["rank"]) for one in decision["chosen"]] == [(1, 1)]
