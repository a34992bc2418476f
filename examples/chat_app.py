"""A chat app in Streamlit that remembers: what is known of you stands beside the chat, and you put it right there.

Runs offline: streamlit run examples/chat_app.py      (pip install 'memoir-engine[app]')
With a model: MEMOIR_MODEL=gpt-4o-mini OPENAI_API_KEY=… streamlit run examples/chat_app.py

Facts are drawn behind each turn. Nothing is overwritten: "Correct it" and "It has ended" are actions with a reason, and "Undo"
takes the last one back.
"""

from __future__ import annotations

import os

import streamlit as st

from memoir_engine import Action, AgentClient, FactView, MemoirError, Memory

USER = "you"


@st.cache_resource
def opened() -> Memory:
    """Open the memory once for all tabs; it lies in the folder .memoir-chat."""
    return Memory(model=os.environ.get("MEMOIR_MODEL", "offline"), data_dir=".memoir-chat")


def send(ours: Memory, text: str) -> None:
    """Let the agent reply, and wait until the facts of this turn are drawn."""
    agent = AgentClient(memory=ours, system_prompt="You are kind and brief.", remember=True)
    try:
        reply = agent.query(text, session_id=st.session_state.get("session"))
        st.session_state["session"] = reply.session_id
        agent.wait()
    except MemoirError as error:
        st.error(f"{error}\n\n{error.remedy}")


def draw_chat(ours: Memory) -> None:
    session = st.session_state.get("session")
    for message in ours.sessions.get_session_history(session) if session else ():
        with st.chat_message(message.role):
            st.text(message.content)  # what people and models say is text, never markup


def draw_fact(ours: Memory, fact: FactView) -> None:
    """Draw one fact with the words it was drawn from, and what can be done about it."""
    words = st.text_input("Known", fact.content, key=f"words-{fact.id}", label_visibility="collapsed")
    if fact.origins and fact.origins[0].quote:
        st.caption(f"You said: “{fact.origins[0].quote}”")
    correct, end = st.columns(2)
    if correct.button("Correct it", key=f"correct-{fact.id}", disabled=words == fact.content):
        noted(ours.facts.correct(fact.id, words, reason="put right in the chat"))
    if end.button("It has ended", key=f"end-{fact.id}"):
        noted(ours.facts.retire(fact.id, reason="ended, said in the chat"))


def noted(action: Action) -> None:
    st.session_state["last"] = action.action_id
    st.rerun()


ours = opened().acting_as(USER, user=USER, roles=("auditor",))
st.title("A chat that remembers")
if said := st.chat_input("Tell me something about yourself"):
    send(ours, said)
draw_chat(ours)
with st.sidebar:
    st.header("What I know of you")
    for known in ours.facts.list(status="active"):
        draw_fact(ours, known)
    if last := st.session_state.get("last"):
        if st.button("Undo"):
            ours.review.undo(last, reason="pressed by mistake")
            st.session_state.pop("last")
            st.rerun()
