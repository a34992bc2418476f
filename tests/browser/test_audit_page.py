"""The audit page in a browser: each kind at its address, its HTML opened without a server, its PDF read back."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from playwright.sync_api import Browser, Page, expect

from app_browser import BAKERY, PATIENCE_MS, Visit
from memoir_engine import Memory

JAPANESE = "港祭りは黒字となり、理事会は岸壁の修理を決めました。会計係は毎年春に会員へ報告します。\n" * 20


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Fill the memory; return the address of each kind of audit page."""
    with Memory(data_dir=tmp_path / "memory", model="offline") as memory:
        memory.ingest_text(BAKERY, name="bakery.txt").raise_for_error()
        memory.ingest_text(JAPANESE, name="港祭り.txt").raise_for_error()
        mia = memory.acting_as("Mia", roles=("auditor",))
        mia.review.sign_off(2, "読みました。")
        mia.review.undo(mia.review.rename(memory.tree.roots()[0].id, "Contracts").action_id)
        run = memory.query("理事会は何を決めましたか？").raise_for_error().run_id
        root = memory.tree.roots()[0].id
    today = datetime.now(UTC).date()
    span = f"from={today - timedelta(days=2)}&to={today + timedelta(days=1)}"
    return {
        "source": "of=source&id=2",
        "category": f"of=category&id={root}",
        "person": "of=person&name=Mia",
        "period": f"of=period&{span}",
        "answer": f"of=answer&id={run}",
    }


@pytest.fixture
def disk(chromium: Browser) -> Iterator[Page]:
    """Yield a page in a browser without a network."""
    context = chromium.new_context(offline=True)
    yield context.new_page()
    context.close()


def saved(page: Page, form: str, folder: Path) -> Path:
    """Press a button for a file; return the file."""
    with page.expect_download(timeout=PATIENCE_MS) as told:
        page.locator(f".st-key-audit-{form}").get_by_role("button").first.click()
    path = folder / told.value.suggested_filename
    told.value.save_as(path)
    return path


def words(path: Path) -> str:
    with pypdfium2.PdfDocument(io.BytesIO(path.read_bytes())) as document:
        return re.sub(r"\s+", " ", " ".join(one.get_textpage().get_text_range() for one in document))


TOLD = {"source": "港祭り.txt", "category": "Chunks", "person": "Mia", "period": "Renamed a category", "answer": "理事会"}


def test_each_kind_is_drawn_and_its_files_say_the_same_without_a_server(
    places: dict[str, str], served: Any, visit: Visit, disk: Page, tmp_path: Path
):
    url = served()
    page = visit(f"{url}/audit?{places['source']}")
    for kind, place in places.items():
        page.goto(f"{url}/audit?{place}")
        body = page.locator(".memoir-report")
        expect(body.locator(".kind")).to_have_text(f"{kind.title()} · audit report", timeout=PATIENCE_MS)
        expect(body).to_contain_text(TOLD[kind])
        head = body.locator(".digest").last.inner_text()
        html, pdf = saved(page, "html", tmp_path), saved(page, "pdf", tmp_path)
        disk.goto(html.as_uri())
        expect(disk.locator("main")).to_contain_text(TOLD[kind])
        expect(disk.locator("footer")).to_contain_text("To check it")
        said = words(pdf)
        assert TOLD[kind] in said and "To check it" in said and len(head) == 64
    assert "読みました。" in words(tmp_path / pdf.name)  # the signature under the source that the answer cites


def test_from_a_source_to_its_page_and_to_another(places: dict[str, str], served: Any, visit: Visit):
    url = served()
    page = visit(f"{url}/audit", locale="ja-JP")
    expect(page.get_by_role("heading", name="監査ページ")).to_be_visible()
    page.get_by_role("button", name="監査ページを表示").click()
    expect(page.locator(".memoir-report .kind")).to_contain_text("資料")
    page.get_by_role("button", name="別の監査ページ").click()
    expect(page.locator(".memoir-report")).to_have_count(0)
    page.get_by_role("radio", name="期間").click()
    expect(page.locator(".st-key-audit-show-period button").first).to_be_visible()
    expect(page.locator(".st-key-audit-show-source")).to_have_count(0)
    page.get_by_role("button", name="監査ページを表示").click()
    expect(page.locator(".memoir-report .kind")).to_contain_text("期間")
