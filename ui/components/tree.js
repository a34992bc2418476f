// The category tree: rows are drawn only where they can be seen, branches are asked for when they are opened.
// The default export runs again at each change of data, so what a person did lives in a map beside the element.
const ROW = 30, AHEAD = 6, DEEPEST = 12, STEP = 16;
const memory = new WeakMap();

const arrow = () => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 10 10");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", "M3 1.5 7 5 3 8.5");
  svg.append(path);
  return svg;
};

const fresh = () => ({ kids: {}, nodes: {}, open: new Set(), waiting: new Set(), here: 0, query: "", flat: [], asked: 0, byName: false });

// Siblings in the order that was chosen; `at` is what a screen reader says of a row, so it follows.
const arrange = (mine, parent) => {
  const size = (a, b) => mine.nodes[b].chunks - mine.nodes[a].chunks, name = (a, b) => mine.nodes[a].name.localeCompare(mine.nodes[b].name);
  mine.kids[parent].sort((a, b) => (mine.byName ? 0 : size(a, b)) || name(a, b) || a - b).forEach((id, at) => { mine.nodes[id].at = at + 1; });
};

const learn = (mine, data) => {
  if (mine.version !== data.version) Object.assign(mine, { kids: {}, nodes: {}, version: data.version });
  for (const [parent, rows] of Object.entries(data.rows)) {
    const most = Math.max(1, ...rows.map((row) => row[2]));
    mine.kids[parent] = rows.map((row) => row[0]);
    mine.waiting.delete(+parent);
    for (const [id, name, chunks, children, mark, why, look] of rows)
      mine.nodes[id] = { id, name, chunks, children, mark, why, look, parent: +parent, share: chunks / most, of: rows.length };
    arrange(mine, parent);
  }
};

const listed = (mine) => {
  const wanted = mine.query.toLowerCase(), hits = new Map(), out = [];
  const hit = (id) => {
    if (!hits.has(id)) hits.set(id, mine.nodes[id].name.toLowerCase().includes(wanted) || (mine.kids[id] || []).some(hit));
    return hits.get(id);
  };
  const walk = (id, depth) => {
    if (wanted && !hit(id)) return;
    out.push([id, depth]);
    if (mine.open.has(id) || wanted) for (const kid of mine.kids[id] || []) walk(kid, depth + 1);
  };
  for (const id of mine.kids[0] || []) walk(id, 0);
  return out;
};

// While a filter holds, the cursor stands on the first category that has the words in its own name.
const first = (mine) => Math.max(0, mine.flat.findIndex(([id]) => mine.nodes[id].name.toLowerCase().includes(mine.query.toLowerCase())));

const label = (name, query) => {
  const node = make("span", "name"), at = query ? name.toLowerCase().indexOf(query.toLowerCase()) : -1;
  node.title = name;
  if (at < 0) node.textContent = name;
  else node.append(name.slice(0, at), make("mark", "", name.slice(at, at + query.length)), name.slice(at + query.length));
  return node;
};

const row = (mine, at, words) => {
  const [id, depth] = mine.flat[at], known = mine.nodes[id], node = make("div", "row");
  node.id = "row-" + id;
  node.dataset.at = at;
  node.setAttribute("role", "treeitem");
  node.setAttribute("aria-level", depth + 1);
  node.setAttribute("aria-setsize", known.of);
  node.setAttribute("aria-posinset", known.at);
  node.setAttribute("aria-selected", id === mine.chosen);
  if (known.children) node.setAttribute("aria-expanded", mine.open.has(id) || (!!mine.query && !!mine.kids[id]));
  node.classList.toggle("chosen", id === mine.chosen);
  node.classList.toggle("here", at === mine.here);
  for (let step = 0; step < Math.min(depth, DEEPEST); step++) node.append(make("span", "guide"));
  const twist = make("span", "twist");
  twist.append(mine.waiting.has(id) ? "…" : known.children ? arrow() : make("span", "dot"));
  node.append(twist);
  if (depth > DEEPEST) node.append(make("span", "deep", words.level + " " + (depth + 1)));
  node.append(label(known.name, mine.query));
  if (known.mark) {
    const mark = make("span", "since " + known.look, known.mark);
    mark.title = known.why;
    node.append(mark);
  }
  if (known.look === "later") { node.classList.add("later"); return node; }
  const share = make("span", "share"), part = make("i");
  part.style.width = Math.max(known.chunks ? 4 : 0, known.share * 100) + "%";
  share.append(part);
  node.append(share, make("span", "many", known.chunks.toLocaleString("en")));
  return node;
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const mine = memory.get(root) || fresh();
  memory.set(root, mine);
  const box = root.querySelector(".box"), view = root.querySelector(".view"), room = root.querySelector(".room");
  const rows = root.querySelector(".rows"), find = root.querySelector(".find"), shown = root.querySelector(".shown");
  const order = root.querySelector(".order");
  box.style.height = data.height + "px";
  find.placeholder = data.words.find;
  find.setAttribute("aria-label", data.words.find);
  view.setAttribute("aria-label", data.words.tree);
  for (const word of root.querySelectorAll("[data-word]")) word.textContent = data.words[word.dataset.word];
  learn(mine, data);
  mine.chosen = data.chosen;

  const paint = () => {
    const top = Math.max(0, Math.floor(view.scrollTop / ROW) - AHEAD);
    const last = Math.min(mine.flat.length, top + Math.ceil(view.clientHeight / ROW) + 2 * AHEAD);
    rows.style.transform = `translateY(${top * ROW}px)`;
    const drawn = [];
    for (let at = top; at < last; at++) drawn.push(row(mine, at, data.words));
    if (!mine.flat.length) drawn.push(make("div", "none", mine.query ? data.words.nothing : data.words.empty));
    rows.replaceChildren(...drawn);
    const here = mine.flat[mine.here];
    if (here) view.setAttribute("aria-activedescendant", "row-" + here[0]);
    shown.textContent = data.words.shown.replace("{count}", mine.flat.length.toLocaleString("en"));
  };
  const bring = (at, centre) => {
    const top = at * ROW;
    if (top < view.scrollTop || top + ROW > view.scrollTop + view.clientHeight)
      view.scrollTop = centre ? Math.max(0, top - view.clientHeight / 2) : top < view.scrollTop ? top : top + ROW - view.clientHeight;
  };
  const refresh = () => {
    mine.flat = listed(mine);
    mine.here = mine.seeking ? first(mine) : Math.max(0, Math.min(mine.here, mine.flat.length - 1));
    room.style.height = mine.flat.length * ROW + "px";
    if (mine.target) {
      const at = mine.flat.findIndex(([id]) => id === mine.target);
      if (at >= 0) { mine.here = at; bring(at, true); mine.target = 0; }
    }
    paint();
  };
  const fold = (id, open) => {
    if (!mine.nodes[id].children) return;
    if (!open) mine.open.delete(id);
    else {
      mine.open.add(id);
      if (!mine.kids[id]) { mine.waiting.add(id); setTriggerValue("expand", id); }
    }
    refresh();
  };
  const choose = (id) => { mine.chosen = mine.revealed = id; setTriggerValue("chosen", id); paint(); };
  const name = () => {
    order.textContent = mine.byName ? data.words.byName : data.words.bySize;
    order.title = data.words.order;
  };
  order.onclick = () => {
    const [id] = mine.flat[mine.here] || [];
    mine.byName = !mine.byName;
    Object.keys(mine.kids).forEach((parent) => arrange(mine, parent));
    mine.target = id || 0;
    name();
    refresh();
  };
  const step = (key) => {
    const [id] = mine.flat[mine.here] || [];
    if (id === undefined) return false;
    const open = mine.open.has(id);
    if (key === "ArrowDown") mine.here = Math.min(mine.flat.length - 1, mine.here + 1);
    else if (key === "ArrowUp") mine.here = Math.max(0, mine.here - 1);
    else if (key === "Home") mine.here = 0;
    else if (key === "End") mine.here = mine.flat.length - 1;
    else if (key === "ArrowRight" && !open) fold(id, true);
    else if (key === "ArrowRight") mine.here = Math.min(mine.flat.length - 1, mine.here + 1);
    else if (key === "ArrowLeft" && open) fold(id, false);
    else if (key === "ArrowLeft") mine.here = Math.max(0, mine.flat.findIndex(([other]) => other === mine.nodes[id].parent));
    else if (key === "Enter" || key === " ") choose(id);
    else if (key === "/") find.focus();
    else return false;
    return true;
  };

  view.onscroll = paint;
  rows.onclick = (event) => {
    const hit = event.target.closest(".row");
    if (!hit) return;
    mine.seeking = false;
    mine.here = +hit.dataset.at;
    const [id] = mine.flat[mine.here];
    if (event.target.closest(".twist")) fold(id, !mine.open.has(id));
    else { if (!mine.open.has(id)) fold(id, true); choose(id); }
    view.focus({ preventScroll: true });
  };
  view.onkeydown = (event) => {
    mine.seeking = false;
    if (event.ctrlKey || event.metaKey || event.altKey || !step(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    bring(mine.here, false);
    paint();
  };
  find.oninput = () => {
    mine.query = find.value.trim();
    mine.seeking = mine.query !== "";
    view.scrollTop = 0;
    clearTimeout(mine.asked);
    if (data.lazy && mine.query.length > 1) mine.asked = setTimeout(() => leaving() || setTriggerValue("find", mine.query), 300);
    refresh();
  };
  find.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === "Escape") { find.value = mine.query = ""; mine.seeking = false; refresh(); view.focus(); }
    if (event.key === "ArrowDown" || event.key === "Enter") { event.preventDefault(); mine.seeking = false; view.focus(); bring(mine.here, true); paint(); }
  };

  if (data.chosen && data.chosen !== mine.revealed) {
    mine.revealed = mine.target = data.chosen;
    for (const id of data.way) mine.open.add(id);
  }
  name();
  refresh();
  if (!mine.sized) { mine.sized = new ResizeObserver(paint); mine.sized.observe(view); }
  return () => mine.sized && mine.sized.disconnect();
}
