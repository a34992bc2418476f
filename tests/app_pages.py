"""Helpers to run the app's pages in-process: open by address, read as a person reads."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

from pandas import DataFrame
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from machine import REPOSITORY
from memoir_engine import Memory, RunView

# each page that is opened would look through every installed package for components: nine tenths of its time
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def opened(page: str = "overview", **parameters: str | int) -> AppTest:
    """Open a page by its address."""
    config.set_option("runner.magicEnabled", False)  # as the app is run, from wherever a test runs
    app = AppTest.from_file(str(REPOSITORY / "ui" / "main.py"), default_timeout=120)
    if page != "overview":  # its address is the name of its file, so that it needs no first run to be found
        app.switch_page(f"../pages/{page}.py")
    for name, value in parameters.items():
        app.query_params[name] = str(value)
    return app.run()


def words(app: AppTest) -> str:
    """Return all text that Streamlit itself shows on the page."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "text", "code", "error", "warning", "info", "success")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def component(app: AppTest, key: str) -> dict[str, Any]:
    """Return the data given to one of our components."""
    data = json.loads(app.get_by_key(key).proto.json)
    return dict(data[0] if isinstance(data, list) else data)


def ended(memory: Memory, run_id: str) -> RunView:
    return memory.jobs.wait(run_id, timeout_s=120)


def table(app: AppTest, column: str) -> DataFrame:
    """Return the first table with this column."""
    return next(shown.value for shown in app.dataframe if column in shown.value.columns)


def selected(app: AppTest, key: str, *rows: int) -> AppTest:
    """Return the page after these rows of a table were selected."""
    app.session_state[key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return app.run()


def recorded(memory: Memory, run_id: str, kind: str) -> None:
    """Wait until the ledger has an event of this kind: events are written in batches."""
    until = time.monotonic() + 120
    while kind not in {event.kind for event in memory.runs.events(run_id)}:
        assert time.monotonic() < until, f"{kind} never came"
        time.sleep(0.02)
