"""The audit page: each of the five kinds drawn at its address, chosen by hand, and its files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app_pages import opened, words
from memoir_engine import Memory

HOSTILE = "<img src=x onerror=alert(1)>"


def address(memory: Memory, kind: str) -> dict[str, str | int]:
    today = datetime.now(UTC).date()
    return {
        "source": {"of": "source", "id": 1},
        "category": {"of": "category", "id": memory.tree.roots()[0].id},
        "person": {"of": "person", "name": "local"},
        "period": {"of": "period", "from": str(today - timedelta(days=2)), "to": str(today + timedelta(days=1))},
        "answer": {"of": "answer", "id": memory.runs.list(verb="query")[0].id},
    }[kind]


@pytest.mark.parametrize("kind", ["source", "category", "person", "period", "answer"])
def test_each_kind_is_drawn_at_its_address_with_its_files(filled: Memory, kind: str):
    filled.query("When is bread baked?").raise_for_error()
    page = opened("audit", **address(filled, kind))
    assert not page.exception and not page.error
    body = next(one.proto.body for one in page.get("html") if "memoir-report" in one.proto.body)
    assert "What stands" in body and filled.audit.head().hash in body
    assert {f"audit-{form}" for form in ("html", "pdf", "json")} <= {one.key for one in page.get("download_button")}


def test_what_it_is_about_is_chosen(filled: Memory):
    page = opened("audit")
    page.selectbox(key="audit-of-source").set_value(1).run()
    page.button(key="audit-show-source").click().run()
    assert (page.query_params["of"], page.query_params["id"]) == ("source", "1")
    page.button(key="audit-other").click().run()
    page.query_params["of"] = "period"
    page.run()
    page.button(key="audit-show-period").click().run()
    assert not page.exception and "from" in page.query_params


def test_an_address_that_names_nothing_is_told_plainly(filled: Memory):
    assert "There is no source 99" in words(opened("audit", of="source", id=99))
    assert "There is no run" in words(opened("audit", of="answer", id="a" * 26))
    for odd in ({"of": "x"}, {"of": "source", "id": "x"}, {"of": "period", "from": "soon", "to": "later"}, {"of": "person"}):
        assert not opened("audit", **odd).exception


def test_texts_of_others_are_no_markup(filled: Memory):
    filled.ingest_text(f"Bread is {HOSTILE} baked on Tuesdays. " * 20, name=HOSTILE).raise_for_error()
    page = opened("audit", of="source", id=filled.sources.by_name(HOSTILE)[0].id)
    body = next(one.proto.body for one in page.get("html") if "memoir-report" in one.proto.body)
    assert "&lt;img" in body and "<img" not in body
