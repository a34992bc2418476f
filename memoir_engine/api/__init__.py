"""TODO memoir_engine.api."""
