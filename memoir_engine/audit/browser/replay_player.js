// Plays the way of an answer step by step. Everything on the stage follows from two numbers: the step, and how far it has come;
// so playing, pausing, stepping and the keys all do one thing: set these two. A live line says each step in words.
const SPEEDS = [0.5, 1, 2, 4], DECIDE = 0.42, WRITE = 0.75, SHOWN = 6, SHOWN_BESIDE = 3;
const ICONS = {
  play: "M8 5v14l11-7z", pause: "M6 5h4v14H6zM14 5h4v14h-4z", back: "M6 6h2v12H6zM9.5 12l8.5 6V6z", next: "M16 6h2v12h-2zM6 18l8.5-6L6 6z",
  again: "M12 5V1L7 6l5 5V7a6 6 0 1 1-6 6H4a8 8 0 1 0 8-8z",
};
const SVG = "http://www.w3.org/2000/svg";
const plays = new WeakMap();

const drawn = (name, attributes) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};
const icon = (name) => {
  const node = drawn("svg", { viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true" });
  node.append(drawn("path", { d: ICONS[name], fill: "currentColor" }));
  return node;
};
const filled = (form, values) => form.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

// Offsets count code points, as Python does; JavaScript counts UTF-16 units.
const units = (text, marks) => {
  if (!/[\ud800-\udbff]/.test(text)) return marks;
  const places = [0];
  for (const point of text) places.push(places[places.length - 1] + point.length);
  return marks.map(([start, end]) => [places[start], places[end]]);
};

const optionOf = (option, words) => {
  const chosen = option.place !== null, node = make("li", chosen ? "on" : "off");
  node.append(make("span", "disc", chosen ? option.place : "–"), make("span", "name", option.name));
  node.title = `${option.name}, ${chosen ? words.chosen : words.passed}`;
  return node;
};

const branchOf = (branch, words, most) => {
  const card = make("div", "branch"), list = make("ul"), passed = branch.options.filter((option) => option.place === null);
  const shown = branch.options.filter((option) => option.place !== null).concat(passed.slice(0, most)), rest = passed.length - Math.min(most, passed.length);
  card.append(make("div", "top", branch.path.length ? branch.path[branch.path.length - 1] : words.root));
  card.dataset.id = branch.category_id;
  for (const option of shown) {
    const row = optionOf(option, words);
    if (option.place !== null) row.dataset.to = option.category_id;
    list.append(row);
  }
  if (rest > 0) list.append(make("li", "off more", filled(words.more, { count: rest })));
  card.append(list);
  return card;
};

const leafOf = (leaf, words, reasons) => {
  const node = make("div", "leaf" + (leaf.reason && !leaf.chunks ? " lost" : leaf.cited ? " cited" : "")), told = [];
  if (leaf.chunks) told.push(filled(words.chunks, { count: leaf.chunks }));
  if (leaf.cited) told.push(filled(words.cited, { count: leaf.cited }));
  if (leaf.by_net) told.push(words.net);
  if (leaf.reason) told.push(reasons[leaf.reason] || leaf.reason);
  node.dataset.id = leaf.category_id;
  node.append(make("b", "", leaf.path[leaf.path.length - 1] || words.root), make("span", "", told.join(" · ")));
  node.title = leaf.path.join(" › ");
  return node;
};

const columnOf = (step, data) => {
  const words = data.words, column = make("div", "column " + step.kind);
  const title = step.kind === "read" ? words.read : step.kind === "levels" ? `${words.level} ${step.level}–${step.through}` : `${words.level} ${step.level}`;
  column.append(make("div", "title", title));
  if (step.kind === "read") column.append(...step.leaves.map((leaf) => leafOf(leaf, words, data.reasons)));
  else if (step.kind === "levels") {
    const chain = make("div", "branch"), list = make("ul");
    for (const branch of step.branches) for (const option of branch.options) list.append(optionOf(option, words));
    chain.dataset.id = step.branches[0].category_id;
    list.lastChild.dataset.to = step.branches[step.branches.length - 1].options[0].category_id;
    chain.append(list);
    column.append(chain);
  } else column.append(...step.branches.map((branch) => branchOf(branch, words, step.branches.length > 1 ? SHOWN_BESIDE : SHOWN)));
  return column;
};

const proofOf = (evidence, picture, words) => {
  const sheet = make("figure", "proof"), head = make("figcaption"), at = evidence.page === null ? "" : filled(words.page, { page: evidence.page });
  head.append(make("span", "cite", evidence.label), make("b", "", evidence.source), make("small", "", [at, evidence.path.join(" › ")].filter((part) => part).join(" · ")));
  sheet.append(head);
  if (picture) {
    const frame = make("div", "paper"), image = make("img");
    image.alt = picture.alt;
    image.src = picture.src;
    image.onload = () => { frame.scrollTop = Math.max(0, picture.top * image.clientHeight - frame.clientHeight / 3); };
    frame.append(image);
    frame.place = image.onload;
    sheet.append(frame);
    return sheet;
  }
  const text = make("div", "words"), marks = units(evidence.text, evidence.marks);
  formatted(text, evidence.text, (node, start, end) => {
    let at = start;
    for (const [from, to] of marks) {
      const first = Math.max(from, at), last = Math.min(to, end);
      if (first >= last) continue;
      node.append(evidence.text.slice(at, first), make("mark", "", evidence.text.slice(first, last)));
      at = last;
    }
    node.append(evidence.text.slice(at, end));
  });
  text.place = () => {
    const mark = text.querySelector("mark");
    if (mark) text.scrollTop = Math.max(0, mark.offsetTop - text.clientHeight / 3);
  };
  sheet.append(text);
  return sheet;
};

// The answer, each of its words in a piece of its own that appears when its turn comes.
const answerOf = (data, jump) => {
  const replay = data.replay, box = make("div", "reply"), pieces = [];
  const labels = new Map(Object.entries(replay.labels).map(([number, label]) => [+number, label]));
  const button = (number) => {
    if (!labels.has(number)) return null;
    const to = replay.steps.findIndex((step) => step.evidence && step.evidence.number === number), label = labels.get(number);
    const node = make(to < 0 ? "span" : "button", "cite", label);
    if (to >= 0) {
      node.setAttribute("aria-label", filled(data.words.citation, { number: label }));
      node.onclick = () => jump(to);
    }
    return node;
  };
  const text = replay.answer || data.told[data.told.length - 1], body = make("div", "text");
  box.append(make("div", "title", replay.answered ? data.words.answer : data.words.no_answer));
  formatted(body, text, (node, start, end) => {
    for (const part of withCitations(text.slice(start, end), button)) {
      const bits = typeof part === "string" ? part.match(/\s*\S{1,12}|\s+$/g) || [] : [part];
      for (const bit of bits) {
        const piece = typeof bit === "string" ? make("span", "word", bit) : bit;
        piece.classList.add("piece");
        pieces.push(piece);
        node.append(piece);
      }
    }
  });
  const proofs = make("div", "proofs");
  replay.steps.forEach((step, to) => {
    if (!step.evidence) return;
    const { label, source, page } = step.evidence, node = make("button");
    node.append(make("span", "cite", label), make("b", "", source));
    if (page !== null) node.append(make("small", "", filled(data.words.page, { page })));
    node.onclick = () => jump(to);
    proofs.append(node);
  });
  box.append(body, proofs);
  return { box, pieces };
};

// Draws the player into `root` and returns what ends it. data: replay, told, words, reasons, pictures by the chunk's id, starts.
const player = (root, data) => {
  const { replay, words, told } = data, steps = replay.steps, calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  const mine = plays.get(root) || { at: 0, part: 0, speed: 1, playing: data.starts && !calm.matches };
  plays.set(root, mine);
  const box = make("section", "replay"), stage = make("div", "stage"), way = make("div", "way"), columns = make("div", "columns"), lines = drawn("svg", { class: "lines", "aria-hidden": "true" });
  const front = make("div", "front"), line = make("p", "told"), bar = make("div", "bar"), track = make("div", "track"), done = make("i");
  const ask = make("div", "ask"), state = { at: -1, decided: null, words: -1 };
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", words.name);
  box.setAttribute("aria-description", words.keys);
  ask.append(make("span", "title", words.question), make("span", "text", replay.question));
  const drawnSteps = steps.map((step) => {
    if (step.evidence) return proofOf(step.evidence, data.pictures[step.evidence.chunk_id], words);
    return step.branches.length || step.leaves.length ? columnOf(step, data) : null;
  });
  const show = (at, part, isLoud = true) => {
    mine.at = Math.max(0, Math.min(at, steps.length - 1));
    mine.part = Math.max(0, Math.min(part, 1));
    render(isLoud);
  };
  const jump = (at) => { mine.playing = false; show(at, 1); };
  const { box: reply, pieces } = answerOf(data, jump);
  drawnSteps.forEach((node, at) => { if (node) (steps[at].evidence ? front : columns).append(node); });
  way.append(lines, columns);
  front.append(reply);
  stage.append(ask, way, front);
  line.setAttribute("role", "status");
  line.setAttribute("aria-live", "polite");

  const control = (name, act) => {
    const node = make("button", name);
    node.append(icon(name));
    node.setAttribute("aria-label", words[name]);
    node.title = words[name];
    node.onclick = act;
    return node;
  };
  const isOver = () => mine.at === steps.length - 1 && mine.part >= 1;
  const turn = () => {
    if (isOver()) { mine.at = 0; mine.part = 0; mine.playing = true; } else mine.playing = !mine.playing;
    last = 0;
    render();
  };
  const step = (by) => jump(mine.part < 1 && by > 0 ? mine.at + (mine.playing || mine.part > 0 ? 0 : by) : mine.at + by);
  const faster = (by) => { mine.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, SPEEDS.indexOf(mine.speed) + by))]; speed.value = mine.speed; };
  const again = control("again", () => { mine.at = 0; mine.part = 0; mine.playing = !calm.matches; last = 0; render(); });
  const back = control("back", () => step(-1)), play = control("play", turn), next = control("next", () => step(1));
  const speed = make("select", "speed"), place = make("span", "place");
  speed.setAttribute("aria-label", words.speed);
  for (const each of SPEEDS) {
    const option = make("option", "", `${each}×`);
    option.value = each;
    speed.append(option);
  }
  speed.value = mine.speed;
  speed.onchange = () => { mine.speed = +speed.value; };
  track.append(done);
  bar.append(again, back, play, next, track, place, speed);
  box.append(stage, line, bar, make("p", "keys", words.keys));
  root.replaceChildren(box);

  const link = () => {
    const frame = way.getBoundingClientRect(), isWide = getComputedStyle(columns).flexDirection === "row", paths = [];
    lines.setAttribute("width", columns.scrollWidth);
    lines.setAttribute("height", Math.max(columns.scrollHeight, 1));
    for (const from of isWide ? columns.querySelectorAll(".decided [data-to]") : []) {
      for (const to of columns.querySelectorAll(`.column:not(.later) [data-id="${from.dataset.to}"]`)) {
        if (from.closest(".column") === to.closest(".column")) continue;
        const a = from.getBoundingClientRect(), b = to.getBoundingClientRect(), x = way.scrollLeft - frame.left, y = way.scrollTop - frame.top;
        const x1 = a.right + x, y1 = a.top + a.height / 2 + y, x2 = b.left + x, y2 = b.top + Math.min(20, b.height / 2) + y, bend = Math.max(16, (x2 - x1) / 2);
        paths.push(drawn("path", { d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, class: to.classList.contains("lost") ? "lost" : "" }));
      }
    }
    lines.replaceChildren(...paths);
  };
  const render = (isLoud = true) => {
    const at = mine.at, current = steps[at], decided = mine.part >= DECIDE;
    if (state.at !== at || state.decided !== decided) {
      drawnSteps.forEach((node, n) => {
        if (!node) return;
        node.classList.toggle("later", n > at);
        node.classList.toggle("now", n === at);
        node.classList.toggle("decided", n < at || (n === at && decided));
      });
      const isProof = !!current.evidence, isReply = current.kind === "answer";
      stage.dataset.kind = current.kind;
      front.classList.toggle("up", isProof || isReply);
      reply.classList.toggle("later", !isReply);
      requestAnimationFrame(link);
      if (state.at !== at) {
        if (isLoud) line.textContent = told[at];
        const node = drawnSteps[at], paper = node && node.querySelector(".paper, .words");
        if (paper) requestAnimationFrame(() => paper.place());
        if (node && !isProof) requestAnimationFrame(() => {
          const to = { left: node.offsetLeft - way.clientWidth + node.offsetWidth + 8, top: node.offsetTop - 8, behavior: calm.matches ? "auto" : "smooth" };
          way.scrollTo(way.scrollWidth > way.clientWidth + 4 ? { ...to, top: 0 } : { ...to, left: 0 });
        });
      }
      state.at = at;
      state.decided = decided;
    }
    const shown = current.kind === "answer" ? Math.ceil(Math.min(1, mine.part / WRITE) * pieces.length) : 0;
    if (state.words !== shown) pieces.forEach((piece, n) => piece.classList.toggle("unwritten", n >= shown));
    state.words = shown;
    const whole = steps.reduce((sum, each) => sum + each.seconds, 0), gone = steps.slice(0, at).reduce((sum, each) => sum + each.seconds, 0) + mine.part * current.seconds;
    done.style.width = `${(100 * gone) / whole}%`;
    place.textContent = filled(words.at, { at: at + 1, steps: steps.length });
    const name = mine.playing ? "pause" : isOver() ? "again" : "play";
    if (play.dataset.name !== name) {
      play.dataset.name = name;
      play.replaceChildren(icon(name));
      play.setAttribute("aria-label", words[name]);
      play.title = words[name];
    }
    back.disabled = at === 0 && mine.part === 0;
    next.disabled = isOver();
    box.dataset.step = at + 1;
    box.dataset.state = mine.playing ? "playing" : isOver() ? "over" : "paused";
  };
  let last = 0, frame = 0;
  const tick = (now) => {
    frame = requestAnimationFrame(tick);
    const past = last ? Math.min(250, now - last) : 0;
    last = now;
    if (!mine.playing) return;
    const part = mine.part + (past / 1000) * mine.speed / Math.max(0.05, steps[mine.at].seconds);
    if (part < 1) show(mine.at, part);
    else if (mine.at < steps.length - 1) show(mine.at + 1, 0);
    else { mine.playing = false; show(mine.at, 1); }
  };
  const onKey = (event) => {
    const on = event.composedPath()[0], isButton = on.matches && on.matches("button, select");
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || (on.matches && on.matches("input, textarea, [contenteditable=true]"))) return;
    if (event.key === " " && !isButton) turn();
    else if (event.key === "ArrowRight" && !on.matches("select")) step(1);
    else if (event.key === "ArrowLeft" && !on.matches("select")) step(-1);
    else if (event.key === "Home" && !on.matches("select")) { mine.playing = false; show(0, 0); }
    else if (event.key === "End" && !on.matches("select")) jump(steps.length - 1);
    else if (event.key === "+" || event.key === "=") faster(1);
    else if (event.key === "-" || event.key === "−") faster(-1);
    else return;
    event.preventDefault();
  };
  box.addEventListener("keydown", onKey);
  const sized = new ResizeObserver(link);
  sized.observe(columns);
  state.at = -1;
  render();
  frame = requestAnimationFrame(tick);
  return () => {
    cancelAnimationFrame(frame);
    sized.disconnect();
  };
};
