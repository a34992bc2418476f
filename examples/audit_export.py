"""An audit of an export: is the log whole, who did what, what has nobody looked at?

python examples/audit_export.py memory.zip      # what `memoir export memory.zip` wrote, from anybody
python examples/audit_export.py                 # makes a small one first, to look at

The export is read into a database that is thrown away afterwards; nothing of its owner's is touched or trusted. Ends with 1 where
the log does not hold.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from memoir_engine import MemoirError, Memory


def audit(path: Path) -> bool:
    """Print what can be said of an export, and return whether its log holds."""
    with tempfile.TemporaryDirectory() as empty:
        try:
            memory = Memory.import_(path, model="offline", data_dir=empty)
        except MemoirError as refused:
            print("REFUSED:", refused)
            print("→", refused.remedy)
            return False
        with memory:
            check = memory.audit.verify()
            print(f"log: {'whole' if check.ok else 'BROKEN'}, {check.checked} events, head {check.head.hash[:12]}…")
            _people(memory)
            _filings(memory)
            _signatures(memory)
            _facts(memory)
            return check.ok


def _people(memory: Memory) -> None:
    actions = memory.audit.actions(limit=1000)
    done = Counter((action.actor, action.verb) for action in actions)
    for (actor, verb), times in sorted(done.items()):
        print(f"{actor}: {verb} × {times}")
    undone = [action for action in actions if action.undone_by is not None]
    print(f"taken back: {len(undone)} of {len(actions)} actions")


def _filings(memory: Memory) -> None:
    waiting = memory.review.queue(limit=200).items
    print(f"chunks that nobody has reviewed: {len(waiting)}")
    for item in waiting[:3]:
        why = item.reasons[0].says if item.reasons else "not reviewed"
        print(f"  risk {item.risk:.2f} {' › '.join(item.path)}: {why}")


def _signatures(memory: Memory) -> None:
    for source in memory.sources.list():
        states = [f"{one.signer} ({one.state})" for one in memory.review.sign_offs(source_id=source.id)]
        print(f"{source.name}: signed by {', '.join(states) or 'nobody'}")


def _facts(memory: Memory) -> None:
    for person in memory.people.list():
        facts = memory.facts.list(person.user_id)
        bare = [fact for fact in facts if not any(origin.supported for origin in fact.origins)]
        print(f"{person.user_id}: {len(facts)} facts, {len(bare)} of them without words that support them")


def sample(path: Path) -> None:
    """Write an export to look at: one document, reviewed and signed, and a person of whom something is known."""
    with tempfile.TemporaryDirectory() as empty, Memory(model="offline", data_dir=empty) as memory:
        memory.ingest_text(
            "Tools are lent on Wednesdays from six to eight. A late tool costs two euros a week.", name="rules.txt"
        )
        memory.ingest_text("Trains are booked in second class. A hotel may cost 140 euros a night.", name="travel.txt")
        mia = memory.acting_as("Mia", roles=("auditor",))
        mia.review.approve(mia.review.queue().items[0].key, reason="read")
        mia.review.sign_off(1, "Read and found right.")
        memory.remember([{"role": "user", "content": "I live in Lyon and I work as a nurse."}], user_id="ana")
        memory.facts.add("Likes tea", user_id="ana", reason="told me on the phone")
        memory.export(path)


def main(arguments: list[str]) -> int:
    if arguments:
        return 0 if audit(Path(arguments[0])) else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.zip"
        sample(path)
        return 0 if audit(path) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
