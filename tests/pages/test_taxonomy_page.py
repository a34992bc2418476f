"""A taxonomy brought in on the page Tree, and a category described and locked there."""

from __future__ import annotations

from app_pages import opened, words
from memoir_engine import Memory

PLAN = "path,description,locked\nLaw › Leases,Rent and tenants,yes\nArt › Oil › Dutch,,\n"


def test_a_file_is_shown_line_by_line_and_then_brought_in(memory: Memory):
    page = opened("tree")
    page.file_uploader(key="taxonomy-file-0").upload("plan.csv", PLAN.encode(), "text/csv").run()
    table = page.dataframe[0].value
    assert [(row["Category"], row["What happens"]) for _, row in table.iterrows()][1::4] == [
        ("Law › Leases", "created"),
        ("Law › Leases › Leases", "created below it, to hold texts"),
    ]
    assert memory.tree.all() == ()
    page.button(key="taxonomy-do").click().run()
    assert [category.name for category in memory.tree.roots()] == ["Law", "Art"]
    assert "Undo" in [button.label for button in page.button]


def test_a_line_with_a_problem_is_named_and_nothing_can_be_brought_in(memory: Memory):
    page = opened("tree")
    page.file_uploader(key="taxonomy-file-0").upload("plan.csv", b"path,locked\na/b,perhaps\n", "text/csv").run()
    assert "1 line has a problem" in words(page)
    assert "taxonomy-do" not in [button.key for button in page.button]


def test_a_category_is_described_and_its_branch_locked(filled: Memory):
    node = filled.tree.roots()[0]
    page = opened("tree", cat=node.id)
    page.text_area(key=f"describe-{node.id}-is").input("What *bakers* do")
    page.checkbox(key=f"describe-{node.id}-lock").check()
    next(button for button in page.button if button.label == "Save").click().run()
    now = filled.tree.node(node.id)
    assert (now.description, now.locked_by) == ("What *bakers* do", node.id)
    assert "What \\*bakers\\* do" in words(page)


def test_a_thesaurus_is_shown_in_the_language_of_the_app_and_the_tree_is_downloaded_as_skos(filled: Memory):
    page = opened("tree")
    head = b"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    skos = head + b"<urn:a> a skos:Concept ; skos:prefLabel 'Wasser'@de, 'Water'@en ."
    page.file_uploader(key="taxonomy-file-0").upload("water.ttl", skos, "text/turtle").run()
    assert ["Water"] in [list(table.value["Category"]) for table in page.dataframe if "Category" in table.value]
    assert "Download as SKOS" in [button.label for button in page.get("download_button")]
    page.button(key="taxonomy-do").click().run()
    assert "Water" in [category.name for category in filled.tree.roots()]
