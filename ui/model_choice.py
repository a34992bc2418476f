"""Choice of another model on the Settings page: price, window, key, a test, and the switch.

Invariant: a key typed here is handed to the engine and leaves the page with the next run of it; it is never drawn again.
Source: docs/decisions/0064.
"""

from __future__ import annotations

import streamlit as st

from memoir_engine import Memory, ModelOption
from ui import figures, problems, viewer
from ui.escape import md_escape
from ui.wording_settings import texts

KEY = "model-key"


def show(memory: Memory) -> None:
    """Draw the choice for an admin, or who may choose."""
    if not viewer.may(memory, key="model", role="admin"):
        return
    view = memory.models()
    if view.note:
        st.warning(md_escape(view.note), icon=":material/key_off:")
    if view.fixed:
        st.caption(texts.MODEL_FIXED)
        return
    options = {option.name: option for option in view.options}
    name = st.selectbox(texts.MODEL_CHOICE, options, index=list(options).index(view.model), key="model-choice")
    chosen = options[name]
    _facts(chosen)
    if not chosen.available:
        st.info(md_escape(chosen.remedy), icon=":material/info:")
        return
    _key(memory, chosen)
    if not chosen.in_force and st.button(texts.MODEL_USE, type="primary", icon=":material/check:", key="use-model"):
        with problems.noted():
            memory.choose_model(name)
            st.rerun()


def _facts(option: ModelOption) -> None:
    known = option.prompt_usd is not None and option.completion_usd is not None
    sent, received = figures.money(option.prompt_usd), figures.money(option.completion_usd)
    price = texts.MODEL_PRICE.format(sent=sent, received=received) if known else None
    window = texts.MODEL_WINDOW.format(tokens=figures.count(option.window_tokens)) if option.window_tokens else None
    cost = None if option.cost is None else texts.MODEL_COST.format(cost=figures.money(option.cost))
    st.caption("  \n".join(md_escape(line) for line in (price or texts.MODEL_NO_PRICE, window, cost) if line))


def _key(memory: Memory, option: ModelOption) -> None:
    """Ask for a key, test it with the model, and keep it."""
    if option.key is None:
        return
    st.caption(texts.KEY_THERE if option.key_from else texts.KEY_MISSING)
    with st.form("model-key-form", border=False, clear_on_submit=True):
        typed = st.text_input(texts.KEY_FIELD, type="password", key=KEY, help=texts.KEY_HELP, autocomplete="off")
        sent = st.form_submit_button(texts.KEY_KEEP, icon=":material/key:", key="keep-key")
    if sent and typed:
        with problems.noted(), st.spinner(texts.ASKING):
            check = memory.test_call(option.name, typed)
            if not check.ok:
                problems.tell(check.error or texts.TEST_FAILED, check.remedy)
                return
            memory.enter_key(option.key, typed)
            st.rerun()
