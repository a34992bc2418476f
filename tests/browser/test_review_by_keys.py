"""Reviewing in a real browser, by keys alone: every decision is done, none twice, whatever happens in between."""

from __future__ import annotations

import re
import signal
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import expect

from app_browser import Served, Visit, ready
from app_review import PATIENCE_MS, Desk, every_item, fill, opened, verdicts
from memoir_engine import sample_conversations

STATES = {"a": "approved", "x": "rejected", "s": "skipped"}
TEN_TIMES = """([key, repeat]) => {
  for (let hit = 0; hit < 10; hit++)
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, repeat, bubbles: true, composed: true }));
}"""


LEAVES = """() => {
  document.querySelector("[data-testid=stSidebarNavLink][href$=settings]").click();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, composed: true }));
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def test_thirty_items_are_decided_by_keys_alone(folder: Path, served: Served, visit: Visit):
    fill(folder, 36)
    desk = Desk(visit(f"{served()}/settings"))
    desk.page.locator("[data-testid=stSidebarNavLink][href$=review]").click()
    pressed = {desk.decide(key): key for key in ("a", "x", "a", "s", "a") * 6}
    desk.saved()
    items = every_item(folder)
    assert {chunk: items[chunk].state for chunk in pressed} == {chunk: STATES[key] for chunk, key in pressed.items()}
    assert len(pressed) == len(verdicts(folder)) == 30
    assert Counter(item.state for item in items.values())["unreviewed"] == 6
    expect(desk.page.locator(".told")).to_have_text("24 of 36 chunks reviewed")
    shown = desk.key
    expect(desk.page).to_have_url(re.compile(rf"/review\?item={shown}$"))
    desk.page.go_back()
    expect(desk.page.get_by_role("heading", level=1, name="Settings")).to_be_visible()
    ready(desk.page)
    desk.page.go_forward()
    desk.ready()
    assert desk.key == shown


def test_a_click_on_another_page_is_not_lost_to_what_the_desk_says_meanwhile(folder: Path, served: Served, visit: Visit):
    """A message that comes behind the click would run Review once more; what was decided waits until one is back."""
    fill(folder, 6)
    desk = Desk(visit(f"{served()}/review"))
    desk.ready()
    first = desk.chunk
    desk.page.evaluate(LEAVES)
    expect(desk.page.get_by_role("heading", level=1, name="Settings")).to_be_visible(timeout=PATIENCE_MS)
    desk.page.locator("[data-testid=stSidebarNavLink][href$=review]").click()
    desk.ready()
    desk.saved()
    assert [chunk for chunk, item in every_item(folder).items() if item.state == "approved"] == [first]


@pytest.mark.parametrize(
    "repeat",
    [
        pytest.param(True, id="held down"),
        pytest.param(False, id="hammered", marks=pytest.mark.full("a flow of the browser with other values")),
    ],
)
def test_a_key_held_down_or_hammered_decides_one_item(folder: Path, served: Served, visit: Visit, repeat: bool):
    fill(folder, 6)
    desk = Desk(visit(f"{served()}/review"))
    desk.ready()
    first = desk.chunk
    if repeat:
        desk.press("a")
    desk.page.evaluate(TEN_TIMES, ["a", repeat])
    desk.ready()
    desk.saved()
    assert [chunk for chunk, item in every_item(folder).items() if item.state == "approved"] == [first]


@pytest.mark.full("a flow of the browser with other values")
def test_a_reload_in_the_middle_loses_nothing_and_does_nothing_twice(folder: Path, served: Served, visit: Visit):
    fill(folder, 12)
    desk = Desk(visit(f"{served()}/review"))
    for key in (*"jjj", *"kkk"):  # so that the evidence of the first four is there
        desk.ready()
        desk.press(key)
    desk.ready()
    desk.page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    process = served.running[-1]  # type: ignore[attr-defined]
    process.send_signal(signal.SIGSTOP)
    pressed = {desk.decide(key): key for key in "axs"}
    expect(desk.box).to_have_attribute("data-waiting", "3")
    desk.page.evaluate("() => { setTimeout(() => location.reload(), 0); }")
    process.send_signal(signal.SIGCONT)
    desk.page.wait_for_load_state()
    desk.ready()
    desk.saved()
    items = every_item(folder)
    assert {chunk: items[chunk].state for chunk in pressed} == {chunk: STATES[key] for chunk, key in pressed.items()}
    assert sorted(verb for verb, _ in verdicts(folder)) == ["approve", "reject", "skip"]


def test_a_key_before_the_evidence_is_there_decides_nothing_and_says_so_until_it_is(folder: Path, served: Served, visit: Visit):
    fill(folder, 36)
    desk = Desk(visit(f"{served()}/review"))
    desk.ready()
    process = served.running[-1]  # type: ignore[attr-defined]
    process.send_signal(signal.SIGSTOP)
    while desk.box.get_attribute("data-ready") == "true":
        desk.press("j")
    unread, loading = desk.chunk, desk.page.get_by_text("Loading the evidence")
    expect(loading).to_be_visible()
    desk.press("k")
    expect(desk.page.locator("mark.focus")).to_be_visible()  # what was there is drawn again
    expect(loading).to_be_hidden()
    desk.press("j")
    desk.press("a")
    for place in (".why-not", ".live"):
        expect(desk.page.locator(place)).to_contain_text("nothing was decided")
    process.send_signal(signal.SIGCONT)
    desk.ready()
    expect(desk.page.locator(".why-not")).to_have_count(0)
    expect(desk.page.locator(".live")).not_to_contain_text("nothing was decided")
    expect(loading).to_be_hidden()
    assert desk.chunk == unread
    assert verdicts(folder) == []
    desk.decide("a")
    desk.saved()
    assert [chunk for chunk, item in every_item(folder).items() if item.state == "approved"] == [unread]


def test_two_reviewers_on_one_queue_lose_nothing_and_the_second_is_told(folder: Path, served: Served, visit: Visit):
    fill(folder, 10)
    url = served(MEMOIR_REVIEWER="")
    ann, ben = Desk(visit(f"{url}/review")), Desk(visit(f"{url}/review"))
    ann.say_who("Ann")
    ben.say_who("Ben")
    assert ann.chunk == ben.chunk
    both = ann.decide("a")
    ann.saved()
    ben.decide("x")
    expect(ben.page.locator(".notice")).to_contain_text("Ann", timeout=PATIENCE_MS)
    assert (every_item(folder)[both].state, every_item(folder)[both].reviewer) == ("approved", "Ann")

    ended = re.compile("All reviewed")
    for desk, keys in ((ann, "a"), (ben, "x")) * 12:
        if desk.box.get_attribute("data-ready") == "true":
            desk.press(keys)
    for desk in (ann, ben):
        while not desk.page.get_by_text(ended).is_visible():
            desk.ready()
            desk.press("a" if desk is ann else "x")
        desk.saved()
    done = verdicts(folder)
    assert Counter(item.state for item in every_item(folder).values()) == Counter(
        {"approved": done.count(("approve", "Ann")), "rejected": done.count(("reject", "Ben"))}
    )
    assert len(done) == 10


def test_chunks_and_facts_are_decided_apart_and_who_comes_late_reads_by_whom_and_when(folder: Path, served: Served, visit: Visit):
    fill(folder, 3)
    with opened(folder) as memory:
        for talk in sample_conversations():
            memory.remember(talk.messages, user_id=talk.user, session_id=talk.session_id)
        facts = memory.review.facts(limit=500).counts["unreviewed"]
        doubted = memory.facts.proposals()[0]
    url = served()
    desk = Desk(visit(f"{url}/review"))
    for _ in range(3):
        desk.ready()
        desk.press("a")
        desk.saved()
    expect(desk.page.get_by_text("All reviewed")).to_be_visible(timeout=PATIENCE_MS)
    expect(desk.page.get_by_role("button", name="Show skipped")).to_have_count(0)
    expect(desk.page.locator(".last")).to_contain_text("Approved: notes.txt")
    assert [verb for verb, _ in verdicts(folder)] == ["approve"] * 3
    expect(desk.page.get_by_text("Chunks · 0")).to_be_visible(timeout=PATIENCE_MS)
    desk.page.get_by_text(f"Facts · {facts}").click()
    expect(desk.page.locator(".told")).to_contain_text(" facts and their changes reviewed", timeout=PATIENCE_MS)
    desk.ready()
    assert desk.key.startswith("proposal-")
    expect(desk.page.locator(".act.undo")).to_be_disabled()  # the chunks are another queue's to take back
    with opened(folder) as memory:
        ana = memory.acting_as("Ana", user=doubted.user_id, roles=("viewer", "auditor"))
        ana.facts.retire([doubted.old[0].id])
    desk.press("a")
    expect(desk.page.locator(".notice")).to_contain_text(
        re.compile("Already decided by Ana at [0-9:]+. Your decision was not applied.")
    )


@pytest.mark.full("a flow of the browser with other values")
def test_two_tabs_of_one_person_decide_an_item_once_and_both_go_on(folder: Path, served: Served, visit: Visit):
    fill(folder, 4)
    url = served()
    one, other = Desk(visit(f"{url}/review")), Desk(visit(f"{url}/review"))
    first = one.decide("a")
    one.saved()
    other.ready()
    assert other.chunk == first
    other.decide("a")
    expect(other.page.locator(".notice")).to_be_visible(timeout=PATIENCE_MS)
    other.saved()
    other.press("k")
    expect(other.page.locator(".mark.overtaken")).to_contain_text("Rita")
    assert verdicts(folder) == [("approve", "Rita")]


def test_an_item_is_refiled_by_search_with_a_reason_and_taken_back(folder: Path, served: Served, visit: Visit):
    fill(folder, 9)
    with opened(folder) as memory:
        leaves = {leaf.id: leaf for leaf in memory.tree.all() if leaf.is_leaf}
    desk = Desk(visit(f"{served()}/review"))
    desk.ready()
    chunk = desk.chunk
    before = every_item(folder)[chunk].category_id
    target = next(leaf for leaf in leaves.values() if leaf.id != before)
    desk.press("n")
    desk.page.keyboard.type("it is about something else")
    desk.page.keyboard.press("Enter")
    desk.press("r")
    desk.page.keyboard.type(" ".join(target.path))
    option = desk.page.get_by_role("option", name=target.name).first
    expect(option).to_be_visible(timeout=PATIENCE_MS)
    shown = desk.key
    desk.page.keyboard.press("Enter")
    expect(desk.box).not_to_have_attribute("data-key", shown, timeout=PATIENCE_MS)
    desk.saved()
    with opened(folder) as memory:
        assert memory.tree.chunk(chunk).category_id == target.id
        assert memory.audit.actions(limit=1)[0].reason == "it is about something else"
    desk.press("u")
    desk.ready()
    desk.saved()
    assert desk.chunk == chunk
    assert every_item(folder)[chunk].category_id == before
    assert every_item(folder)[chunk].state == "unreviewed"


def test_the_keys_are_shown_on_the_buttons_and_can_be_put_to_sleep(folder: Path, served: Served, visit: Visit):
    fill(folder, 4)
    desk = Desk(visit(f"{served()}/review"))
    desk.ready()
    expect(desk.page.locator(".act.approve kbd")).to_have_text("A")
    desk.press("?")
    box = desk.page.get_by_label("Keyboard shortcuts work on this page")
    expect(box).to_be_visible()
    box.uncheck()
    desk.page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    desk.page.keyboard.press("a")
    desk.page.locator(".act.reject").click()
    desk.ready()
    desk.saved()
    assert [verb for verb, _ in verdicts(folder)] == ["reject"]


@pytest.mark.full("a flow of the browser with other values")
def test_hostile_text_stays_text(folder: Path, served: Served, visit: Visit):
    with opened(folder) as memory:
        text = "<img src=x onerror=alert(1)> <script>alert(2)</script> [a](javascript:alert(3)) the harbour festival of the quay."
        memory.ingest_text(text, name="<b onclick=alert(4)>notes</b>.txt").raise_for_error()
    desk = Desk(visit(f"{served()}/review"))
    desk.ready()
    expect(desk.page.locator("mark.focus")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(desk.page.locator(".where a")).to_have_text("<b onclick=alert(4)>notes</b>.txt")
    assert desk.page.locator(".review img, .review script, .review b[onclick]").count() == 0


@pytest.mark.full("a flow of the browser with other values")
def test_facts_are_decided_by_the_same_keys_and_taken_back(folder: Path, served: Served, visit: Visit):
    with opened(folder) as memory:
        for talk in sample_conversations():
            memory.remember(talk.messages, user_id=talk.user, session_id=talk.session_id)
        (doubtful,) = memory.facts.proposals()
    desk = Desk(visit(f"{served()}/review"))
    expect(desk.box.locator(".side .content").first).to_have_text(doubtful.old[0].content, timeout=PATIENCE_MS)
    expect(desk.box.locator("mark.quote")).to_have_text([one.origins[0].quote or "" for one in (*doubtful.old, doubtful.new)])
    pressed = []
    for key in ("a", "x", "s", "a"):
        desk.ready()
        pressed.append((desk.key, key))
        desk.press(key)
        expect(desk.box).not_to_have_attribute("data-key", pressed[-1][0], timeout=PATIENCE_MS)
    desk.saved()
    desk.press("u")
    desk.saved()
    with opened(folder) as memory:
        assert memory.facts.proposals(state="approved")[0].id == doubtful.id
        states = [memory.review.fact(key).state for key, _ in pressed]
    assert states == ["approved", "approved", "skipped", "unreviewed"]  # who refuses that a fact gave way has decided it
