"""TODO memoir_engine.store.erase."""
