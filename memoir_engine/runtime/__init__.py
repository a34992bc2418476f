"""TODO memoir_engine.runtime."""
