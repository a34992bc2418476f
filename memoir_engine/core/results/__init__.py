"""What callers receive: frozen values, detached from any database.

Invariant: nothing here knows where it came from; the store, the services and the pages share these and no twins.
Times are aware and UTC. Latencies are milliseconds unless the name says seconds. Costs are USD, None when not known.
Source: MEMOIR 4.3–4.5 and 9 (final outputs), API.md, DESIGN §5.
"""

# ruff: noqa: F403

from memoir_engine.core.results.conversations import *
from memoir_engine.core.results.cuts import *
from memoir_engine.core.results.documents import *
from memoir_engine.core.results.evidence import *
from memoir_engine.core.results.facts import *
from memoir_engine.core.results.knowledge import *
from memoir_engine.core.results.outcomes import *
from memoir_engine.core.results.review import *
