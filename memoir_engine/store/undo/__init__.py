"""TODO memoir_engine.store.undo."""
