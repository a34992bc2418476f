"""Memoir: see, question, correct and undo what an AI remembers.

The public names stand in `__init__.pyi`, and nothing else is public. Importing this package loads none of them.
"""

from memoir_engine.core.lazy import attach as _attach

__getattr__, __dir__ = _attach(__name__, __file__)
