// Choices level by level: a column per level, a card per parent, the rank the model gave, the engine's second opinion as a bar.
// "path" draws a question's way with its links; "ladder" stacks one chunk's choices without them.
const memory = new WeakMap();
const LIKELY = 4;
const TALL = 420;  // px: a higher plan begins at its top, so that its first levels are in view

const optionRow = (option, words, scale, pick) => {
  const chosen = option.rank !== null, node = make("button", "op" + (chosen ? " on" : "")), fill = make("span", "fill");
  fill.style.width = option.opinion === null ? "0" : Math.min(100, (option.opinion / scale) * 100) + "%";
  node.append(fill, make("span", "disc", chosen ? option.rank : "–"), make("span", "name", option.name));
  if (option.fresh) node.append(make("span", "fresh", words.fresh));
  if (option.opinion !== null) node.append(make("span", "num", option.opinion.toFixed(2)));
  const opinion = option.opinion === null ? words.unknown : words.opinion + " " + option.opinion.toFixed(2);
  const told = [option.name, chosen ? words.chosen + " " + option.rank : words.passed, opinion];
  node.title = told.join("\n");
  node.setAttribute("aria-label", told.join(", "));
  node.onclick = () => pick("category", option.id);
  return node;
};

const optionCard = (card, words, scale, mine, pick, redraw) => {
  const node = make("div", "card" + (card.lost ? " lost" : "")), ports = [], top = make("div", "top", card.name);
  top.title = card.title;
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", card.title);
  node.append(top);
  const open = mine.open.has(card.id), visible = open ? card.options : card.options.filter((o, at) => o.rank !== null || at < LIKELY);
  for (const option of visible) {
    const row = optionRow(option, words, scale, pick);
    node.append(row);
    if (option.rank !== null) ports.push([option.id, row]);
  }
  const rest = card.options.length - visible.length;
  if (rest > 0 || open) {
    const more = make("button", "more", open ? words.less : words.more.replace("{count}", rest));
    more.setAttribute("aria-expanded", String(open));
    more.onclick = () => { open ? mine.open.delete(card.id) : mine.open.add(card.id); redraw(); };
    node.append(more);
  }
  if (card.lost) node.append(make("div", "why", card.lost));
  if (card.note) node.append(make("div", "note", card.note));
  return [node, ports];
};

const leafCard = (card, pick) => {
  const node = make("button", "leafcard " + card.state);
  node.append(make("b", "", card.name), make("span", "", card.line));
  node.title = card.title;
  node.onclick = () => pick("leaf", card.id);
  return node;
};

const columnHead = (column, pick) => {
  const node = make("div", "head");
  node.append(make("b", "", column.title));
  if (column.call) {
    const open = make("button", "", column.note);
    open.title = column.hint;
    open.setAttribute("aria-label", `${column.hint}: ${column.title}, ${column.note}`);
    open.onclick = () => pick("call", column.call);
    node.append(open);
  } else if (column.note) node.append(make("small", "", column.note));
  return node;
};

const line = (from, to, frame, scrolled, kind) => {
  const a = from.getBoundingClientRect(), b = to.getBoundingClientRect(), shift = scrolled - frame.left;
  const x1 = a.right + shift, y1 = a.top + a.height / 2 - frame.top, x2 = b.left + shift, y2 = b.top + Math.min(18, b.height / 2) - frame.top;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path"), bend = Math.max(24, (x2 - x1) / 2);
  path.setAttribute("d", `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`);
  path.setAttribute("stroke-width", kind ? 2 : 2.5);
  if (kind) path.setAttribute("class", kind);
  return path;
};

const kindOf = (target) => {
  if (target.classList.contains("lost") || target.classList.contains("read")) return "lost";
  return target.classList.contains("leafcard") ? "cited" : "";
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const mine = memory.get(root) || { open: new Set(), count: 0 };
  memory.set(root, mine);
  const box = root.querySelector(".choices"), hint = root.querySelector(".hint"), plan = root.querySelector(".plan"), cols = root.querySelector(".cols"), lines = root.querySelector(".lines");
  box.classList.toggle("ladder", data.layout === "ladder");
  plan.setAttribute("aria-label", data.words[data.layout]);
  hint.textContent = data.words.sideways;
  const pick = (kind, id) => setTriggerValue("picked", { kind, id, n: ++mine.count });
  let ports = [], targets = new Map();

  const overflow = () => {
    const rest = plan.scrollWidth - plan.clientWidth, isWider = rest > 4;
    hint.hidden = !isWider;
    box.classList.toggle("more-right", isWider && plan.scrollLeft < rest - 4);
    isWider ? plan.setAttribute("tabindex", "0") : plan.removeAttribute("tabindex");
  };
  const link = () => {
    cols.classList.toggle("tall", cols.offsetHeight > TALL);
    const frame = plan.getBoundingClientRect();
    lines.setAttribute("width", cols.scrollWidth);
    lines.setAttribute("height", cols.scrollHeight);
    lines.replaceChildren(
      ...ports.filter(([id]) => targets.has(id)).map(([id, from]) => line(from, targets.get(id), frame, plan.scrollLeft, kindOf(targets.get(id)))),
    );
  };
  const draw = () => {
    ports = [];
    targets = new Map();
    cols.replaceChildren(...data.columns.map((column) => {
      const node = make("div", "col " + column.kind);
      node.setAttribute("role", "listitem");
      node.setAttribute("aria-label", column.title);
      node.append(columnHead(column, pick));
      for (const card of column.cards) {
        let drawn, exits = [];
        if (column.kind === "leaf") drawn = leafCard(card, pick);
        else if (column.kind === "skip") { drawn = make("div", "chip", card.name); drawn.title = card.title; exits = [[card.through, drawn]]; }
        else [drawn, exits] = optionCard(card, data.words, data.scale, mine, pick, draw);
        targets.set(card.id, drawn);
        ports.push(...exits);
        node.append(drawn);
      }
      return node;
    }));
    if (data.layout === "path") requestAnimationFrame(link);
  };
  draw();
  if (mine.sized) mine.sized.disconnect();
  mine.sized = new ResizeObserver(() => { if (data.layout === "path") link(); overflow(); });
  mine.sized.observe(cols);
  mine.sized.observe(plan);
  plan.onscroll = overflow;
  return () => mine.sized.disconnect();
}
