"""The hash chain of actions and events: writing, reading, payloads, tombstones."""
