"""Knowledge on the Sources page: listed like any source, searched, and filed on request."""

from __future__ import annotations

from app_pages import component, ended, numbers, opened, table, words
from memoir_engine import Memory

TEA = "Tea is grown in Uji. *The first* harvest begins in May. " * 20


def test_the_table_says_into_how_many_passages_each_source_is_cut(filled: Memory):
    known = filled.add_knowledge("tea", TEA)
    shown = table(opened("sources"), "Passages").set_index("Name")
    assert shown.loc["tea", "Passages"] == known.passages == 3
    assert (shown.loc["tea", "Status"], shown.loc["tea", "Chunks"]) == ("search only", 0)
    assert shown.loc["bakery.md", "Status"] == "active"
    assert shown.loc["bakery.md", "Passages"] > 0


def test_knowledge_is_shown_whole_with_the_way_into_the_tree(filled: Memory):
    known = filled.add_knowledge("tea", TEA)
    page = opened("sources", src=known.source_id)
    assert "Known as **tea**" in words(page)
    assert numbers(page)["Passages"] == "3"
    assert component(page, f"src-whole-{known.source_id}")["blocks"][0]["text"] == TEA


def test_it_is_filed_from_its_page_and_keeps_its_name(filled: Memory):
    known = filled.add_knowledge("tea", TEA)
    opened("sources", src=known.source_id).button(key="file-knowledge").click().run()
    (run,) = filled.jobs.list(limit=1, verbs=("ingest_text",))
    source = filled.sources.get(ended(filled, run.id).result["source_id"])
    assert (source.doc_id, source.version, source.status, source.replaces) == ("tea", 2, "filed", known.source_id)
    assert "Known as" not in words(opened("sources", src=source.id))
