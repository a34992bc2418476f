"""What waits for a person, ordered by what speaks against it."""
