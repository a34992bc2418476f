"""A citation of a PDF: the page as it looks, its address, its pages; and the path on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import PATIENCE_MS, Served, Visit, becomes, ready
from benchmarks import typeset as t
from memoir_engine import Memory

ANSWER = "Version 3.10 of the language was released on 4 October 2021."
QUESTION = "When was version 3.10 released?"
ROWS = [["Version", "Released"], ["3.9", "5 October 2020"], ["3.10", "4 October 2021"], ["3.11", "24 October 2022"]]
BRANCHING = "How cold is Lake Tern in May, and how many water birds winter on it?"
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
OUTSIDE = "node => node.getBoundingClientRect().right > innerWidth"
CUT = "node => node.scrollWidth > node.clientWidth"
LEFTMOST = "marks => Math.min(...marks.filter(mark => !mark.hidden).map(mark => mark.getBoundingClientRect().left))"


@pytest.fixture
def run(tmp_path: Path) -> str:
    """Ask about a PDF of two pages in the test's own memory; return the question's run."""
    story = [t.Set(t.prose(seed, 90), t.INDENTED) for seed in range(8)]
    story += [t.Set("Releases", t.HEAD), t.Set(ANSWER, t.INDENTED), t.Table(ROWS, style=t.GRID)]
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_file(t.typeset(story, foot=str), name="calendar.pdf").raise_for_error()
        result = memory.query(QUESTION).raise_for_error()
        cited = next(used for used in result.used_chunks if used.cited)
        memory.acting_as("Mia", roles=["auditor"]).review.approve(memory.review.of_chunk(cited.chunk_id).key)
        return result.run_id


def picture(page: Page) -> str:
    """Return the description of the picture once it is drawn."""
    shown = page.locator(".page img")
    expect(shown).to_be_visible(timeout=PATIENCE_MS)
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") > 1_000
    return shown.get_attribute("alt") or ""


def test_a_citation_opens_the_page_with_its_words_marked_and_has_an_address(served: Served, visit: Visit, run: str):
    url = served()
    page = visit(f"{url}/ask?run={run}")
    page.locator(".text .cite").first.press("Enter")
    assert picture(page) == "Page 2 of 2 of calendar.pdf, with the cited words marked"
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("approved by Mia")
    expect(drawer.locator("mark.quote")).to_contain_text("released on 4 October 2021")
    expect(drawer.get_by_role("columnheader", name="Released")).to_be_attached()
    expect(page).to_have_url(re.compile(rf"\?run={run}&cite=1$"))

    again = visit(page.url)
    assert picture(again) == "Page 2 of 2 of calendar.pdf, with the cited words marked"
    again.get_by_role("button", name="Previous").click()
    expect(again.locator(".page img")).to_have_attribute("alt", "Page 1 of 2 of calendar.pdf")
    again.get_by_role("button", name="Back to the marked page").click()
    expect(again.locator(".page img")).to_have_attribute("alt", re.compile("words marked"))

    page.get_by_role("button", name="Close").click()
    expect(page).to_have_url(re.compile(rf"\?run={run}$"))
    page.go_back()
    expect(page.get_by_role("dialog")).to_be_visible(timeout=PATIENCE_MS)
    ready(page)
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.fixture
def sampled(tmp_path: Path) -> str:
    """Ask the samples what takes two branches to answer; return the question's run."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.load_samples()
        return memory.query(BRANCHING).raise_for_error().run_id


def test_the_path_is_in_view_and_on_a_phone_says_where_it_goes_on(served: Served, visit: Visit, sampled: str):
    page = visit(f"{served()}/ask?run={sampled}")
    page.set_viewport_size(WIDE)
    expect(page.locator("[class*=st-key-path] .card").first).to_be_in_viewport()
    hint = page.get_by_text("Scroll sideways to follow the whole path")
    expect(hint).to_be_hidden()
    page.set_viewport_size(PHONE)
    expect(hint).to_be_visible()
    path = page.get_by_role("region", name="Decision path, level by level")
    last = path.get_by_role("listitem", name="Evidence").get_by_role("button").first
    becomes(lambda: last.evaluate(OUTSIDE), True)
    path.evaluate("path => path.scrollTo({left: path.scrollWidth})")
    becomes(lambda: last.evaluate(OUTSIDE), False)


def test_on_a_phone_a_linked_chunk_a_cited_source_and_the_years_of_facts_are_seen_whole(
    served: Served, visit: Visit, run: str, tmp_path: Path
):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        chunk = memory.review.queue(state="approved").items[0].chunk_id
        for content, since in (("Lives in Bergen", "2024-01-05"), ("Works at the harbour", "2025-03-01")):
            memory.facts.add(content, "mia", valid_from=since)
    url = served()
    page = visit(f"{url}/ask?run={run}")
    page.set_viewport_size(PHONE)
    told = page.locator(".source .told")
    expect(told).to_contain_text("calendar.pdf")
    becomes(lambda: told.evaluate(CUT), False)
    page.goto(f"{url}/tree?chunk={chunk}")
    expect(page.locator(".st-key-tree-linked mark, .st-key-tree-linked .focus").first).to_be_in_viewport(timeout=PATIENCE_MS)
    page.goto(f"{url}/facts?user=mia")
    expect(page.locator(".timeline .tick:visible").first).to_be_visible(timeout=PATIENCE_MS)
    becomes(lambda: page.locator(".timeline .tick").evaluate_all(LEFTMOST) >= 0, True)


def test_code_in_a_text_is_drawn_as_code_in_the_tree_and_in_review(served: Served, visit: Visit, tmp_path: Path):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        text = (
            "## Setup\n\nThe server starts so:\n```sh\n# once\nmake run\n```\nThen open the page and look at it. "
            + "It shows a list. " * 40
        )
        memory.ingest_text(text, name="setup.md").raise_for_error()
        chunk = memory.review.queue().items[0].chunk_id
    url = served()
    page = visit(f"{url}/tree?chunk={chunk}")
    for address in (f"tree?chunk={chunk}", "review"):
        page.goto(f"{url}/{address}")
        expect(page.locator("pre code")).to_have_text("# once\nmake run", timeout=PATIENCE_MS)
        expect(page.get_by_text("```")).to_have_count(0)


def test_asking_is_one_line_and_its_options_stay_through_a_refresh(served: Served, visit: Visit, sampled: str):
    page = visit(f"{served()}/ask")
    strategy = page.get_by_role("radio", name="Zoom in")
    expect(strategy).to_be_hidden()
    page.get_by_text("Options", exact=True).click()
    strategy.click()
    expect(page.get_by_text("Changed: Zoom in")).to_be_visible(timeout=PATIENCE_MS)
    expect(page).to_have_url(re.compile(r"/ask\?a_strategy=zoom_in$"))
    page.reload()
    expect(page.get_by_text("Changed: Zoom in")).to_be_visible(timeout=PATIENCE_MS)
    question = page.get_by_role("textbox", name="Question")
    question.fill(BRANCHING)
    question.press("Enter")
    expect(page).to_have_url(re.compile(r"/ask\?run=\w+$"), timeout=PATIENCE_MS)
    answer = page.locator(".st-key-answer")
    expect(answer).to_contain_text("nine degrees", timeout=PATIENCE_MS)
    page.reload()
    expect(answer).to_contain_text("nine degrees", timeout=PATIENCE_MS)
    expect(page.locator("[data-testid=stMainBlockContainer]")).to_contain_text("Zoom in · ")
    page.go_back()
    expect(question).to_be_visible(timeout=PATIENCE_MS)


def test_a_mark_that_turns_the_writing_turns_no_citation_and_no_name(served: Served, visit: Visit, tmp_path: Path):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text("The tea harvest begins \u202ein May. " * 30, name="\u202egpj.exe.txt").raise_for_error()
        run_id = memory.query("When does the tea harvest begin?").raise_for_error().run_id
    url = served()
    page = visit(f"{url}/ask?run={run_id}")
    turned, number = page.locator(".answer .text bdi").first, page.locator(".answer .text .cite").first
    expect(turned).to_be_visible(timeout=PATIENCE_MS)
    left, right = turned.bounding_box(), number.bounding_box()
    assert left is not None and right is not None
    assert abs(left["y"] - right["y"]) < 10 and right["x"] >= left["x"] + left["width"] - 1, (
        "the citation stands behind its words"
    )
    expect(page.locator(".answer .source")).to_contain_text("[U+202E]gpj.exe.txt")
    expect(visit(f"{url}/sources?src=1").get_by_role("heading", level=1)).to_contain_text("[U+202E]gpj.exe.txt")
