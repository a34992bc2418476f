"""From the settings and a model's window to the tokens of a cut.

Invariant: 0 ≤ minimum < maximum ≤ window, and 0 ≤ overlap < maximum; what cannot be so is refused with the way out.
Source: CHUNK 2.3, 3.3, 4.4, 10; spec README, small print on CHUNK 2.3.
"""

from __future__ import annotations

from memoir_engine.errors import InvalidSetting
from memoir_engine.results.cuts import CutLimits
from memoir_engine.settings import ConversationSettings

SHARE_OF_WINDOW = 0.8
SHARE_OF_MAXIMUM = 0.2  # of the minimum


def limits_for(settings: ConversationSettings, window: int, *, known: bool = True) -> CutLimits:
    """window: tokens that the model takes, by `settings.window_tokens` if that is set. known: False where it is assumed.

    An assumed window gives way to a larger maximum. Raises InvalidSetting (E102).
    """
    if settings.window_tokens is not None:
        window, known = settings.window_tokens, True
    most = settings.max_tokens if settings.max_tokens is not None else max(1, int(SHARE_OF_WINDOW * window))
    if most > window and known:
        raise _refused("max_tokens", most, f"the model takes {window} tokens", "Lower it, or set conversation.window_tokens.")
    least = settings.min_tokens if settings.min_tokens is not None else int(SHARE_OF_MAXIMUM * most)
    shared = settings.overlap_tokens if settings.overlap_tokens is not None else int(settings.overlap_percent / 100 * most)
    for name, value in (("min_tokens", least), ("overlap_tokens", shared)):
        if value >= most:
            advice = f"Lower conversation.{name}, or raise conversation.max_tokens."
            raise _refused(name, value, f"it must be below the tokens of one cut ({most})", advice)
    return CutLimits(most, least, shared, max(window, most), known)


def _refused(name: str, value: int, problem: str, advice: str) -> InvalidSetting:
    return InvalidSetting(name=f"conversation.{name}", value=value, problem=problem, advice=advice)
