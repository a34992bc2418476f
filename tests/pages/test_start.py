"""What a start of the app loads, and when: the first page goes before what the first text needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START = """
import sys, threading
from ui import engine
engine.PATIENCE_S = 120
warming = threading.Thread(target=engine.warm)
warming.start()
engine.memory().overview()
print(warming.is_alive(), "pydantic_ai" in sys.modules)
engine.drawn()
warming.join(120)
engine.memory().estimate("One more text.")
print(warming.is_alive(), engine.state())
engine.close()
"""


def test_the_first_page_is_drawn_before_the_first_text_is_prepared(tmp_path: Path) -> None:
    env = os.environ | {"MEMOIR_DATA_DIR": str(tmp_path), "MEMOIR_MODEL": "offline"}
    ran = subprocess.run([sys.executable, "-c", START], cwd=ROOT, env=env, capture_output=True, text=True, timeout=300)
    assert ran.stdout.split() == ["True", "False", "False", "open"], ran.stderr
