"""Scripts and styles by which a browser draws what is kept: shared by the app's components and by files that stand alone."""

from __future__ import annotations

from importlib.resources import files


def browser_code(name: str) -> str | None:
    """Return a script or style by its file name; None where there is none. They have no imports and load nothing.

    Text reaches the page by `textContent` only; the colours are Streamlit's variables (`--st-text-color` and the like).
    """
    found = files(__name__).joinpath(name)
    return found.read_text(encoding="utf-8") if name.endswith((".js", ".css")) and found.is_file() else None
