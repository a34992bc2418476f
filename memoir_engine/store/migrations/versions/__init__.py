"""One file per revision, oldest first; a released one is never edited."""
