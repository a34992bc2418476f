"""`python -m memoir_engine`: the command line, for where no script `memoir` is on the path."""

from __future__ import annotations

from memoir_engine.api.cli import app

if __name__ == "__main__":
    app(prog_name="python -m memoir_engine")
