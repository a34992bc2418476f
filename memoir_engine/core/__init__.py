"""Core: errors, results, events, settings, ports and runs, which every room speaks. No I/O."""
