"""Components v2: each has its Python face here and its script and style beside it.

Invariant: text reaches the page by `textContent` only, and every id that comes back is checked in Python.
"""
