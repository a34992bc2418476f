"""Facts put right in a real browser, by keys alone: one corrected, several ended, one corrected in a review."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app_browser import Served, Visit, becomes, ready
from app_review import Desk
from memoir_engine import FactView, Memory, sample_conversations

TALK = [
    {"role": "user", "content": "I live in Lyon with my sister Ada."},
    {"role": "user", "content": "I work as a cook at the harbour inn."},
]
LYON, COOK = "Lives in Lyon with their sister Ada", "Works as a cook at the harbour inn"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of a closed memory with what Mia said."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as made:
        made.remember(TALK, user_id="mia", session_id="harbour")
    return tmp_path / "memory"


def facts(folder: Path, user: str) -> dict[str, FactView]:
    with Memory(data_dir=folder, model="offline") as memory:
        return {one.content: one for one in memory.facts.list(user, limit=1_000)}


def pressed(page: Page, key: str, name: str) -> None:
    """Press a single key once the button that it stands for is there and the page is at rest."""
    expect(page.locator(f".st-key-{name} button").first).to_be_enabled()
    ready(page)
    page.keyboard.press(key)


def place(bar: Locator) -> tuple[int, int, int, int]:
    """Return where a bar stands, in whole pixels; one that is being drawn anew has no place for a moment."""
    box = None
    while box is None:
        expect(bar).to_be_visible()
        box = bar.bounding_box()
    return round(box["x"]), round(box["y"]), round(box["width"]), round(box["height"])


def undone(page: Page) -> None:
    """Undo what was just done, from its banner."""
    page.locator(".st-key-undo-ask button").first.press("Enter")
    page.locator(".st-key-undo-do button").first.press("Enter")
    expect(page.locator(".st-key-undo-do")).to_have_count(0)
    expect(page.locator(".st-key-undo-banner")).to_contain_text("active again")


@pytest.mark.req("TIMEM storage")
def test_a_fact_is_corrected_by_keys_and_the_correction_undone(folder: Path, served: Served, visit: Visit):
    page = visit(f"{served()}/facts?user=mia")
    page.set_viewport_size({"width": 1500, "height": 600})  # what is opened lies out of sight at first
    page.get_by_role("button", name=re.compile(f"^{LYON}")).press("Enter")
    expect(page.locator(".st-key-fact-panel")).to_contain_text("I live in Lyon with my sister Ada.")
    expect(page.locator(".st-key-fact-correct")).to_be_in_viewport()
    expect(page.locator("button.bar:focus")).to_be_in_viewport()
    pressed(page, "e", "fact-correct")
    words = page.get_by_role("textbox", name="Fact", exact=True)
    expect(words).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Lives in Bern with their sister Ada")
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-fact-effect")).to_contain_text("was never true")
    assert facts(folder, "mia")[LYON].status == "active"
    page.get_by_role("textbox", name="Reason").press_sequentially("misheard")
    pressed(page, "ControlOrMeta+Enter", "fact-edit-do")
    expect(page.locator(".st-key-fact-panel")).to_contain_text("stated by Rita on")
    right = facts(folder, "mia")
    assert (right[LYON].cause, right[LYON].reason) == ("corrected", "misheard")
    undone(page)
    assert facts(folder, "mia")[LYON].status == "active"


def test_several_facts_are_selected_and_ended_by_keys_with_one_undo(folder: Path, served: Served, visit: Visit):
    page = visit(f"{served()}/facts?user=mia")
    bars = page.locator("button.bar")
    bars.first.focus()
    page.keyboard.press("Space")
    expect(page.locator(".st-key-facts-selection")).to_contain_text("1 fact selected")
    expect(bars.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator(".st-key-facts-selection")).to_contain_text("2 facts selected")
    pressed(page, "d", "fact-retire")
    expect(page.get_by_role("textbox", name="When did it end")).to_be_focused()
    expect(page.locator(".st-key-fact-effect")).to_contain_text("2 facts end now")
    pressed(page, "ControlOrMeta+Enter", "fact-edit-do")
    expect(page.locator("button.bar.outdated")).to_have_count(2)
    assert {one.cause for one in facts(folder, "mia").values()} == {"retired"}
    undone(page)
    assert {one.status for one in facts(folder, "mia").values()} == {"active"}


def test_several_facts_are_forgotten_by_keys_and_nothing_moves_while_they_are_selected(
    folder: Path, served: Served, visit: Visit
):
    page = visit(f"{served()}/facts?user=mia")
    bars = page.locator("button.bar")
    bars.first.focus()
    before = place(bars.first)
    page.keyboard.press("Space")
    expect(page.locator(".st-key-facts-selection")).to_contain_text("1 fact selected")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator(".st-key-facts-selection")).to_contain_text("2 facts selected")
    becomes(lambda: place(bars.first), before)
    pressed(page, "f", "fact-forget")
    expect(page.locator(".st-key-fact-effect")).to_contain_text("Erased from: 2 facts, 2 messages")
    expect(page.get_by_role("textbox", name="Reason")).to_be_focused()
    page.keyboard.press("ControlOrMeta+Enter")  # not without a reason
    page.keyboard.type("She asked for it")
    page.keyboard.press("Tab")
    assert len(facts(folder, "mia")) == 2
    pressed(page, "ControlOrMeta+Enter", "fact-edit-do")
    expect(page.get_by_text("No facts yet")).to_be_visible()
    assert facts(folder, "mia") == {}


def test_a_fact_is_added_and_its_expiry_set_by_keys(folder: Path, served: Served, visit: Visit):
    page = visit(f"{served()}/facts?user=mia")
    expect(page.locator("button.bar").first).to_be_visible()
    pressed(page, "n", "facts-add")
    expect(page.get_by_role("textbox", name="Fact", exact=True)).to_be_focused()
    page.keyboard.type("Is allergic to nuts")
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-fact-effect")).to_contain_text("Nothing known is similar")
    pressed(page, "ControlOrMeta+Enter", "fact-edit-do")
    expect(page.locator(".st-key-fact-panel")).to_contain_text("stated by Rita on")
    pressed(page, "x", "fact-expire")
    page.get_by_role("radio", name="In a month").or_(page.get_by_role("button", name="In a month")).first.press("Enter")
    expect(page.locator(".st-key-fact-effect")).to_contain_text("It is active until")
    expect(page.get_by_role("textbox", name="Reason")).to_be_focused()
    pressed(page, "ControlOrMeta+Enter", "fact-edit-do")
    expect(page.locator(".bar .future")).to_have_count(1)
    assert facts(folder, "mia")["Is allergic to nuts"].expires_at is not None


def test_a_proposal_is_decided_with_the_right_words_by_keys(tmp_path: Path, served: Served, visit: Visit):
    folder = tmp_path / "memory"
    with Memory(data_dir=folder, model="offline") as made:
        for talk in sample_conversations():
            made.remember(talk.messages, user_id=talk.user, session_id=talk.session_id)
        waiting = made.facts.proposals()[0]
    desk = Desk(visit(f"{served()}/review?of=facts"))
    desk.ready()
    desk.press("e")
    field = desk.page.locator(".right textarea")
    expect(field).to_be_focused()
    field.fill("Works from the dam office since May")
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(".act.approve")).to_contain_text("Yes, with this text")
    desk.press("a")
    desk.saved()
    known = facts(folder, str(waiting.user_id))
    assert known["Works from the dam office since May"].status == "active"
    assert known[waiting.new.content].cause == "corrected"
    assert known[waiting.old[0].content].superseded_by == known["Works from the dam office since May"].id
