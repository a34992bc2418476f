"""`python -m memoir_engine`: the command line, for where no script `memoir` is on the path."""

from memoir_engine.cli import app

if __name__ == "__main__":
    app(prog_name="python -m memoir_engine")
