"""Draw a report as one self-contained HTML file, for the screen (light or dark) and for paper.

Invariant: every text passes `_text`, which escapes all markup; the page loads and runs nothing (its policy allows only its own
style, by digest), and contains no addresses.
Source: API "The ledger and the audit" (memory.reports); DESIGN §12 (untrusted text).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from html import escape

from memoir_engine.audit.report_record import Record

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


KINDS = {"source": "Source", "category": "Category", "run": "Run", "person": "Person"}
IN_FORCE = ' <span class="tag good">in force</span>'
_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)


def page(report: Record) -> str:
    """Return the whole document."""
    kind, title = KINDS[report["kind"]], report["title"]
    head, made_at = report["head"], _time(report["made_at"])
    facts = "".join(f"<dt>{_text(fact['label'])}</dt><dd>{_text(fact['value'])}</dd>" for fact in report["facts"])
    categories = [(_path(row["path"]), row["level"], row["chunks"]) for row in report["categories"]]
    sections = (
        f"<section><dl>{facts}</dl></section>\n" if facts else "",
        "" if report["answer"] is None else _answer(report["answer"]),
        _section("Signatures", map(_sign_off, report["sign_offs"])),
        _section("Contextual helper", map(_helper, report["helpers"])),
        _section("Categories", [_table(("Path", "Level", "Chunks"), categories)], len(categories)),
        _section("Chunks", [*map(_chunk, report["chunks"]), _left_out(report, "chunks")], len(report["chunks"])),
        _section("Runs", [*map(_run, report["runs"]), *(_left_out(report, name) for name in ("runs", "calls", "decisions"))]),
        _section("Activity", [*map(_action, report["actions"]), _left_out(report, "actions")], len(report["actions"])),
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{_text(f"{kind}: {title}")}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header><p class="kind">{kind} · audit report</p><h1>{_text(title)}</h1>'
        f'<p class="soft">Made {made_at} by {_text(report["made_by"])}, when the chain had {head["seq"]} events.</p></header>\n'
        f"{''.join(sections)}"
        f'<footer><h2>To check it</h2><dl><dt>Head of the chain</dt><dd class="digest">{head["hash"]}</dd>'
        f"<dt>Its event</dt><dd>{head['seq']}, {_time(head['at'])}</dd>"
        f'<dt>Digest of this report</dt><dd class="digest">{report["digest"]}</dd></dl>'
        '<p class="soft">The head must be in the history: memoir verify with it says so. The digest is sha256 over the content '
        "as JSON; the file of the same report as JSON holds both. Second opinions are the engine&#x27;s own, from 0 to 1, "
        "and come from no model.</p></footer>\n</main>\n</body>\n</html>\n"
    )


def _text(value: object) -> str:
    """Escape markup, replace control characters, and isolate direction marks from the text around."""
    plain = "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in str(value))
    return f"<bdi>{escape(plain)}</bdi>" if not plain.isascii() else escape(plain)


def _section(title: str, parts: Iterable[str], count: int | None = None) -> str:
    """Return a section with its title and count, or "" when its parts are empty."""
    counted = "" if count is None else f' <span class="soft">{count}</span>'
    body = "".join(parts)
    return f"<section><h2>{title}{counted}</h2>\n{body}</section>\n" if body else ""


def _answer(answer: Record) -> str:
    question = f'<p class="label">Question</p><blockquote>{_text(answer["question"])}</blockquote>'
    reply = f'<p class="label">Answer</p><blockquote class="answer">{_text(answer["text"])}</blockquote>'
    warnings = (f'<p class="warn">{_text(warning)}</p>' for warning in answer["warnings"])
    dropped = ((_path(path["path"]), _text(path["reason"]), path["chunks"]) for path in answer["dropped"])
    net = (
        f"<article><h3>{_text(chunk['source']['name'])} · chunk {chunk['number']}</h3><p>{_path(chunk['path'])}</p>"
        f"<pre>{_text(chunk['text'])}</pre></article>\n"
        for chunk in answer["safety_net"]
    )
    return (
        _section("Question and answer", [question, reply, *warnings])
        + _section("Read for it", map(_used_chunk, answer["read"]), len(answer["read"]))
        + _section("Left aside", [_table(("Path not read", "Why", "Chunks"), dropped)])
        + _section("Caught outside the paths, not read by the model", net)
    )


def _used_chunk(used: Record) -> str:
    cited = '<span class="tag good">cited</span>' if used["cited"] else '<span class="tag">read, not cited</span>'
    where = f"characters {used['span'][0]}–{used['span'][1]} of {_text(used['source']['name'])}"
    quotes = "".join(
        f'<p class="quote"><span class="soft">{quote["span"][0]}–{quote["span"][1]}</span> {_text(quote["text"])}</p>'
        for quote in used["quotes"]
    )
    head = f"<h3>[{used['number']}] {_path(used['path'])} {cited}</h3>"
    return f'<article>{head}<p class="soft">{where}</p>{quotes}<pre>{_text(used["text"])}</pre></article>\n'


def _sign_off(sign_off: Record) -> str:
    tone = {"valid": "good", "void": "bad"}.get(sign_off["state"], "")
    end = sign_off["ended_by"]
    since = f'<p class="soft">since {_text(end["says"])} by {_text(end["by"])} ({end["action"]})</p>' if end else ""
    statement = "The statement was erased." if sign_off["statement"] is None else sign_off["statement"]
    return (
        f'<article><h3>{_text(sign_off["signer"])} <span class="tag {tone}">{sign_off["state"]}</span></h3>'
        f'<p class="soft">{_time(sign_off["at"])} · {_text(sign_off["title"])} · {sign_off["chunks"]} chunks in '
        f"{sign_off['categories']} categories, {sign_off['reviewed']} reviewed · event {sign_off['event']}</p>"
        f'<blockquote>{_text(statement)}</blockquote>{since}<p class="digest">{sign_off["digest"]}</p></article>\n'
    )


def _helper(helper: Record) -> str:
    return (
        f"<article><h3>Version {helper['version']}{IN_FORCE if helper['in_force'] else ''}</h3>"
        f'<p class="soft">{_text(helper["origin"])} · {helper["tokens"]} tokens · {_time(helper["written_at"])}</p>'
        f"<blockquote>{_text(helper['text'])}</blockquote></article>\n"
    )


def _chunk(chunk: Record) -> str:
    review = chunk["review"]
    reviewed = '<span class="tag">not reviewed</span>'
    if review is not None:
        reviewed = f'<span class="tag good">{_text(review["verdict"] or "filed here")} by {_text(review["by"])}</span>'
    where = f"characters {chunk['span'][0]}–{chunk['span'][1]} · {chunk['tokens']} tokens"
    place = _path(chunk["path"]) if chunk["path"] else '<span class="tag bad">not in the tree</span>'
    return (
        f"<article><h3>{_text(chunk['source']['name'])} · chunk {chunk['number']} {reviewed}</h3>"
        f'<p class="soft">{where}</p><p>{place}</p><pre>{_text(chunk["text"])}</pre>{_decisions(chunk["decisions"])}</article>\n'
    )


def _decisions(decisions: Iterable[Record]) -> str:
    def option(offered: Record) -> str:
        opinion = offered["second_opinion"]
        name = _text(offered["name"])
        if "rank" in offered:
            name = f"<b>{name}</b>{' (new)' if offered['new'] else ''}"
        return f"{name} " + ("" if opinion is None else f'<span class="soft">{opinion:.2f}</span>')

    def row(decision: Record) -> tuple[str, str, str, str]:
        above = f'<span class="soft">under {_path(decision["under"])}</span>' if decision["under"] else ""
        rejected = ", ".join(map(option, decision["rejected"])) or '<span class="soft">no other</span>'
        how = [_text(decision["decided_by"])]
        how += [f"{decision['attempts']} attempts"] if decision["attempts"] > 1 else []
        how += [f"call {decision['call']}"] if decision["call"] else []
        how += [_text(decision["note"])] if decision["note"] else []
        taught_by = ", ".join(map(str, decision["taught_by"]))
        how += [f"shown what people had placed: chunk ids {taught_by}"] if taught_by else []
        chosen = "<br>".join(map(option, decision["chosen"])) or "none"
        return f"{decision['level']} {above}", chosen, rejected, "<br>".join(how)

    return _table(("Level", "Chosen", "Rejected", "Decided"), map(row, decisions))


def _run(run: Record) -> str:
    tokens = run["tokens_prompt"] + run["tokens_completion"]
    ended = _time(run["ended_at"]) if run["ended_at"] else "not yet"
    error = f'<p class="warn">{_text(run["error"])}</p>' if run["error"] else ""
    request = "".join(
        f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in run["request"].items() if value is not None
    )
    calls = _table(("Call", "For", "Model", "Prompt", "Tokens", "Time", "Cost"), map(_call, run["calls"]), numbers=(4, 5, 6))
    return (
        f'<article class="run"><h3>{_text(run["verb"])} by {_text(run["actor"])} '
        f'<span class="tag">{_text(run["status"])}</span></h3>'
        f'<p class="soft">{_time(run["started_at"])} to {ended} · {len(run["calls"])} calls · {tokens} tokens · '
        f'{run["latency_ms"]:.0f} ms · {_money(run["cost"])} · <span class="digest">{_text(run["id"])}</span></p>{error}'
        f"<dl>{request}</dl>{_decisions(run['decisions'])}{calls}</article>\n"
    )


def _call(call: Record) -> tuple[object, ...]:
    notes = f"<br>attempt {call['attempt']}" if call["attempt"] > 1 else ""
    notes += f"<br>answer of call {call['reused_from']}" if call["reused_from"] else ""
    notes += f'<br><span class="warn">{_text(call["error"])}</span>' if call["error"] else ""
    return (
        f"{call['id']}{notes}",
        _text(call["purpose"]),
        f'{_text(call["model"])} <span class="soft">{_text(call["provider"])}</span>',
        _text(call["prompt_version"]),
        f"{call['tokens_prompt']} + {call['tokens_completion']}{' (estimated)' if call['tokens_estimated'] else ''}",
        f"{call['latency_ms']:.0f} ms",
        _money(call["cost"]),
    )


def _action(action: Record) -> str:
    def line(change: Record) -> str:
        before = f'<span class="soft">{_text(change["before"])}</span> ' if change["before"] else ""
        after = f"→ <b>{_text(change['after'])}</b>" if change["after"] else ""
        return f"<li>{_text(change['says'])} {before}{after}</li>"

    reason = f"<blockquote>{_text(action['reason'])}</blockquote>" if action["reason"] else ""
    undone = '<span class="tag bad">taken back</span>' if action["undone_by"] else ""
    changes = "".join(map(line, action["changes"]))
    return (
        f"<article><h3>{_text(action['says'])} {undone}</h3>"
        f'<p class="soft">{_text(action["actor"])} · {_time(action["at"])} · '
        f'<span class="digest">{_text(action["action"])}</span></p>{reason}<ul>{changes}</ul></article>\n'
    )


def _left_out(report: Record, name: str) -> str:
    more = report["left_out"].get(name, 0)
    return f'<p class="warn">{more} more {name} are not in this report.</p>' if more else ""


def _table(titles: tuple[str, ...], rows: Iterable[tuple[object, ...]], numbers: tuple[int, ...] = ()) -> str:
    """Return a table, or "" without rows. rows: cells as HTML; numbers: columns that do not wrap."""
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
