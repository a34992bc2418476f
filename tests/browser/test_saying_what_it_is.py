"Description of the sources in a real browser: preview, edit, confirm, cancel, a mistyped date, a later change."

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app_browser import BAKERY, FESTIVAL, PATIENCE_MS, Served, Visit, cells, choose, fill, upload, wait_for_source
from memoir_engine import Memory


@pytest.fixture
def asking(served: Served, visit: Visit) -> Page:
    """Open the Sources page of an app that asks people to describe each source."""
    return visit(served(MEMOIR_AUTO_SOURCE_IDENTIFICATION="false") + "/sources")


def say(page: Page, **fields: str) -> None:
    labels = {"date": "Date of creation", "author": "Author", "topic": "Topic", "description": "Short description"}
    expect(page.locator(".st-key-draft-confirm button")).to_be_visible(timeout=PATIENCE_MS)
    for name, text in fields.items():
        fill(page, labels[name], text)


def composed(page: Page):
    return page.locator(".st-key-composed")


@pytest.mark.req("MEMOIR 2B.7.6", "MEMOIR 2B.7.7")
def test_a_helper_is_previewed_edited_and_confirmed(asking: Page):
    upload(asking, ("bakery.txt", BAKERY))
    say(asking, date="2024-05-17", author="Ada Miller", topic="Baking", description="How bread is baked.")
    expect(composed(asking)).to_have_text(
        "Author: Ada Miller. Date: 2024-05-17. Topic: Baking. How bread is baked.", timeout=PATIENCE_MS
    )
    expect(asking.locator(".st-key-preview")).to_contain_text(re.compile(r"\d+ of 300 tokens"))
    asking.locator(".st-key-draft-edit button").click()
    fill(asking, "Preview", "How bread is baked, in the words of Ada Miller.")
    asking.locator(".st-key-draft-confirm button").click()
    wait_for_source(asking, "bakery.txt")
    asking.locator("[class*=st-key-job-]").get_by_role("button", name="Open").click()
    helper = asking.locator(".st-key-src-helper")
    expect(helper).to_contain_text("How bread is baked, in the words of Ada Miller.", timeout=PATIENCE_MS)
    expect(helper).to_contain_text("written by a person")


@pytest.mark.full("a flow of the browser with other values")
@pytest.mark.req("MEMOIR 2B.7.7")
def test_a_cancelled_text_leaves_nothing(asking: Page, served: Served, visit: Visit, tmp_path: Path):
    upload(asking, ("bakery.txt", BAKERY))
    say(asking, author="Ada Miller")
    asking.locator(".st-key-draft-cancel button").click()
    expect(asking.locator("[class*=st-key-job-]")).to_contain_text("cancelled", timeout=PATIENCE_MS)
    expect(asking.get_by_text("Nothing was stored")).to_be_visible(timeout=PATIENCE_MS)
    served.stop()
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        assert (memory.sources.list(), memory.tree.all(), memory.helpers.drafts()) == ((), (), ())


@pytest.mark.req("MEMOIR 2B.7.2")
def test_a_mistyped_date_is_told_under_its_field_until_it_is_right(asking: Page):
    upload(asking, ("bakery.txt", BAKERY))
    say(asking, date="17.5.2024", author="unknown", topic="unknown", description="unknown")
    told = asking.locator(".st-key-saying").get_by_text("is not a date in ISO 8601")
    expect(told).to_contain_text("2024-05-17T09:30:00", timeout=PATIENCE_MS)
    asking.locator(".st-key-draft-confirm button").click()
    expect(told).to_be_visible(timeout=PATIENCE_MS)
    say(asking, date="2024-05-17")
    expect(told).to_have_count(0, timeout=PATIENCE_MS)
    asking.locator(".st-key-draft-confirm button").click()
    wait_for_source(asking, "bakery.txt")


@pytest.mark.req("MEMOIR 2B.7")
def test_a_waiting_text_is_still_there_after_a_reload_and_by_its_link(asking: Page, visit: Visit):
    upload(asking, ("bakery.txt", BAKERY))
    expect(asking.locator(".st-key-draft-confirm button")).to_be_visible(timeout=PATIENCE_MS)
    elsewhere = visit(asking.url)
    expect(elsewhere.locator(".st-key-draft-confirm button")).to_be_visible(timeout=PATIENCE_MS)
    asking.reload()
    expect(asking.locator(".st-key-head-sources")).to_contain_text("bakery.txt", timeout=PATIENCE_MS)
    expect(asking.locator(".st-key-head-sources")).to_contain_text("waiting for you")


@pytest.mark.full("a flow of the browser with other values")
def test_several_texts_are_confirmed_together(asking: Page):
    upload(asking, ("bakery.txt", BAKERY), ("festival.txt", FESTIVAL))
    table = asking.locator(".st-key-drafts")
    expect(table).to_be_visible(timeout=PATIENCE_MS)
    table.get_by_role("button", name="Fill empty fields with “unknown”").click()
    expect(cells(table, "ready")).to_have_count(2, timeout=PATIENCE_MS)
    table.get_by_role("button", name="Confirm all").click()
    wait_for_source(asking, "bakery.txt")
    wait_for_source(asking, "festival.txt")


def test_a_name_that_recurs_is_asked_about_and_becomes_a_version(served: Served, visit: Visit, tmp_path: Path):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error()
    page = visit(served() + "/sources")
    payload = {"name": "bakery.txt", "mimeType": "text/plain", "buffer": (BAKERY + "The oven is new.").encode()}
    page.locator("[class*=st-key-upload-] input[type=file]").set_input_files([payload])
    expect(page.get_by_text("already exists (v1").first).to_be_visible(timeout=PATIENCE_MS)
    page.locator(".st-key-file-files button").click()
    expect(cells(page, "v2")).to_have_count(1, timeout=PATIENCE_MS)
    expect(cells(page, "replaced")).to_have_count(0)
    page.get_by_text("Show earlier versions").click()
    expect(cells(page, "replaced")).to_have_count(1, timeout=PATIENCE_MS)


@pytest.mark.req("MEMOIR 2B.8")
def test_a_persons_helper_takes_over_and_the_difference_is_marked(served: Served, visit: Visit, tmp_path: Path):
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        source = memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error().source_id
    page = visit(served() + f"/sources?src={source}")
    page.get_by_role("tab", name="Description of the source").click()
    page.locator(".st-key-helper-write button").click()
    fill(page, "What this source is", "Ada Miller on bread <b>and</b> beech wood.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".st-key-src-helper")).to_contain_text("Ada Miller on bread", timeout=PATIENCE_MS)
    expect(page.locator("ins").first).to_contain_text("Ada Miller", timeout=PATIENCE_MS)
    expect(page.locator("del").first).to_be_visible()
    expect(page.locator("ins b")).to_have_count(0)


def test_what_it_will_take_is_said_before_anything_is_asked(served: Served, visit: Visit):
    page = visit(served(MEMOIR_MAX_COST="0.5") + "/sources")
    choose(page, ("bakery.txt", BAKERY))
    add = page.locator(".st-key-add")
    expect(add).to_contain_text("Estimate: 2 chunks · about 6 calls", timeout=PATIENCE_MS)
    expect(add).to_contain_text("Cost limit: a run stops before it would spend more than $0.50")
