"""Settings: what is in force and where it came from, a test call, and the check of the audit chain."""

from __future__ import annotations

import streamlit as st

from memoir_engine import AuditCheck, Memory, ModelCheck, SettingView
from ui import engine, figures, frame, problems, wording
from ui.escape import md_escape

PLACES = {"database_url": "Database", "data_dir": "Data folder"}


def model(memory: Memory) -> None:
    with st.container(border=True, key="model"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{wording.MODEL_TITLE}**", width="content")
            st.badge(md_escape(memory.model_name), color="orange" if memory.is_offline else "green")
        st.caption(wording.MODEL_ABOUT)
        if st.button(wording.TEST_CALL, icon=":material/bolt:", key="test-call"):
            with problems.noted(), st.spinner("Asking"):
                tested(memory.test_call())


def tested(check: ModelCheck) -> None:
    if not check.ok:
        problems.tell(check.error or wording.TEST_FAILED, check.remedy)
        return
    tokens = f"{check.tokens_prompt} tokens in, {check.tokens_completion} out"
    line = wording.TEST_OK.format(model=md_escape(check.model), latency=figures.duration(check.latency_ms))
    st.success(f"{line} :small[:gray[{tokens}]]", icon=":material/check_circle:")


def audit(memory: Memory) -> None:
    head = memory.audit.head()
    with st.container(border=True, height="stretch", key="audit"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{wording.AUDIT_TITLE}**", width="content")
            st.badge(figures.plural(head.seq, "event", "events"), color="gray")
        st.caption(wording.AUDIT_ABOUT)
        st.code(head.hash, language=None, wrap_lines=True)
        expected = st.text_input(wording.EXPECTED, key="expected-head", help=wording.EXPECTED_HELP, placeholder="64 hex digits")
        if st.button(wording.VERIFY, icon=":material/verified:", key="verify"):
            with problems.noted(), st.spinner("Checking"):
                verified(memory.audit.verify(expected_head=expected.strip() or None))


def verified(check: AuditCheck) -> None:
    if check.ok:
        st.success(wording.VERIFY_OK.format(checked=figures.count(check.checked)), icon=":material/verified:")
    else:
        problems.tell(wording.VERIFY_BAD, check.problem)


def places(settings: tuple[SettingView, ...]) -> None:
    with st.container(border=True, key="places"):
        st.markdown(f"**{wording.PLACE_TITLE}**")
        for setting in settings:
            if setting.name in PLACES:
                st.caption(PLACES[setting.name])
                st.code(setting.value, language=None, wrap_lines=True)


def in_force(settings: tuple[SettingView, ...]) -> None:
    import pandas as pd

    st.subheader(wording.IN_FORCE, anchor=False)
    st.caption(wording.IN_FORCE_ABOUT)
    rows = [{"Setting": s.name, "Value": s.value, "From": s.origin, "What it does": s.about} for s in settings]
    columns = {
        "Setting": st.column_config.TextColumn(width=230),
        "Value": st.column_config.TextColumn(width=230),
        "From": st.column_config.TextColumn(width=90),
        "What it does": st.column_config.TextColumn(width="large"),
    }
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=columns,
        key="settings-table",
        height=frame.table_height(len(rows), most=20),
    )


memory = engine.memory()
with frame.head("settings", "Settings"):
    pass
with problems.shown():
    settings = memory.settings()
    left, right = st.columns(2, gap="small")
    with left:
        model(memory)
        places(settings)
    with right:
        audit(memory)
    in_force(settings)
