"""Cuts of a conversation to be imported, in a real browser: strips and talk move together, by mouse and by keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

READ = ".talk .top .where"


def test_a_cut_leads_to_the_message_where_it_begins_and_the_strips_follow_the_reader(served, visit):
    page = visit(f"{served()}/cuts?most=360")  # an old address
    page.get_by_role("button", name="Use a sample").click()
    expect(page.locator(".lane")).to_have_count(3)
    expect(page).to_have_url(re.compile(r"/conversations\?show=cuts&bring=1&most=360$"))
    natural = page.locator(".lane").nth(1).locator(".block")
    natural.nth(3).click()
    expect(page.locator(".row.on .said")).to_have_text("Inés is well again, it was a cold. Now I need your help with the money.")
    expect(page.locator(".tell")).to_contain_text("after a pause of 2 days")
    expect(page.locator(READ)).to_contain_text("Natural breaks 4 of 5")
    expect(natural.nth(3)).to_have_class("block on")
    natural.nth(0).focus()
    page.keyboard.press("Enter")
    expect(page.locator(READ)).to_contain_text("Natural breaks 1 of 5")
    page.keyboard.press("Tab")
    expect(page.locator(".tell")).to_contain_text("a new subject is announced")


@pytest.mark.full("a flow of the browser with other values")
def test_a_pasted_conversation_is_shown_as_text_whatever_it_says(served, visit):
    page = visit(f"{served()}/conversations?bring=1")
    page.get_by_text("How it is cut", exact=True).click()
    expect(
        page.get_by_text("Choose a file, paste a conversation or use the sample")
    ).to_be_visible()  # the switch has been thrown
    box = page.get_by_label("Or paste it")
    box.fill("Ana: <img src=x onerror=alert(1)>\nBot: **Fine.**\nAna: Thanks.")
    box.press("Control+Enter")
    expect(page.locator(".row .said").first).to_have_text("<img src=x onerror=alert(1)>")
    expect(page.locator(".row .said").nth(1)).to_have_text("**Fine.**")
