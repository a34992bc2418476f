"""Streamlit components (v2): Python wrappers with their scripts and styles beside them.

Invariant: text reaches the page by `textContent` only, and every id that comes back is checked in Python.
"""
