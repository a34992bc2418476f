"""TODO memoir_engine.core."""
