"""Pure functions over text: no I/O, no clock, no randomness."""
