"""TODO memoir_engine.store.facts."""
