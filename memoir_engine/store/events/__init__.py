"""Registry of event kinds: what an event carries, its replay, inverse, evidence and words, together per kind."""
