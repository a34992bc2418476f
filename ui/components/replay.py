"""The player that shows how an answer was found, step by step.

Invariant: it draws what the run's record holds, as text; playing changes nothing. The engine's file plays by the same script.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st

from memoir_engine import PageImage, Replay, ReplayTexts, tell_replay
from ui.components.scripts import read, script

_component = st.components.v2.component(
    "memoir_replay",
    html='<div class="player"></div>\n',
    css=":host { display: block; }\n" + read("markup.css") + read("replay.css"),
    js=script("cite.js", "markup.js", "replay_player.js", "replay.js"),
)


def show(replay: Replay, pages: Mapping[int, PageImage], texts: ReplayTexts, *, key: str, starts: bool) -> None:
    """Draw the player. pages: on which evidence stands, by the chunk's id. starts: it plays at once, where motion is welcome."""
    body = asdict(replay)
    data: dict[str, Any] = {
        "replay": {"answer": replay.answer, "answered": replay.answered, "question": replay.question, "steps": body["steps"]}
        | {"labels": {str(number): label for number, label in replay.labels.items()}},
        "told": list(tell_replay(replay, texts)),
        "words": dict(texts.player),
        "reasons": dict(texts.reasons),
        "pictures": {str(chunk_id): _picture(image, texts) for chunk_id, image in pages.items()},
        "starts": starts,
    }
    _component(key=key, data=data)


def _picture(image: PageImage, texts: ReplayTexts) -> dict[str, Any]:
    src = "data:image/png;base64," + base64.b64encode(image.png).decode()
    alt = texts.player["page"].format(page=image.page)
    return {"src": src, "alt": alt, "top": image.boxes[0].top if image.boxes else 0.0}
