"""Load order: nothing heavy on opening, what the model needs after the warm-up, and litellm only with its switches set."""

from __future__ import annotations

import subprocess
import sys

OPENED = """
import sys
from memoir_engine.core.config import resolve
from memoir_engine.models.client import ModelClient
resolved = resolve(environ={"OPENAI_API_KEY": "k"}, model="gpt-4o-mini")
client = ModelClient.open(resolved.config, resolved.secrets)
heavy = ("pydantic_ai", "litellm", "openai")
print([name for name in heavy if name in sys.modules])
client.warm_up().join()
print([name for name in heavy if name in sys.modules])
import os
from memoir_engine.models.providers import quiet_litellm
litellm = quiet_litellm()
print(litellm.disable_hf_tokenizer_download, litellm.suppress_debug_info, os.environ["LITELLM_LOCAL_MODEL_COST_MAP"])
print(os.environ.get("LEAKED"))
"""


def test_opening_loads_nothing_heavy_and_warming_up_loads_it_quietly():
    with open(".env", "w", encoding="utf-8") as dotenv:
        dotenv.write("LEAKED=yes\n")  # litellm would read it in its development mode
    done = subprocess.run([sys.executable, "-c", OPENED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['pydantic_ai', 'openai']", "True True True", "None"]
    assert done.stderr == ""
