"""Indexes: caches over what SQL holds, rebuilt from it, never trusted over it."""
