"""Spans and metrics of runs and model calls for OpenTelemetry, where a setting asks for them: the names of the stub beside it.

Each is loaded when it is first used: its libraries are an extra.
"""

from memoir_engine.core.lazy import attach

__getattr__, __dir__ = attach(__name__, __file__)
