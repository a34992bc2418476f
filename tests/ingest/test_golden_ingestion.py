"""The requests of one ingestion into a memory that holds another text, as golden text: any change is seen as a difference."""

from __future__ import annotations

from golden_texts import Golden, requests_text
from scripted_model import Opened, Script

HELD = """\
Harbour/Ferries/Timetable The ferry to the island leaves the northern quay at nine, and at ten on Sundays.

Garden/Pruning/Roses Roses are pruned in February, before the first leaves, and never when it freezes.
"""
NEW = """\
Harbour/Ferries/Tickets A ticket for the ferry costs four euros; children below six travel free of charge.

Harbour/Cranes/Repairs The old crane was repaired in March 1998, which took the harbour office eleven weeks.

Garden/Watering/Summer In summer the tomatoes are watered in the evening, from barrels that hold the rain.

Kitchen/Baking/Bread Rye bread rests overnight in the cold pantry and is baked at six, before the market opens.
"""


def test_an_ingestion_sends_what_was_agreed(opened: Opened, script: Script, golden: Golden):
    memory = opened(max_concurrency=1)  # else requests of one wave overtake each other
    memory.ingest_text(HELD, name="before.md", contextual_helper="Notes of a town by the sea. Date: 1999.").raise_for_error()
    script.requests.clear()
    memory.ingest_text(NEW, name="year.md").raise_for_error()
    golden("ingestion", requests_text(script.requests))
