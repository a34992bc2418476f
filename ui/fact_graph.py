"""Graph of the relations between facts: facts on a ring, relations as lines.

Invariant: a relation is shown by words as well as by colour; labels are escaped, since plotly reads some HTML.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from memoir_engine import FactRelation, FactView
from ui import figures, frame, presenting
from ui.wording_facts import texts

MOST = 60  # relations; a ring of more facts cannot be read
LABEL = 34
LIGHT = {"text": "#11142D", "line": "#94A3B8", "contradicts": "#DC2626", "node": "#4F46E5", "old": "#A6ACC2", "paper": "#FFFFFF"}
DARK = {"text": "#E8EAF6", "line": "#64748B", "contradicts": "#F87171", "node": "#818CF8", "old": "#4A5078", "paper": "#0E1020"}


def show(facts: Sequence[FactView], relations: Sequence[FactRelation]) -> None:
    known = {fact.id: fact for fact in facts}
    links = [one for one in relations if one.source in known and one.target in known]
    if not links:
        frame.empty(texts.NO_RELATIONS, texts.NO_RELATIONS_TEXT, ":material/hub:")
        return
    ids = list(dict.fromkeys(end for one in links[:MOST] for end in (one.source, one.target)))
    dark = st.context.theme.type == "dark"
    figure = _figure([known[uid] for uid in ids], links[:MOST], DARK if dark else LIGHT)
    st.plotly_chart(figure, key="facts-graph", config={"displayModeBar": False})
    if len(links) > MOST:
        st.caption(texts.FEWER_RELATIONS.format(shown=figures.count(MOST), all=figures.count(len(links))))


def _figure(facts: Sequence[FactView], links: Sequence[FactRelation], colors: dict[str, str]) -> Any:
    import plotly.graph_objects as go

    places = {fact.id: _place(at, len(facts)) for at, fact in enumerate(facts)}
    figure = go.Figure()
    for link in links:
        (x, y), (to_x, to_y) = places[link.source], places[link.target]
        color = colors.get(link.kind, colors["line"])
        figure.add_annotation(
            x=to_x, y=to_y, ax=x, ay=y, xref="x", yref="y", axref="x", ayref="y", arrowhead=2, arrowsize=1, arrowwidth=1.6,
            arrowcolor=color, standoff=9, startstandoff=9, text="",
        )  # fmt: skip
        figure.add_annotation(
            x=(x + to_x) / 2, y=(y + to_y) / 2, text=texts.RELATIONS.get(link.kind, link.kind), showarrow=False,
            font={"size": 11 * presenting.scale(), "color": color}, bgcolor=colors["paper"], borderpad=2,
        )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=[places[fact.id][0] for fact in facts],
            y=[places[fact.id][1] for fact in facts],
            mode="markers+text",
            marker={"size": 15, "color": [colors["node" if fact.status == "active" else "old"] for fact in facts]},
            text=[_label(fact) for fact in facts],
            textposition=[_side(*places[fact.id]) for fact in facts],
            textfont={"size": 12 * presenting.scale(), "color": colors["text"]},
            hovertext=[html.escape(fact.content, quote=False) for fact in facts],
            hoverinfo="text",
            cliponaxis=False,
        )
    )
    axis = {"visible": False, "range": [-3, 3], "fixedrange": True}
    figure.update_layout(
        height=460, showlegend=False, margin={"l": 10, "r": 10, "t": 20, "b": 20}, xaxis=axis,
        yaxis={**axis, "range": [-1.3, 1.3]}, paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
    )  # fmt: skip
    return figure


def _place(at: int, of: int) -> tuple[float, float]:
    angle = math.pi / 2 - 2 * math.pi * (at + 0.5) / of
    return 1.05 * math.cos(angle), math.sin(angle)


def _side(x: float, y: float) -> str:
    if abs(x) < 0.2:
        return "top center" if y > 0 else "bottom center"
    return "middle right" if x > 0 else "middle left"


def _label(fact: FactView) -> str:
    return html.escape(figures.one_line(fact.content, LABEL), quote=False)
