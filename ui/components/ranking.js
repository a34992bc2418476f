// Passages ranked by words and by vectors. The slider weighs the two; rows move as it moves, and nobody is asked for that.
const memory = new WeakMap();
const MOVE_MS = 240;
const TOLD_MS = 400; // after the last move: the address follows, the order already has

// Marks and signs are [start, end] in code points, as Python counts them; JavaScript counts UTF-16 units. Signs are left out.
const write = (node, { text, marks, signs }, from) => {
  const points = Array.from(text);
  for (const [start, end] of signs) points.fill("", start, end);
  let at = from;
  node.replaceChildren(...(from ? ["… "] : []));
  for (const [start, end] of marks.filter(([start]) => start >= from)) {
    node.append(points.slice(at, start).join(""), make("mark", "", points.slice(start, end).join("")));
    at = end;
  }
  node.append(points.slice(at).join(""));
};

// Whole, or where an excerpt of it has a table, a passage is drawn as a chunk is: with its tables, lists and headings. A passage may begin
// or end within a table: half a row at its beginning stands in no column, and the line below its head is made whole.
const CUT_RULE = /\n\|[-:|\s]*$/;
const drawn = (node, row, from) => {
  const marks = inUnits(row.text, row.marks.map(([start, end]) => [start, end, "word"]));
  const first = row.text.indexOf("\n"), half = row.text.slice(0, Math.max(0, first)), next = linesOf(row.text, first + 1)[0];
  const isCut = row.cut && from === 0 && half.includes("|") && next && ROW.test(next.text), begin = isCut ? first + 1 : from;
  const text = row.text.slice(begin).replace(CUT_RULE, "\n|---|");
  const here = marks.filter(([start]) => start >= begin).map(([start, end, kind]) => [start - begin, end - begin, kind]);
  node.replaceChildren(...(isCut ? [make("div", "prose", `… ${half.split("|").map((cell) => cell.trim()).filter(Boolean).join(" · ")}`)] : []));
  node.append(formatted(make("div"), text, marking(text, here)));
};

// Where an excerpt begins whose seen part has a row of a table: at a line, since half a row says nothing. -1: it has none.
const tableFrom = (row) => {
  const { text } = row, [[at]] = inUnits(text, [[row.from, row.from]]), start = text.lastIndexOf("\n", at - 1) + 1, lines = linesOf(text, start);
  const from = start < at && isRow(lines[0]) && lines.length > 1 ? lines[1].start : start;
  return lines.some((line) => line.start >= from && line.start < at + row.seen && isRow(line)) ? from : -1;
};

const bar = (kind, label, share, raw, hint) => {
  const node = make("div", "bar " + kind), track = make("span", "track"), fill = make("i");
  fill.style.width = share * 100 + "%";
  track.append(fill);
  node.append(make("span", "label", label), track, make("span", "num", share.toFixed(2)));
  node.title = `${hint} ${raw}`;
  return node;
};

const rowOf = (row, data, open) => {
  const node = make("li"), { words } = data, head = make("div", "head"), name = make("button", "name", row.name);
  name.title = `${row.name}\n${words.open}`;
  name.onclick = () => open(row.id);
  const total = make("span", "total"), score = make("b"), sum = make("span", "sum"), vectors = make("i", "dense"), terms = make("i", "bm25");
  sum.append(terms, vectors);
  sum.setAttribute("aria-hidden", "true");
  total.append(sum, score);
  head.append(make("span", "disc"), name, make("span", "about", row.about), total);
  const text = make("div", "text"), more = make("button", "more", words.more), table = tableFrom(row);
  const excerpt = () => (table < 0 ? write(text, row, row.from) : drawn(text, row, table));
  node.classList.toggle("tabled", table >= 0);
  excerpt();
  more.onclick = () => {
    const whole = node.classList.toggle("whole");
    whole ? drawn(text, row, 0) : excerpt();
    more.textContent = whole ? words.less : words.more;
    more.setAttribute("aria-expanded", whole);
  };
  const bars = make("div", "bars");
  bars.append(bar("bm25", words.bm25, row.bm25, row.raw_bm25, words.raw_bm25));
  if (data.hybrid) bars.append(bar("dense", words.dense, row.dense, row.raw_dense, words.raw_dense));
  const body = make("div", "body"), said = make("div", "said");
  said.append(text, more);
  body.append(said, bars);
  node.append(head, body);
  return { row, node, score, terms, vectors, disc: head.firstChild, text, more };
};

const totalOf = (row, alpha) => alpha * row.dense + (1 - alpha) * row.bm25;

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Rows glide from where they stood to where they stand: what moved past what can be seen.
const glide = (before, shown) => {
  if (still()) return;
  for (const one of shown) {
    const was = before.get(one.row.id), now = one.node.offsetTop;
    if (was === undefined) one.node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: MOVE_MS });
    else if (was !== now) one.node.animate([{ transform: `translateY(${was - now}px)` }, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
  }
};

const rank = (mine, data) => {
  const alpha = data.hybrid ? mine.alpha : 0;
  const order = [...mine.rows].sort((a, b) => totalOf(b.row, alpha) - totalOf(a.row, alpha) || a.row.id - b.row.id).slice(0, data.most);
  const before = new Map(mine.shown.map((one) => [one.row.id, one.node.offsetTop]));
  const moved = order.some((one, at) => one !== mine.shown[at]) || order.length !== mine.shown.length;
  order.forEach((one, at) => {
    one.disc.textContent = at + 1;
    one.score.textContent = totalOf(one.row, alpha).toFixed(3);
    one.terms.style.width = (1 - alpha) * one.row.bm25 * 100 + "%";
    one.vectors.style.width = alpha * one.row.dense * 100 + "%";
  });
  if (!moved) return;
  const held = mine.list.getRootNode().activeElement;
  mine.list.replaceChildren(...order.map((one) => one.node));
  if (held && mine.list.contains(held)) held.focus({ preventScroll: true });
  mine.shown = order;
  for (const one of order) {
    const isCut = one.text.scrollHeight > one.text.clientHeight + 2;
    one.node.classList.toggle("cut", isCut);
    one.more.hidden = !one.row.from && !one.node.classList.contains("whole") && !isCut;
  }
  glide(before, order);
};

const slider = (mine, data, changed) => {
  const { words } = data, node = make("div", "weigh"), range = make("input"), value = make("output");
  Object.assign(range, { type: "range", min: 0, max: 1, step: 0.05, value: mine.alpha, disabled: !data.hybrid });
  range.setAttribute("aria-label", words.alpha);
  const tell = () => {
    value.textContent = `${words.alpha} ${(data.hybrid ? mine.alpha : 0).toFixed(2)}`;
    range.setAttribute("aria-valuetext", value.textContent);
    range.style.setProperty("--at", (data.hybrid ? mine.alpha : 0) * 100 + "%");
  };
  range.oninput = () => { mine.alpha = Number(range.value); tell(); rank(mine, data); };
  range.onchange = () => { clearTimeout(mine.telling); mine.telling = setTimeout(() => leaving() || changed(mine.alpha), TOLD_MS); };
  tell();
  node.append(make("span", "end", words.only_bm25), range, make("span", "end", words.only_dense), value);
  return node;
};

const walk = (event, list) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], names = [...list.querySelectorAll(".name")];
  const at = names.indexOf(event.target);
  if (!step || at < 0) return;
  event.preventDefault();
  names[Math.min(names.length - 1, Math.max(0, at + step))].focus();
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue, setStateValue } = component;
  const box = root.querySelector(".ranking"), stamp = JSON.stringify([data.rows, data.most, data.hybrid]);
  const known = memory.get(root);
  if (known && known.stamp === stamp) return;
  const mine = { stamp, alpha: data.alpha, shown: [], count: known ? known.count : 0, list: make("ol") };
  memory.set(root, mine);
  const open = (id) => setTriggerValue("opened", { id, n: ++mine.count });
  mine.rows = data.rows.map((row) => rowOf(row, data, open));
  mine.list.onkeydown = (event) => walk(event, mine.list);
  box.replaceChildren(slider(mine, data, (alpha) => setStateValue("alpha", alpha)), mine.list);
  rank(mine, data);
}
