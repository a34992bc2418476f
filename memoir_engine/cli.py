"""`python -m memoir_engine.cli`: the command line by its earlier address."""

from __future__ import annotations

from memoir_engine.api.cli import app

if __name__ == "__main__":
    app(prog_name="python -m memoir_engine")
