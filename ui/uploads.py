"""Upload of files or a text: the estimate, the question whether it is a newer version of a source, and the start.

Invariant: no model is called before the button is pressed; a recurring name is asked about file by file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import streamlit as st

from memoir_engine import Estimate, MemoirConfig, MemoirError, Memory, Source
from ui import fact_filters, figures, problems, remember_form, state, viewer
from ui.escape import md_escape
from ui.wording_columns import texts as labels
from ui.wording_counts import texts as counts
from ui.wording_facts import texts as wording_facts
from ui.wording_sources import texts

AT_ONCE_BYTES = 3_000_000  # cut and counted unasked; more than that on a click
FILE_TYPES = ("txt", "md", "markdown", "html", "htm", "pdf", "docx", "eml")
_ANOTHER = 0  # no source has this id


@dataclass(frozen=True)
class Upload:
    """Chosen file or text, not yet started. mark: its id in this session."""

    verb: str
    name: str
    data: bytes
    mark: str

    def arguments(self) -> dict[str, Any]:
        return {"text": self.data.decode()} if self.verb == "ingest_text" else {"data": self.data}


def add(memory: Memory) -> bool:
    """Draw the upload form; return whether a conversation is to be added instead."""
    kind = st.segmented_control(
        labels.KIND,
        [texts.ADD_FILES, texts.ADD_TEXT, texts.ADD_TALK],
        default=texts.ADD_FILES,
        required=True,
        label_visibility="collapsed",
        key="src-kind",
        width="stretch",
    )
    with st.container(border=True, key="add"):
        if kind == texts.ADD_TALK:
            _talk(memory)
        elif kind == texts.ADD_TEXT:
            _text(memory)
        else:
            _files(memory)
    if kind == texts.ADD_TALK:
        st.caption(wording_facts.REMEMBER_ABOUT)
        return True
    config = memory.config
    st.caption(texts.HOW_FILED.format(least=config.chunk_min_tokens, most=config.chunk_max_tokens))
    if not config.auto_source_identification:
        st.caption(f":material/edit_note: {texts.ASKED_FIRST}")
    return False


def _talk(memory: Memory) -> None:
    fresh = int(st.session_state.get("talk_round", 0))
    if remember_form.fields(fact_filters.seen_by(memory), fresh=fresh) is not None:
        st.session_state["talk_round"] = fresh + 1
        st.rerun()


def _files(memory: Memory) -> None:
    fresh = int(st.session_state.get("upload_round", 0))
    files = st.file_uploader(
        texts.DROP,
        type=FILE_TYPES,
        accept_multiple_files=True,
        key=f"upload-{fresh}",
        max_upload_size=memory.config.max_file_mb,
    )
    given = [Upload("ingest_file", file.name, file.getvalue(), str(file.file_id)) for file in files]
    if _started(memory, given, key="file-files", disabled=not files):
        st.session_state["upload_round"] = fresh + 1
        st.rerun()


def _text(memory: Memory) -> None:
    fresh = int(st.session_state.get("text_round", 0))
    name = st.text_input(texts.TEXT_NAME, placeholder=texts.TEXT_NAME_PLACEHOLDER, key=f"text-name-{fresh}", max_chars=200)
    text = st.text_area(texts.TEXT_BODY, placeholder=texts.TEXT_BODY_PLACEHOLDER, key=f"text-body-{fresh}", height=200)
    data = text.encode("utf-8", "replace")
    given = Upload("ingest_text", name.strip() or texts.PASTED_NAME, data, sha256(data).hexdigest()[:16])
    if _started(memory, [given], key="file-text"):
        st.session_state["text_round"] = fresh + 1
        st.rerun()


def _started(memory: Memory, given: Sequence[Upload], *, key: str, disabled: bool = False) -> bool:
    """Ask what is open, show the estimate, and start when the button is pressed."""
    replaces = {one.mark: _which(memory, one) for one in given}
    unsaid = any(answer is None for answer in replaces.values())
    _foreseen(memory, [one for one in given if one.data.strip()])
    if unsaid:
        st.caption(f":orange[:material/help: {texts.SAY_FIRST}]")
    refused = any(replaces.values()) and not viewer.may(memory, key=key)  # a newer version withdraws what stands
    auto = memory.config.auto_source_identification
    label, icon = (texts.FILE_IT, ":material/check:") if auto else (texts.GO_ON, ":material/arrow_forward:")
    if not st.button(label, type="primary", icon=icon, key=key, disabled=disabled or unsaid or refused):
        return False
    if any(one.verb == "ingest_text" and not one.data.strip() for one in given):
        st.warning(texts.NO_TEXT, icon=":material/edit:")
        return False
    with problems.shown():
        runs = [_start(memory, one, replaces[one.mark] or None) for one in given]
    if len(runs) == 1 and not auto:
        state.update(draft=runs[0])
    return True


def _start(memory: Memory, one: Upload, replaces: int | None) -> str:
    return memory.start(one.verb, name=one.name, replaces=replaces, **one.arguments())


def _which(memory: Memory, one: Upload) -> int | None:
    """Return the source this replaces, _ANOTHER for none, None while undecided."""
    there = memory.sources.by_name(one.name) if one.data else ()
    if not there:
        return _ANOTHER
    st.markdown(texts.RECURS.format(name=figures.named(one.name, 60)[0]))
    choices = {source.id: _newer(source, alone=len(there) == 1) for source in there} | {_ANOTHER: texts.ANOTHER}
    chosen: int | None = st.radio(
        texts.RECURS.format(name=figures.named(one.name, 60)[0]),
        list(choices),
        index=None,
        format_func=lambda source_id: choices[source_id],
        captions=[texts.NEWER_NOTE] * len(there) + [""],
        label_visibility="collapsed",
        key=f"recurs-{one.mark}",
    )
    return chosen


def _newer(source: Source, *, alone: bool) -> str:
    form = texts.NEWER if alone else texts.NEWER_OF
    chunks = counts.CHUNKS(source.chunks)
    return form.format(version=source.version, chunks=chunks, when=figures.stamp(source.created_at))


def _foreseen(memory: Memory, given: Sequence[Upload]) -> None:
    """Show the estimate of all uploads; for large ones only on request, since cutting them takes time."""
    if not given:
        return
    unknown = [one for one in given if _key(one) not in st.session_state]
    large = sum(len(one.data) for one in unknown) > AT_ONCE_BYTES
    if large and not st.button(texts.ESTIMATE, icon=":material/calculate:", key="estimate"):
        return
    if unknown:
        with st.spinner(texts.ESTIMATING):
            for one in unknown:
                st.session_state[_key(one)] = json.dumps(_estimated(memory, one))
    known = [json.loads(st.session_state[_key(one)]) for one in given]
    for wrong in known:
        if "problem" in wrong:
            problems.tell(wrong["problem"], wrong["remedy"])
    _tell(memory, [Estimate(**each) for each in known if "problem" not in each])


def _estimated(memory: Memory, one: Upload) -> dict[str, Any]:
    try:
        return asdict(
            memory.estimate(one.data, name=one.name) if one.verb == "ingest_file" else memory.estimate(one.data.decode())
        )
    except MemoirError as error:
        return {"problem": str(error), "remedy": error.remedy}


def _tell(memory: Memory, estimates: Sequence[Estimate]) -> None:
    if not estimates:
        return
    costs = [each.cost for each in estimates]
    cost = None if None in costs else sum(each for each in costs if each is not None)
    line = texts.ESTIMATED.format(
        chunks=counts.CHUNKS(sum(each.chunks for each in estimates)),
        calls=counts.CALLS(sum(each.calls for each in estimates)),
        tokens=figures.many_tokens(sum(each.tokens_prompt + each.tokens_completion for each in estimates)),
        cost=md_escape(figures.money(cost)),
    )
    st.markdown(f":small[:material/calculate: {line}]", help=texts.ESTIMATED_ABOUT)
    if cost is not None or memory.config.max_cost is None:  # else the cap says it
        for note in dict.fromkeys(each.note for each in estimates if each.note):
            st.caption(md_escape(note))
    _cap(memory.config, None if cost is None else max((each for each in costs if each is not None), default=0.0))


def _cap(config: MemoirConfig, dearest: float | None) -> None:
    """Explain the cost cap, which holds per run, each text being a run. dearest None: no price is known."""
    cap = config.max_cost
    if cap is None:
        return
    unknown = texts.CAP_NOT_COUNTED if config.accept_unknown_price else texts.CAP_UNKNOWN
    form, color = (unknown, "red") if dearest is None else (texts.OVER_CAP, "red") if dearest > cap else (texts.CAP, "gray")
    st.markdown(f":small[:{color}[:material/lock: {form.format(cap=md_escape(figures.money(cap)))}]]")


def _key(one: Upload) -> str:
    return f"estimate-{one.mark}"
