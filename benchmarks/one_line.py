"""Time and memory to cut a file of one long line, which offers no seam to cut at.

Each is read and cut by `memory.estimate` in a process of its own, so that the largest memory is that of one file.
"""

from __future__ import annotations

import json
import random
import string
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.frame import Size, figure

FEATURES = ("ingest",)
MB = 1_000_000
AIM_S = 30  # the issue: cut or refused within 30 s and 1 GB
AIM_MEMORY_MB = 1_000
LETTERS = string.ascii_lowercase
_CHILD = """
import json, sys, time
from pathlib import Path
from memoir_engine import Memory

folder, name = sys.argv[1:]
with Memory(data_dir=Path(folder) / "memory", model="offline") as memory:
    memory.estimate("loaded once")
    content = (Path(folder) / name).read_bytes()
    began, processor = time.perf_counter(), time.process_time()
    chunks = memory.estimate(content, name=name).chunks
    took = time.perf_counter() - began, time.process_time() - processor
status = Path("/proc/self/status").read_text()  # what `resource` says of the most memory goes on from the parent's
print(json.dumps([chunks, *took, int(status.partition("VmHWM:")[2].split()[0]) / 1000]))
"""


def main(size: Size) -> dict[str, Any]:
    length = 50 if size == "full" else 0.5
    chance = random.Random(18)
    lines = {
        "one letter": b"a" * round(length * MB),
        "full stops": b"." * round(length * MB),
        "letters by chance": "".join(chance.choices(LETTERS, k=round(length * MB))).encode(),
        "minified JSON": b'{"id":7,"name":"tea","tags":["green","uji"]},' * round(length * MB / 45),
        "kana and kanji by chance": "".join(chance.choices("あいうえおかきくけこ漢字仮名", k=round(length * MB / 3))).encode(),
    }
    figures, sizes = [], {"mb": length}
    for name, line in lines.items():
        chunks, wall_s, processor_s, memory_mb = measured(line)
        figures.append(figure(name, [wall_s], "s", aim=AIM_S))
        figures.append(figure(f"{name}, processor", [processor_s], "s"))
        figures.append(figure(f"{name}, largest memory of the process", [memory_mb], "MB", aim=AIM_MEMORY_MB))
        sizes[f"chunks of {name}"] = chunks
    return {"title": "A file of one line, read and cut", "sizes": sizes, "figures": figures}


def measured(line: bytes) -> tuple[int, float, float, float]:
    """Return the chunks of a file of this line, wall and processor seconds, and the largest memory in MB."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "line.txt").write_bytes(line)
        done = subprocess.run([sys.executable, "-c", _CHILD, folder, "line.txt"], check=True, capture_output=True)
    chunks, wall_s, processor_s, memory_mb = json.loads(done.stdout)
    return chunks, wall_s, processor_s, memory_mb
