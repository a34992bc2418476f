"""Reports are deterministic, contain no live markup of others, and name what stays the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from memoir_engine.audit.report_page import STYLE, page
from memoir_engine.audit.reports import (
    REPORT_FORMAT,
    ChunkReview,
    ReportContent,
    ReportedChunk,
    ReportedRun,
    as_json,
    digest,
    record,
)
from memoir_engine.core.results import (
    Action,
    AuditHead,
    Call,
    Category,
    Change,
    Chunk,
    Decision,
    DroppedPath,
    Helper,
    Option,
    QueryResult,
    RunView,
    SignOff,
    UsedChunk,
)

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><iframe src="https://evil.example"></iframe>',
    "' onmouseover='alert(1)",
    "</style><style>@import url(https://evil.example)</style>",
    "<meta http-equiv=refresh content=0;url=https://evil.example>",
    "</pre><a href=javascript:alert(1)>x</a>",
    "<!-- --><base href=//evil.example>",
    "\u202eevil\u2066\x00\x1b[31m",
    "&lt;b&gt; &amp; & é <bdi>",
)
TAGS = set(
    "html head meta title style body main header h1 h2 h3 p span section dl dt dd blockquote article pre table thead tbody tr th "
    "td b br ul li footer time bdi".split()
)


def told(text: str) -> ReportContent:
    """Build a report in which every text is this one."""
    action = Action("a" * 26, "refile", text, AT, text, None, None, "b" * 26, (), (Change("", text, text, text),), text)
    options = (Option(1, text, 0.75, 1), Option(2, text, 0.5), Option(3, text, None))
    decision = Decision(1, "r", 9, 3, 1, None, (text,), options, (1,), text, True, 2, text)
    chunk = Chunk(3, 1, 0, 5, 9, text, 4, AT, 7, (text, text), text)
    call = Call(9, "r", text, text, text, text, "native", {"k": text}, 2, AT, 1.5, 10, 5, True, None, text, 8)
    run = RunView("r", text, text, None, "done", AT, AT, None, 5, {text: text}, {}, text, text, 1, 0, 10, 5, 0.25, 1.5)
    used = UsedChunk(3, (text,), 1, 1, 5, 9, ((0, 4),), True)
    answer = QueryResult(
        "success", "r", text, text, (chunk,), (used,), (DroppedPath((text,), (1,), text, 2),), net=(chunk,), warnings=(text,)
    )
    return ReportContent(
        kind="source",
        title=text,
        by=text,
        at=AT,
        head=AuditHead(5, "f" * 64, AT),
        facts=((text, text),),
        helpers=(Helper(1, 1, "user", text, 4, None, None, None, AT),),
        categories=(Category(7, text, 1, None, (text,), 1, 0, True, 1),),
        chunks=(
            ReportedChunk(chunk, (decision,), ChunkReview(text, text, AT)),
            ReportedChunk(Chunk(4, 1, 1, 9, 12, text, 4, AT)),
        ),
        answer=answer,
        texts={1: text},
        runs=(ReportedRun(run, (call,), (decision,)),),
        sign_offs=(SignOff(5, "a" * 26, "source", 1, text, text, AT, text, "d" * 64, 1, 1, 1, "void", action),),
        actions=(action,),
        left_out={"chunks": 3, "actions": 2},
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
