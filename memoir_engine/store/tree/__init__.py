"""The category tree: current and past, its history, edits, filings and filed chunks."""
