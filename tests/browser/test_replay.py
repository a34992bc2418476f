"""The replay of an answer: by keyboard at its own link, and as a file opened from the disk without a server."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import fake_openai as fake
from app_browser import PATIENCE_MS, Served, Visit
from benchmarks import typeset as t
from memoir_engine import Memory

RELEASED = "Version 3.10 of the language was released on 4 October 2021."
QUESTION = "When was version 3.10 released?"
Held = tuple[fake.FakeOpenAI, threading.Event]
STORY = [t.Set(t.prose(seed, 90), t.INDENTED) for seed in range(4)] + [t.Set(RELEASED, t.INDENTED)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(data_dir=tmp_path / "memory", model="offline") as opened:
        opened.load_samples()
        opened.ingest_file(t.typeset(STORY, foot=str), name="calendar.pdf").raise_for_error()
        yield opened


@pytest.fixture
def run(memory: Memory) -> str:
    return memory.query(QUESTION).raise_for_error().run_id


def told(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until the live line says it."""
    expect(page.locator(".replay").get_by_role("status")).to_contain_text(text)


def test_an_answer_is_replayed_by_keyboard_at_its_own_link(served: Served, visit: Visit, run: str):
    page = visit(f"{served()}/ask?run={run}")
    page.get_by_role("button", name="Replay", exact=True).press("Enter")
    expect(page).to_have_url(re.compile(rf"\?run={run}&replay=1$"))
    player = page.get_by_role("region", name="Replay of an answer")
    expect(player).to_be_focused(timeout=PATIENCE_MS)
    expect(player).to_have_attribute("data-state", "playing")
    page.keyboard.press("Space")
    expect(player).to_have_attribute("data-state", "paused")
    page.keyboard.press("Home")
    told(page, f"The question: {QUESTION}")
    page.keyboard.press("ArrowRight")
    told(page, re.compile(r"Level 1\. Chosen: .+ Passed over: .+"))
    expect(page.locator(".column.now li.on").first).to_be_visible()
    expect(page.locator(".column.now li.off").first).to_have_css("opacity", "0.6")
    page.keyboard.press("End")
    told(page, f"The answer: {RELEASED} [1]")
    expect(page.locator(".reply .text")).to_contain_text(RELEASED)
    page.keyboard.press("ArrowLeft")
    told(page, f"Evidence 1, from calendar.pdf, page 1: {RELEASED}")
    picture = page.locator(".proof.now img")
    expect(picture).to_be_visible(timeout=PATIENCE_MS)
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 900
    page.keyboard.press("ArrowRight")
    page.locator(".reply").get_by_role("button", name="Show evidence 1").press("Enter")
    told(page, "Evidence 1, from calendar.pdf")
    page.get_by_role("button", name="To the answer").press("Enter")
    expect(page.locator(".st-key-answer")).to_contain_text(RELEASED, timeout=PATIENCE_MS)


def test_it_plays_to_its_end_by_itself_and_can_be_played_again(served: Served, visit: Visit, run: str):
    page = visit(f"{served()}/ask?run={run}&replay=1")
    player = page.locator(".replay")
    speed = page.get_by_role("combobox", name="Speed")
    expect(speed).to_have_value("1")  # it is drawn, and takes keys
    page.keyboard.press("+")
    expect(speed).to_have_value("2")
    page.keyboard.press("+")
    expect(speed).to_have_value("4")
    expect(player).to_have_attribute("data-state", "over")
    expect(page.locator(".piece.unwritten")).to_have_count(0)
    page.get_by_role("button", name="Play again").last.click()
    expect(player).to_have_attribute("data-state", "playing")


def test_where_motion_is_not_wanted_it_waits_and_nothing_moves(served: Served, chromium: Browser, run: str):
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{served()}/ask?run={run}&replay=1")
    player = page.locator(".replay")
    expect(player).to_have_attribute("data-state", "paused", timeout=PATIENCE_MS)
    expect(player).to_have_attribute("data-step", "1")
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "2")
    moving = "box => box.getAnimations({ subtree: true }).filter(each => each.playState === 'running').length"
    assert player.evaluate(moving) == 0
    context.close()


def test_a_question_that_is_still_being_answered_has_no_replay_yet(memory: Memory, served: Served, visit: Visit, held: Held):
    server, gate = held
    page = visit(f"{served(MEMOIR_MODEL='held', OPENAI_BASE_URL=server.url)}/ask?q=When")
    page.locator(".st-key-ask-go button").click()
    expect(page).to_have_url(re.compile(r"\?run=\w+$"), timeout=PATIENCE_MS)
    page.goto(f"{page.url}&replay=1")
    expect(page.get_by_text("This question has not ended yet")).to_be_visible(timeout=PATIENCE_MS)
    gate.set()


@pytest.fixture
def file(memory: Memory, run: str, tmp_path: Path) -> Path:
    path = tmp_path / "replay.html"
    path.write_text(memory.reports.replay(run).html, encoding="utf-8")
    return path


def test_the_file_plays_from_the_disk_without_a_server_and_loads_nothing(chromium: Browser, file: Path):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, offline=True)
    page, problems, asked = context.new_page(), list[str](), list[str]()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: asked.append(request.url.split(":")[0]))
    page.goto(file.as_uri())
    player = page.get_by_role("region", name="Replay of an answer")
    expect(player).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("End")
    told(page, f"The answer: {RELEASED} [1]")
    page.keyboard.press("ArrowLeft")
    told(page, f"Evidence 1, from calendar.pdf, page 1: {RELEASED}")
    shown = page.locator(".proof.now img")
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") > 900
    assert shown.get_attribute("alt") == "Page 1 of calendar.pdf, with the cited words marked"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (problems, set(asked) - {"file", "data"}) == ([], set())
    context.close()
