"""Facts: commit, read, review, forget, and their vectors."""
