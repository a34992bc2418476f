"""Settings: values in force and their origin, a test call, and the check of the audit chain."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import streamlit as st

from memoir_engine import Memory, ModelCheck, SettingView
from ui import chain_view, figures, frame, memory_file, model_choice, problems, search_card, viewer
from ui.escape import md_escape
from ui.wording import texts as wording
from ui.wording_columns import texts as labels
from ui.wording_settings import texts

LINES = 62  # px: what a setting does may need three of them
PLACES = {"database_url": labels.DATABASE, "data_dir": labels.DATA_FOLDER}


def model(memory: Memory) -> None:
    with st.container(border=True, key="model"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{texts.MODEL_TITLE}**", width="content")
            st.badge(md_escape(memory.model_name), color="orange" if memory.is_offline else "green")
        st.caption(texts.MODEL_ABOUT)
        if st.button(texts.TEST_CALL, icon=":material/bolt:", key="test-call"):
            with problems.noted(), st.spinner(texts.ASKING):
                _keep("settings-tested", asdict(memory.test_call()))
        kept = _kept("settings-tested")
        if kept:
            tested(ModelCheck(**kept))
        model_choice.show(memory)


def tested(check: ModelCheck) -> None:
    if not check.ok:
        problems.tell(check.error or texts.TEST_FAILED, check.remedy)
        return
    tokens = texts.TEST_TOKENS.format(prompt=check.tokens_prompt, completion=check.tokens_completion)
    line = texts.TEST_OK.format(model=md_escape(check.model), latency=figures.duration(check.latency_ms))
    st.success(f"{line} :small[:gray[{tokens}]]", icon=":material/check_circle:")


def _keep(key: str, check: dict[str, Any]) -> None:
    """Store a result as text, so that one card's result stays while the other's button is pressed."""
    st.session_state[key] = json.dumps(check)


def _kept(key: str) -> dict[str, Any]:
    return dict(json.loads(st.session_state.get(key, "{}")))


def places(settings: tuple[SettingView, ...]) -> None:
    with st.container(border=True, key="places"):
        st.markdown(f"**{texts.PLACE_TITLE}**")
        for setting in settings:
            if setting.name in PLACES:
                st.caption(PLACES[setting.name])
                st.code(setting.value, language=None, wrap_lines=True)


def in_force(memory: Memory, settings: tuple[SettingView, ...]) -> None:
    import pandas as pd

    st.subheader(texts.IN_FORCE, anchor=False)
    st.caption(texts.IN_FORCE_ABOUT)
    rows = [
        {labels.SETTING: s.name, labels.VALUE: _value(memory, s), labels.FROM: s.origin, labels.DOES: _about(s)} for s in settings
    ]
    columns = {
        labels.SETTING: st.column_config.TextColumn(width=250),
        labels.VALUE: st.column_config.TextColumn(width=190),
        labels.FROM: st.column_config.TextColumn(width=90),
        labels.DOES: st.column_config.TextColumn(width=340),
    }
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=columns,
        key="settings-table",
        row_height=LINES,
        height=min(len(rows) + 1, 12) * LINES,
    )


def _about(setting: SettingView) -> str:
    """Strip code marks, since table cells are plain text."""
    return " ".join(setting.about.replace("`", "").split())


def _value(memory: Memory, setting: SettingView) -> str:
    if setting.name == "model" and setting.value == "none":
        return texts.NO_MODEL.format(model=memory.model_name)
    return setting.value


memory = viewer.memory()
with frame.head("settings", wording.PAGES["settings"]):
    pass
with problems.shown():
    settings = memory.settings()
    left, right = st.columns(2, gap="small")
    with left:
        model(memory)
        search_card.show(memory)
        places(settings)
    with right:
        chain_view.card(memory)
        memory_file.show(memory)
    in_force(memory, settings)
