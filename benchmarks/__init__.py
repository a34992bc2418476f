"""Benchmarks, one module each, through the public names only.

A benchmark is a module with `main(size) -> dict`, size "full" or "small". The dict holds:

- `title`: what is measured, in one line
- `sizes`: what it was measured on, name → number
- `figures`: a list made by `frame.figure(...)`: name, unit, median, runs, and an aim where there is one
- `packages` (optional): names of further libraries whose versions matter
- `notes` (optional): lines a reader needs to read the figures rightly

It names the data sets it reads in `READS` (`data`); where those with the labels are absent, it has no figures. In `FEATURES` it
names the rooms of the engine it is about, by which the age of a figure is told (`ages`).

Invariant: small sizes run in the test suite, which looks at the shape and never at a time; full sizes make the
documented figures. `python -m benchmarks [NAME …] [--small]` runs them.
"""
