"""Sources, their texts and files, and their contextual helpers."""
