"""The app's pages in-process: opened by address, read as a person reads them."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

from pandas import DataFrame
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from machine import REPOSITORY
from memoir_engine import Memory, RunView

# each page that is opened would look through every installed package for components: nine tenths of its time
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def opened(page: str = "overview", **parameters: str | int) -> AppTest:
    """A page as somebody opens it, by its address."""
    app = AppTest.from_file(str(REPOSITORY / "ui" / "main.py"), default_timeout=120)
    if page != "overview":  # its address is the name of its file, so that it needs no first run to be found
        app.switch_page(f"../pages/{page}.py")
    for name, value in parameters.items():
        app.query_params[name] = str(value)
    return app.run()


def words(app: AppTest) -> str:
    """All text of the page that Streamlit itself shows."""
    kinds = ("title", "subheader", "markdown", "caption", "text", "code", "error", "warning", "info", "success")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What a component of ours was given to draw."""
    return dict(json.loads(app.get_by_key(key).proto.json))


def ended(memory: Memory, run_id: str) -> RunView:
    return memory.jobs.wait(run_id, timeout_s=120)


def table(app: AppTest, column: str) -> DataFrame:
    """The first table that has this column."""
    return next(shown.value for shown in app.dataframe if column in shown.value.columns)


def selected(app: AppTest, key: str, *rows: int) -> AppTest:
    """The page after somebody has selected these rows of a table."""
    app.session_state[key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return app.run()


def recorded(memory: Memory, run_id: str, kind: str) -> None:
    """Until the ledger has an event of this kind: events are written some at a time."""
    until = time.monotonic() + 120
    while kind not in {event.kind for event in memory.runs.events(run_id)}:
        assert time.monotonic() < until, f"{kind} never came"
        time.sleep(0.02)
