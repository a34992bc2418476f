"""A report as a page: one HTML file that needs nothing but itself, for the screen and for paper.

Invariant: every text comes in through `_text`, which leaves no markup alive; the page may load and run nothing (its policy allows
only its own style, by digest), and holds no address of anything.
Source: API "The ledger and the audit" (memory.reports); DESIGN §12 (untrusted text).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from memoir_engine.audit.report_record import Record

# === style: How a report looks, on a screen, light or dark, and on paper. No address in it: it loads nothing.


STYLE = """
:root{--ink:#1b1b2f;--soft:#5d6078;--line:#dcdde8;--back:#fff;--card:#f7f7fb;--good:#1a7f4b;--bad:#b3541e;--accent:#4f46e5}
@media (prefers-color-scheme:dark){:root{--ink:#e9e9f4;--soft:#a3a6bd;--line:#33354c;--back:#12131f;--card:#1a1c2b;
--good:#5ccf93;--bad:#f0a35e;--accent:#8f88ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 Inter,system-ui,"Segoe UI",Roboto,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2.5rem 1.5rem}
h1{font-size:1.7rem;line-height:1.25;margin:.1rem 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
h3{font-size:1rem;margin:0 0 .2rem;overflow-wrap:anywhere}
p{margin:.2rem 0}
.kind{color:var(--accent);font-weight:600;letter-spacing:.02em}
.label{color:var(--soft);font-size:.85rem;margin-top:.8rem}
.soft{color:var(--soft);font-size:.9em;font-weight:400}
.warn{color:var(--bad)}
.digest{font-family:"JetBrains Mono",ui-monospace,Menlo,Consolas,monospace;font-size:.8em;
overflow-wrap:anywhere;color:var(--soft)}
.path{font-weight:600}
.tag{display:inline-block;border:1px solid var(--line);border-radius:6px;padding:0 .45em;font-size:.78rem;font-weight:500;
color:var(--soft);vertical-align:middle}
.tag.good{color:var(--good);border-color:currentColor}
.tag.bad{color:var(--bad);border-color:currentColor}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.25rem 1.2rem;margin:.6rem 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.9rem 1.1rem;margin:.8rem 0}
blockquote{margin:.4rem 0;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--line);white-space:pre-wrap;
overflow-wrap:anywhere}
blockquote.answer{border-color:var(--accent)}
pre{font:inherit;white-space:pre-wrap;overflow-wrap:anywhere;margin:.5rem 0;padding-left:.9rem;border-left:3px solid var(--line)}
.quote{padding-left:.9rem;border-left:3px solid var(--good);overflow-wrap:anywhere}
ul{margin:.3rem 0;padding-left:1.2rem}
li{overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse;font-size:.88rem;margin:.6rem 0;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:500}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
td.n{white-space:nowrap}
footer{margin-top:3rem}
@media print{@page{margin:16mm 14mm}:root{--ink:#000;--soft:#444;--line:#bbb;--back:#fff;--card:#fff;--good:#14663c;--bad:#8a3d10;
--accent:#3730a3}body{font-size:10.5pt}main{max-width:none;padding:0}h2,h3{break-after:avoid}tr,.quote,blockquote{break-inside:avoid}
article{border-radius:0;border-width:1px 0 0;padding:.6rem 0;margin:.4rem 0}thead{display:table-header-group}}
""".strip()


# === page


KINDS = {"source": "Source", "category": "Category", "run": "Run", "person": "Person"}
IN_FORCE = ' <span class="tag good">in force</span>'
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)


def page(made: Record) -> str:
    """The whole document."""
    title = f"{KINDS[made['kind']]}: {made['title']}"
    parts = (
        _head(made),
        _facts(made),
        _answer(made),
        _sign_offs(made),
        _helpers(made),
        _categories(made),
        _chunks(made),
        _runs(made),
        _actions(made),
        _foot(made),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n<main>\n{''.join(part for part in parts if part)}</main>\n</body>\n</html>\n"
    )


def _text(value: object) -> str:
    """Nothing but characters: no markup, no control characters, and direction marks end where the text ends."""
    plain = "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in str(value))
    return f"<bdi>{escape(plain)}</bdi>" if not plain.isascii() else escape(plain)


def _head(made: Record) -> str:
    return (
        f'<header><p class="kind">{KINDS[made["kind"]]} · audit report</p><h1>{_text(made["title"])}</h1>'
        f'<p class="soft">Made {_time(made["made_at"])} by {_text(made["made_by"])}, '
        f"when the chain had {made['head']['seq']} events.</p></header>\n"
    )


def _facts(made: Record) -> str:
    rows = "".join(f"<dt>{_text(one['label'])}</dt><dd>{_text(one['value'])}</dd>" for one in made["facts"])
    return f"<section><dl>{rows}</dl></section>\n" if rows else ""


def _section(title: str, body: str, count: int | None = None) -> str:
    counted = "" if count is None else f' <span class="soft">{count}</span>'
    return f"<section><h2>{title}{counted}</h2>\n{body}</section>\n" if body else ""


def _answer(made: Record) -> str:
    told = made["answer"]
    if told is None:
        return ""
    asked = f'<p class="label">Question</p><blockquote>{_text(told["question"])}</blockquote>'
    given = f'<p class="label">Answer</p><blockquote class="answer">{_text(told["text"])}</blockquote>'
    read = "".join(_used(one) for one in told["read"])
    dropped = _table(
        ("Path not read", "Why", "Chunks"), ((_path(one["path"]), _text(one["reason"]), one["chunks"]) for one in told["dropped"])
    )
    net = "".join(_plain_chunk(one) for one in told["safety_net"])
    warned = "".join(f'<p class="warn">{_text(one)}</p>' for one in told["warnings"])
    return (
        _section("Question and answer", asked + given + warned)
        + _section("Read for it", read, len(told["read"]))
        + _section("Left aside", dropped)
        + _section("Caught outside the paths, not read by the model", net)
    )


def _used(one: Record) -> str:
    cited = '<span class="tag good">cited</span>' if one["cited"] else '<span class="tag">read, not cited</span>'
    where = f"characters {one['span'][0]}–{one['span'][1]} of {_text(one['source']['name'])}"
    quotes = "".join(
        f'<p class="quote"><span class="soft">{quote["span"][0]}–{quote["span"][1]}</span> {_text(quote["text"])}</p>'
        for quote in one["quotes"]
    )
    head = f"<h3>[{one['number']}] {_path(one['path'])} {cited}</h3>"
    return f'<article>{head}<p class="soft">{where}</p>{quotes}<pre>{_text(one["text"])}</pre></article>\n'


def _sign_offs(made: Record) -> str:
    return _section("Signatures", "".join(_sign_off(one) for one in made["sign_offs"]))


def _sign_off(one: Record) -> str:
    tone = {"valid": "good", "void": "bad"}.get(one["state"], "")
    ended = one["ended_by"]
    since = f'<p class="soft">since {_text(ended["says"])} by {_text(ended["by"])} ({ended["action"]})</p>' if ended else ""
    statement = "The statement was erased." if one["statement"] is None else one["statement"]
    return (
        f'<article><h3>{_text(one["signer"])} <span class="tag {tone}">{one["state"]}</span></h3>'
        f'<p class="soft">{_time(one["at"])} · {_text(one["title"])} · {one["chunks"]} chunks in {one["categories"]} categories, '
        f"{one['reviewed']} reviewed · event {one['event']}</p><blockquote>{_text(statement)}</blockquote>{since}"
        f'<p class="digest">{one["digest"]}</p></article>\n'
    )


def _helpers(made: Record) -> str:
    body = "".join(
        f"<article><h3>Version {one['version']}{IN_FORCE if one['in_force'] else ''}</h3>"
        f'<p class="soft">{_text(one["origin"])} · {one["tokens"]} tokens · {_time(one["written_at"])}</p>'
        f"<blockquote>{_text(one['text'])}</blockquote></article>\n"
        for one in made["helpers"]
    )
    return _section("Contextual helper", body)


def _categories(made: Record) -> str:
    rows = [(_path(one["path"]), one["level"], one["chunks"]) for one in made["categories"]]
    return _section("Categories", _table(("Path", "Level", "Chunks"), rows), len(rows))


def _chunks(made: Record) -> str:
    return _section("Chunks", "".join(_chunk(one) for one in made["chunks"]) + _left_out(made, "chunks"), len(made["chunks"]))


def _chunk(one: Record) -> str:
    review = one["review"]
    reviewed = '<span class="tag">not reviewed</span>'
    if review is not None:
        reviewed = f'<span class="tag good">{_text(review["verdict"] or "filed here")} by {_text(review["by"])}</span>'
    where = f"characters {one['span'][0]}–{one['span'][1]} · {one['tokens']} tokens"
    place = _path(one["path"]) if one["path"] else '<span class="tag bad">not in the tree</span>'
    return (
        f"<article><h3>{_text(one['source']['name'])} · chunk {one['number']} {reviewed}</h3>"
        f'<p class="soft">{where}</p><p>{place}</p><pre>{_text(one["text"])}</pre>{_decisions(one["decisions"])}</article>\n'
    )


def _plain_chunk(one: Record) -> str:
    head = f"<h3>{_text(one['source']['name'])} · chunk {one['number']}</h3><p>{_path(one['path'])}</p>"
    return f"<article>{head}<pre>{_text(one['text'])}</pre></article>\n"


def _decisions(decisions: Iterable[Record]) -> str:
    return _table(("Level", "Chosen", "Rejected", "Decided"), (_decision(one) for one in decisions))


def _decision(one: Record) -> tuple[str, str, str, str]:
    above = f'<span class="soft">under {_path(one["under"])}</span>' if one["under"] else ""
    chosen = "<br>".join(
        f"<b>{_text(option['name'])}</b>{' (new)' if option['new'] else ''} {_opinion(option)}" for option in one["chosen"]
    )
    rejected = ", ".join(f"{_text(option['name'])} {_opinion(option)}" for option in one["rejected"])
    how = [_text(one["decided_by"])]
    how += [f"{one['attempts']} attempts"] if one["attempts"] > 1 else []
    how += [f"call {one['call']}"] if one["call"] else []
    how += [_text(one["note"])] if one["note"] else []
    how += [f"shown what people had placed: chunk ids {', '.join(map(str, one['taught_by']))}"] if one["taught_by"] else []
    return f"{one['level']} {above}", chosen or "none", rejected or '<span class="soft">no other</span>', "<br>".join(how)


def _opinion(option: Record) -> str:
    known = option["second_opinion"]
    return "" if known is None else f'<span class="soft">{known:.2f}</span>'


def _runs(made: Record) -> str:
    left_out = "".join(_left_out(made, name) for name in ("runs", "calls", "decisions"))
    return _section("Runs", "".join(_run(one) for one in made["runs"]) + left_out)


def _run(one: Record) -> str:
    tokens = one["tokens_prompt"] + one["tokens_completion"]
    ended = _time(one["ended_at"]) if one["ended_at"] else "not yet"
    error = f'<p class="warn">{_text(one["error"])}</p>' if one["error"] else ""
    asked = "".join(
        f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in one["request"].items() if value is not None
    )
    calls = _table(
        ("Call", "For", "Model", "Prompt", "Tokens", "Time", "Cost"), (_call(call) for call in one["calls"]), numbers=(4, 5, 6)
    )
    return (
        f'<article class="run"><h3>{_text(one["verb"])} by {_text(one["actor"])} '
        f'<span class="tag">{_text(one["status"])}</span></h3>'
        f'<p class="soft">{_time(one["started_at"])} to {ended} · {len(one["calls"])} calls · {tokens} tokens · '
        f'{one["latency_ms"]:.0f} ms · {_money(one["cost"])} · <span class="digest">{_text(one["id"])}</span></p>{error}'
        f"<dl>{asked}</dl>{_decisions(one['decisions'])}{calls}</article>\n"
    )


def _call(one: Record) -> tuple[object, ...]:
    told = f"{one['tokens_prompt']} + {one['tokens_completion']}{' (estimated)' if one['tokens_estimated'] else ''}"
    again = f"<br>attempt {one['attempt']}" if one["attempt"] > 1 else ""
    again += f"<br>answer of call {one['reused_from']}" if one["reused_from"] else ""
    again += f'<br><span class="warn">{_text(one["error"])}</span>' if one["error"] else ""
    model = f'{_text(one["model"])} <span class="soft">{_text(one["provider"])}</span>'
    cost = _money(one["cost"])
    return (
        f"{one['id']}{again}",
        _text(one["purpose"]),
        model,
        _text(one["prompt_version"]),
        told,
        f"{one['latency_ms']:.0f} ms",
        cost,
    )


def _actions(made: Record) -> str:
    body = "".join(_action(one) for one in made["actions"]) + _left_out(made, "actions")
    return _section("Activity", body, len(made["actions"]))


def _action(one: Record) -> str:
    reason = f"<blockquote>{_text(one['reason'])}</blockquote>" if one["reason"] else ""
    undone = '<span class="tag bad">taken back</span>' if one["undone_by"] else ""
    did = "".join(f"<li>{_change(change)}</li>" for change in one["changes"])
    return (
        f"<article><h3>{_text(one['says'])} {undone}</h3>"
        f'<p class="soft">{_text(one["actor"])} · {_time(one["at"])} · <span class="digest">{_text(one["action"])}</span></p>'
        f"{reason}<ul>{did}</ul></article>\n"
    )


def _change(one: Record) -> str:
    before = f'<span class="soft">{_text(one["before"])}</span> ' if one["before"] else ""
    after = f"→ <b>{_text(one['after'])}</b>" if one["after"] else ""
    return f"{_text(one['says'])} {before}{after}"


def _foot(made: Record) -> str:
    return (
        f'<footer><h2>To check it</h2><dl><dt>Head of the chain</dt><dd class="digest">{made["head"]["hash"]}</dd>'
        f"<dt>Its event</dt><dd>{made['head']['seq']}, {_time(made['head']['at'])}</dd>"
        f'<dt>Digest of this report</dt><dd class="digest">{made["digest"]}</dd></dl>'
        '<p class="soft">The head must be in the history: memoir verify with it says so. The digest is sha256 over the content '
        "as JSON; the file of the same report as JSON holds both. Second opinions are the engine&#x27;s own, from 0 to 1, "
        "and come from no model.</p></footer>\n"
    )


def _left_out(made: Record, name: str) -> str:
    more = made["left_out"].get(name, 0)
    return f'<p class="warn">{more} more {name} are not in this report.</p>' if more else ""


def _table(titles: tuple[str, ...], rows: Iterable[tuple[object, ...]], numbers: tuple[int, ...] = ()) -> str:
    """Cells are HTML already."""
    body = "".join(
        "<tr>" + "".join(f"<td{' class=n' if at in numbers else ''}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    head = "".join(f"<th scope=col>{title}</th>" for title in titles)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""


def _path(names: Iterable[str]) -> str:
    return '<span class="path">' + ' <span class="soft">›</span> '.join(_text(name) for name in names) + "</span>"


def _time(stamped: str) -> str:
    return f"<time datetime={stamped}>{stamped[:10]} {stamped[11:19]} UTC</time>"


def _money(cost: float | None) -> str:
    return "cost unknown" if cost is None else "$0" if cost == 0 else f"${cost:.4f}"
