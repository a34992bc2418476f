"""A recurring upload name, the estimate before the start, and the versions of a source."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app_pages import ended, opened, table, words
from memoir_engine import Memory
from ui import engine

NEWER = "The sourdough starter moved to the warm room. Bread is now baked on Thursdays, and the oven is electric. " * 20


def uploaded(*files: tuple[str, str]) -> AppTest:
    """Return the page with these files chosen, not yet started."""
    page = opened("sources")
    for name, text in files:
        page.file_uploader(key="upload-0").upload(name, text.encode(), "text/plain")
    return page.run()


@pytest.fixture
def replaced(filled: Memory) -> Memory:
    """Upload a newer version of bakery.md, the third source."""
    filled.ingest_text(NEWER, name="bakery.md", replaces=1).raise_for_error()
    return filled


def test_a_recurring_name_is_asked_about_before_anything_starts(filled: Memory):
    page = uploaded(("bakery.md", NEWER), ("other.md", NEWER[:900]))
    assert len(page.radio) == 1
    assert page.radio[0].options == ["A new version of it (currently v1, 2 chunks)", "A different source with the same name"]
    assert page.radio[0].value is None
    assert page.button(key="file-files").disabled


def test_a_newer_version_replaces_the_older_one(filled: Memory):
    page = uploaded(("bakery.md", NEWER))
    page.radio[0].set_value(1).run()
    page.button(key="file-files").click().run()
    new = ended(filled, filled.jobs.list()[0].id).result["source_id"]
    assert [(one.id, one.version, one.status) for one in filled.sources.versions(new)] == [
        (new, 2, "filed"),
        (1, 1, "replaced"),
    ]


def test_another_source_of_the_same_name_replaces_nothing(filled: Memory):
    page = uploaded(("bakery.md", NEWER))
    page.radio[0].set_value(0).run()
    page.button(key="file-files").click().run()
    new = ended(filled, filled.jobs.list()[0].id).result["source_id"]
    assert (filled.sources.get(new).version, filled.sources.get(1).status) == (1, "filed")


def test_of_several_with_the_name_one_is_chosen(filled: Memory):
    filled.ingest_text(NEWER[:2000], name="bakery.md").raise_for_error()
    page = uploaded(("bakery.md", NEWER))
    assert [option.startswith("A new version of the one from ") for option in page.radio[0].options] == [True, True, False]


def test_a_pasted_text_whose_name_recurs_is_asked_about_too(filled: Memory):
    page = opened("sources")
    page.segmented_control(key="src-kind").set_value("Paste text").run()
    page.text_input(key="text-name-0").set_value("bakery.md")
    page.text_area(key="text-body-0").set_value(NEWER)
    page.run()
    page.radio[0].set_value(1).run()
    page.button(key="file-text").click().run()
    assert ended(filled, filled.jobs.list()[0].id).status == "done"
    assert filled.sources.get(1).status == "replaced"


def test_the_estimate_is_of_everything_chosen(memory: Memory):
    page = uploaded(("a.txt", NEWER), ("b.txt", NEWER.replace("bread", "cake")))
    one, two = memory.estimate(NEWER), memory.estimate(NEWER.replace("bread", "cake"))
    assert f"{one.chunks + two.chunks} chunks · about {one.calls + two.calls} calls" in words(page)
    assert "Estimate:" in words(page)
    assert memory.jobs.list() == ()


def test_a_large_upload_is_estimated_only_when_asked_for(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ui.uploads.AT_ONCE_BYTES", 100)
    page = uploaded(("a.txt", NEWER))
    assert "Estimate:" not in words(page)
    page.button(key="estimate").click().run()
    assert "Estimate:" in words(page)


def test_a_file_that_cannot_be_read_is_told_before_it_starts(memory: Memory):
    page = opened("sources")
    page.file_uploader(key="upload-0").upload("broken.pdf", b"%PDF-1.7 broken", "application/pdf")
    page.run()
    assert "broken\\.pdf" in page.error[0].value
    assert memory.jobs.list() == ()


@pytest.mark.parametrize(("cap", "said"), [("5", "Cost limit: a run stops"), ("0.0000001", "above the cost limit")])
def test_the_hard_cap_stands_beside_the_estimate(memory: Memory, monkeypatch: pytest.MonkeyPatch, cap: str, said: str):
    engine.close()
    monkeypatch.setenv("MEMOIR_MAX_COST", cap)
    monkeypatch.setenv("MEMOIR_MODEL", "gpt-4o-mini")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    assert said in words(uploaded(("a.txt", NEWER)))


def test_earlier_versions_are_shown_only_when_asked_for(replaced: Memory):
    page = opened("sources")
    assert list(page.dataframe(key="src-table").value["Status"]) == ["active", "active"]
    assert "1 earlier or withdrawn version is hidden" in words(page)
    page.toggle(key="s_earlier").set_value(True).run()
    shown = page.dataframe(key="src-table").value
    assert list(zip(shown["Name"], shown["Version"], shown["Status"], strict=True)) == [
        ("bakery.md", "v2", "active"),
        ("accounts.md", "v1", "active"),
        ("bakery.md", "v1", "replaced"),
    ]


def test_without_earlier_versions_there_is_nothing_to_show(filled: Memory):
    assert [toggle.key for toggle in opened("sources").toggle] == []


def test_the_versions_of_a_source_are_listed_in_its_detail(replaced: Memory):
    page = opened("sources", src=3)
    page.session_state["src-tabs-3"] = "Versions"
    shown = table(page.run(), "Version")
    assert list(page.dataframe(key="src-versions-3").value["Version"]) == ["v2 (this one)", "v1"]
    assert list(page.dataframe(key="src-versions-3").value["Status"]) == ["active", "replaced"]
    assert not shown.empty


def test_a_replaced_source_says_that_a_newer_one_is_in_force(replaced: Memory):
    page = opened("sources", src=1)
    assert "There is a newer version of this source" in words(page)


def test_e_mail_is_among_the_files_that_may_be_dropped(memory: Memory):
    assert ".eml" in opened("sources").file_uploader(key="upload-0").proto.type


@pytest.mark.parametrize("accepts", ["false", "true"])
def test_a_price_that_is_not_known_is_said_once_also_beside_a_cap(memory: Memory, monkeypatch: pytest.MonkeyPatch, accepts: str):
    engine.close()
    names = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "MEMOIR_MODEL": "my-model", "MEMOIR_MAX_COST": "1"}
    for name, value in {**names, "MEMOIR_ACCEPT_UNKNOWN_PRICE": accepts}.items():
        monkeypatch.setenv(name, value)
    shown = words(uploaded(("a.txt", NEWER)))
    assert shown.lower().count("price is unknown") == 1
    assert "max_cost" in shown
