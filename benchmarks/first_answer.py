"""From a dropped file to an answer: an empty memory, a PDF of ten pages, a question that is offered, in a browser."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import ages
from benchmarks.app import MOST_S, browser_page, served, wait_for_health, wait_until_drawn
from benchmarks.frame import ROOT, Size, figure

FEATURES, APP = ages.FEATURES, True
PAGES, ON_A_PAGE = 10, 7  # paragraphs on a page
AIM_S = 5.0
SAMPLES = ROOT / "memoir_engine" / "samples" / "documents"
READING_S = 3.0  # somebody looks at the first screen before they drop a file; the app warms up meanwhile
STEPS = (
    "file dropped to button enabled",
    "button pressed to questions offered",
    "question pressed to answer shown",
    "dropped file to answer, without the time a person takes",
)


def main(size: Size) -> dict[str, Any]:
    rounds, data = (7, pdf(PAGES)) if size == "full" else (1, pdf(2))
    first_answer(data)  # the very first one compiles the source
    taken = list(zip(*[first_answer(data) for _ in range(rounds)], strict=True))
    note = "offline model, an empty memory and a new app each time; the driver of the browser included"
    return {
        "title": "Seconds from a dropped file to an answer",
        "sizes": {"pages": PAGES if size == "full" else 2, "bytes": len(data), "rounds": rounds},
        "packages": ("reportlab", "pypdfium2"),
        "figures": [
            *(figure(name, runs, "s") for name, runs in zip(STEPS[:-1], taken, strict=False)),
            figure(STEPS[-1], [sum(steps) for steps in zip(*taken, strict=True)], "s", aim=AIM_S, note=note),
        ],
    }


def first_answer(data: bytes) -> tuple[float, float, float]:
    """Return the seconds of the three steps, each from what a person does until they see what comes of it."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as app, browser_page() as page:
        wait_for_health(app)
        page.goto(app.url)
        wait_until_drawn(page)
        page.wait_for_timeout(READING_S * 1000)
        started = time.perf_counter()
        file = {"name": "report.pdf", "mimeType": "application/pdf", "buffer": data}
        page.locator("[class*=st-key-upload-] input[type=file]").set_input_files([file])
        page.wait_for_selector(".st-key-file-files button:enabled", timeout=MOST_S * 1000)
        dropped = time.perf_counter()
        page.locator(".st-key-file-files button").click()
        page.wait_for_selector(".st-key-ask-about-0 button", timeout=MOST_S * 1000)
        offered = time.perf_counter()
        page.locator(".st-key-ask-about-0 button").click()
        page.wait_for_selector(".answer button", timeout=MOST_S * 1000)
        return dropped - started, offered - dropped, time.perf_counter() - offered


def pdf(pages: int) -> bytes:
    """Set the samples as one report of this many pages."""
    import pypdfium2
    from reportlab.platypus import PageBreak

    from benchmarks.typeset import SPACED, Set, typeset

    prose, story = list(paragraphs()), list[Any]()
    for page in range(pages):
        on_page = prose[page * ON_A_PAGE : (page + 1) * ON_A_PAGE]
        story += [*(Set(paragraph, SPACED) for paragraph in on_page), PageBreak()]
    data = typeset(story[:-1])
    assert len(pypdfium2.PdfDocument(data)) == pages
    return data


def paragraphs() -> Iterator[str]:
    """Yield the prose of the samples: no tables, headings or short lines."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.iterdir()) if path.suffix in (".md", ".txt")]
    whole = "\n\n".join(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL) for text in texts)
    for part in re.split(r"\n\s*\n", whole):
        flat = " ".join(part.split()).replace("&", "&amp;").replace("<", "&lt;")
        if len(flat) > 200 and not flat.startswith(("|", "#")):
            yield flat
