"""How a report looks, on a screen, light or dark, and on paper. No address in it: it loads nothing."""

from __future__ import annotations

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
