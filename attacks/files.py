"""Damaged files: PDF, DOCX and e-mail, mutated at random, are read or refused; nothing crashes and nothing is half stored."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

from attacks.frame import Outcome, named, of_tests
from memoir_engine import MemoirError, Memory

SIZE, SHORT, UNIT = 600, 24, "files"
SENTENCES = (
    "The ferry leaves at noon.",
    "Tea is grown in Uji.",
    "Rent is due on the third working day.",
    "Violins are varnished.",
)
DONE = ("mutated files", "read and stored", "refused with a coded error")
HARM = ("crashes", "half stored", "chain that does not verify")


def main(size: int, folder: Path) -> Iterator[Outcome]:
    chance = random.Random(size)
    originals = [("letter.pdf", _pdf()), ("letter.docx", _docx()), ("letter.eml", _mail())]
    counts: Counter[str] = Counter()
    with Memory(data_dir=folder, model="offline", chunk_min_tokens=8, chunk_max_tokens=60) as memory:
        for number in range(size):
            name, data = originals[number % len(originals)]
            counts += _take_in(memory, f"{number}-{name}", mutated(data, chance))
            yield _outcome(counts, HARM[:-1])
        counts["chain that does not verify"] += not memory.audit.verify().ok
    yield _outcome(counts, HARM)


def _outcome(counts: Counter[str], harm: tuple[str, ...]) -> Outcome:
    return Outcome("Mutated PDF, DOCX and e-mail files", named(counts, DONE), named(counts, harm))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Change a few places: bytes overwritten, cut out, doubled, zeroed, or the end cut off."""
    made = bytearray(data)
    for _ in range(1 + chance.randrange(8)):
        if not made:
            break
        at, length = chance.randrange(len(made)), 1 + chance.randrange(40)
        match chance.randrange(6):
            case 0:
                made[at] = chance.randrange(256)
            case 1:
                del made[at : at + length]
            case 2:
                made[at:at] = made[at : at + length] * (1 + chance.randrange(20))
            case 3:
                made[at : at + length] = bytes(length)
            case 4:
                made[at : at + length] = chance.randbytes(length)
            case _:
                if chance.random() < 0.2:
                    del made[at:]
    return bytes(made)


def _take_in(memory: Memory, name: str, data: bytes) -> Counter[str]:
    counts: Counter[str] = Counter({"mutated files": 1})
    before = _stored(memory)
    try:
        result = memory.ingest_file(data, name=name)
    except MemoirError:
        counts["refused with a coded error"] += 1
        counts["half stored"] += _stored(memory) != before
    except Exception as error:  # whatever is not coded is a crash
        print(f"{name}: {error!r}")
        counts["crashes"] += 1
    else:
        stored = result.status == "success"
        counts["read and stored" if stored else "refused with a coded error"] += 1
        counts["half stored"] += not stored and _stored(memory) != before
    return counts


def _stored(memory: Memory) -> tuple[int, int, int]:
    seen = memory.overview(points=0)
    return seen.sources, seen.chunks, len(memory.tree.all())


def _pdf() -> bytes:
    reportlab = of_tests("reportlab.pdfgen.canvas")
    written = io.BytesIO()
    canvas = reportlab.Canvas(written, pageCompression=0)
    for page in range(2):
        for line, sentence in enumerate(SENTENCES):
            canvas.drawString(72, 720 - 20 * line, f"{sentence} Page {page}.")
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def _docx() -> bytes:
    document = of_tests("docx").Document()
    document.add_heading("A letter", 1)
    for sentence in SENTENCES * 3:
        document.add_paragraph(sentence)
    table = document.add_table(2, 2)
    table.cell(0, 0).text, table.cell(1, 1).text = "harbour", "noon"
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def _mail() -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Mia <mia@example.org>", "ben@example.org", "The ferry"
    message["Date"] = "Tue, 5 Mar 2024 14:02:00 +0100"
    message.set_content(" ".join(SENTENCES))
    message.add_alternative(f"<p>{'</p><p>'.join(SENTENCES)}</p>", subtype="html")
    message.add_attachment("Schöne Grüße. " * 10, filename="note.txt")
    return bytes(message)
