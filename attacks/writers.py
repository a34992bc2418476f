"""Several processes write into one SQLite file while others read it: nobody may fail, starve, or lose what was acknowledged."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attacks.frame import Outcome, of_tests
from memoir_engine import Memory

SIZE, SHORT, UNIT = 120, 3, "seconds"
PROCESSES, FEW = 8, 2  # of each kind; few in the short form
JUDGED_FROM = 10  # writes by each in the mean: who writes less often than others is chance before
PROCESS = """
import json, sys, time
from memoir_engine import Memory
file, kind, number, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
memory = Memory(db_path=file, data_dir=f"{file}-{kind}{number}", model="offline", chunk_min_tokens=8, chunk_max_tokens=30)

def write(n):
    text = f"Writer {number} saw ferry {n} leave the harbour at noon, with {n + number} crates of tea on board."
    if n % 2:
        memory.add_knowledge(f"{number}-{n}", text)
    else:
        memory.ingest_text(text, name=f"{number}-{n}").raise_for_error()

def read(n):
    memory.overview()
    memory.sources.list()
    memory.search("ferries with tea")

verb = write if kind == "write" else read
verb(0)
print("ready", flush=True)
sys.stdin.readline()
done, errors, longest, until = 1, [], 0.0, time.monotonic() + seconds
while time.monotonic() < until:
    began = time.monotonic()
    try:
        verb(done)
        done += 1
    except Exception as error:
        errors.append(repr(error)[:300])
        if len(errors) > 20:
            break
    longest = max(longest, time.monotonic() - began)
memory.close()
print(json.dumps({"done": done, "errors": errors, "longest_s": longest}), flush=True)
"""


def main(size: int, folder: Path) -> Iterator[Outcome]:
    """Count at the end alone: a series that is cut off is none, since it is about what all of them do in the time given."""
    file, processes = folder / "memory.db", PROCESSES if size > SHORT else FEW
    Memory(db_path=file, model="offline").close()
    running = {kind: [_start(file, kind, number, size) for number in range(processes)] for kind in ("write", "read")}
    everybody = [*running["write"], *running["read"]]
    for process in everybody:
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError("a process ended before it was ready")
    for process in everybody:
        process.stdin.write("\n")
        process.stdin.flush()
    told = {kind: [json.loads(process.stdout.readline()) for process in group] for kind, group in running.items()}
    for process in everybody:
        process.wait(120)
        process.stdin.close()
        process.stdout.close()
    writes = [one["done"] for one in told["write"]]
    mean = sum(writes) / len(writes)
    errors = [error for group in told.values() for one in group for error in one["errors"]]
    with Memory(db_path=file, model="offline") as memory:
        kept, verified = len(memory.sources.list(limit=1_000_000)), memory.audit.verify().ok
    done = {"writers": processes, "readers": processes, "seconds": size, "writes": sum(writes)}
    done |= {"fewest by one writer": min(writes), "most by one writer": max(writes)}
    done |= {"rounds of reads": sum(one["done"] for one in told["read"])}
    harm = {
        "errors": len(errors),
        "writers below a third of the mean": sum(count < mean / 3 for count in writes if mean >= JUDGED_FROM),
    }
    harm |= {"writes lost": max(0, sum(writes) - kept), "chain that does not verify": int(not verified)}
    longest = max(one["longest_s"] for one in told["write"])
    yield Outcome("Writers and readers on one SQLite file", done, harm, (f"the longest write took {longest:.1f} s", *errors[:1]))


def _start(file: Path, kind: str, number: int, seconds: int) -> Any:
    command = ["-c", PROCESS, str(file), kind, str(number), str(seconds)]
    return of_tests("warm").start(
        command, cwd=file.parent, env=dict(os.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
