"""The app in Japanese in a real browser: it follows the browser, can be switched, and keeps the choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app_browser import PATIENCE_MS, Served, Visit
from memoir_engine import Memory


@pytest.fixture
def asked(tmp_path: Path) -> str:
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text("Bed 4 of the garden is watered from the barrel by the shed. " * 12, name="beds.txt").raise_for_error()
        return memory.query("Where is bed 4 watered from?").raise_for_error().run_id


def title(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1, name=text)).to_be_visible()


def test_a_japanese_browser_gets_japanese_pages(asked: str, served: Served, visit: Visit):
    url = served()
    page = visit(url, "ja-JP")
    title(page, "メモリの概要")
    expect(page.get_by_role("link", name="カテゴリツリー")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    for address, heading in (("sources", "資料"), ("review", "レビュー"), ("tree", "カテゴリツリー"), ("settings", "設定")):
        page.goto(f"{url}/{address}")
        title(page, heading)
    page.goto(f"{url}/ask?run={asked}")
    expect(page.get_by_text("判断の経路")).to_be_visible()
    expect(page.locator("[class*=st-key-path] .choices")).to_contain_text("レベル")


def test_the_language_is_switched_in_the_app_and_kept_by_the_browser(served: Served, visit: Visit):
    page = visit(served())
    title(page, "Welcome to Memoir")
    page.locator(".st-key-language").get_by_text("日本語").click()
    title(page, "Memoir へようこそ")
    expect(page.locator("html")).to_have_attribute("lang", "ja")
    page.reload()
    title(page, "Memoir へようこそ")
    page.locator(".st-key-language").get_by_text("English").click()
    title(page, "Welcome to Memoir")


def test_the_place_to_drop_files_speaks_the_language_of_the_page(served: Served, visit: Visit):
    app = served()
    for language, button, most in (("en-US", "Choose files", "50 MB"), ("ja-JP", "ファイルを選択", "50 MB")):
        page = visit(f"{app}/sources", locale=language)
        zone = page.get_by_test_id("stFileUploaderDropzone")
        expect(zone.get_by_role("button", name=button)).to_be_visible()
        expect(page.get_by_test_id("stFileUploader")).to_contain_text(most)
        expect(zone.get_by_text("per file")).to_be_hidden()


def test_a_broken_file_is_explained_in_japanese(served: Served, visit: Visit):
    url = served()
    page = visit(f"{url}/sources", "ja-JP")
    broken: Any = {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 broken"}
    page.locator("[class*=st-key-upload-] input[type=file]").set_input_files([broken])
    page.locator(".st-key-file-files button").click(timeout=PATIENCE_MS)
    card = page.locator("[class*=st-key-job-]", has_text="broken.pdf")
    expect(card).to_contain_text("失敗", timeout=PATIENCE_MS)
    expect(card).to_contain_text("「broken.pdf」を PDF として読み取れません：壊れています")
    expect(card).to_contain_text("元のアプリで開いて保存し直し、そのコピーをアップロードしてください。何も保存されていません。")
    expect(card).to_contain_text("E203")
    expect(card).not_to_contain_text("cannot be read")
    page.reload()  # the run is read back from the record, where the error is a text
    expect(card).to_contain_text("「broken.pdf」を PDF として読み取れません：壊れています", timeout=PATIENCE_MS)
