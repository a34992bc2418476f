// How an item is drawn: the words in their context, why they were filed there, and what can be decided.
// Every text comes from a source, a model or a person: it reaches the page by textContent only.
const join = (node, ...children) => {
  node.append(...children.filter(Boolean));
  return node;
};

const route = (path, name = "route") => {
  const node = make("span", name);
  path.forEach((part, at) => {
    if (at) node.append(make("span", "sep", " › ")); // with spaces, so that lines break between names
    node.append(make(at === path.length - 1 ? "b" : "span", "", part));
  });
  node.title = path.join(" › ");
  return node;
};

const bar = (value, words) => {
  const node = make("span", "meter"), part = make("i");
  part.style.width = `${Math.max(0, Math.min(1, value ?? 0)) * 100}%`;
  node.append(part);
  node.title = value === null || value === undefined ? words.unknown : `${words.opinion} ${value.toFixed(2)}`;
  return node;
};

const figure = (value) => make("span", "num", value === null || value === undefined ? "–" : value.toFixed(2));

const stateBadge = (state, words) => make("span", `state ${state}`, words.states[state] || state);

const heading = (text) => make("h3", "", text);

// --- evidence ----------------------------------------------------------------------------------------------------

const drawn = (node, text) => formatted(node, text, (part, start, end) => part.append(piece(text.slice(start, end))));

const evidencePane = (item, evidence, words) => {
  const head = make("div", "where");
  const link = make("a", "", item.source);
  link.href = evidence.link;
  link.target = "_blank";
  link.title = words.openSource;
  join(head, link, make("span", "dim", [evidence.place, evidence.page].filter(Boolean).join(" · ")), item.state !== "unreviewed" ? stateBadge(item.state, words) : null);
  const text = make("div", "text");
  if (evidence.before) text.append(drawn(make("div", "aside"), evidence.before));
  const focus = drawn(make("mark", "focus"), evidence.text);
  focus.setAttribute("aria-label", words.chunk);
  text.append(focus);
  if (evidence.behind) text.append(drawn(make("div", "aside"), evidence.behind));
  const helper = make("div", "helper");
  join(helper, heading(words.helper), make("p", evidence.helper ? "" : "dim", evidence.helper || words.noHelper));
  return [head, text, helper];
};

// --- why it was filed here ---------------------------------------------------------------------------------------

const optionRow = (option, scale, words) => {
  const node = make("li", option.chosen ? "op on" : "op");
  const fill = make("span", "fill");
  fill.style.width = `${scale ? ((option.opinion || 0) / scale) * 100 : 0}%`;
  const name = make("span", "name", option.name);
  name.title = option.name;
  node.title = option.opinion === null ? words.unknown : `${words.opinion} ${option.opinion.toFixed(2)}`;
  const told = make("span", "hidden", option.chosen ? words.chosen : words.passed);
  return join(node, fill, make("span", "disc", option.chosen ? "✓" : ""), name, told, option.fresh ? make("span", "fresh", words.fresh) : null, figure(option.opinion));
};

const levelCard = (level, scale, words) => {
  const node = make("div", "level"), shown = level.options.slice(0, 4), rest = level.options.slice(4);
  join(node, heading(level.title));
  const list = make("ul");
  list.append(...shown.map((option) => optionRow(option, scale, words)));
  node.append(list);
  if (rest.length) {
    const more = make("details"), others = make("ul");
    others.append(...rest.map((option) => optionRow(option, scale, words)));
    join(more, make("summary", "", words.more.replace("{count}", rest.length)), others);
    node.append(more);
  }
  if (level.note) node.append(make("p", "note", level.note));
  return node;
};

const neighbourRow = (near, words) => {
  const node = make("li", "near"), head = make("div", "nearhead");
  join(head, bar(near.similarity, { ...words, opinion: words.alike }), route(near.path), stateBadge(near.state, words));
  return join(node, head, make("p", "", near.text), make("span", "dim", near.source));
};

const whyPane = (item, evidence, words) => {
  const filed = make("div", "filed"), reasons = make("ul", "reasons");
  filed.append(route(item.path, "route here"));
  reasons.append(...item.reasons.map((reason) => make("li", reason.code, reason.says)));
  const opinions = evidence.levels.flatMap((level) => level.options.map((option) => option.opinion || 0));
  const levels = evidence.levels.map((level) => levelCard(level, Math.max(...opinions, 0), words));
  const near = make("ul", "neighbours");
  near.append(...evidence.neighbours.map((one) => neighbourRow(one, words)));
  return [
    filed, item.reasons.length ? heading(words.whyQueued) : null, item.reasons.length ? reasons : null,
    levels.length ? null : make("p", "dim", words.noDecisions), ...levels,
    heading(words.neighbours), evidence.neighbours.length ? near : make("p", "dim", words.noNeighbours),
  ].filter(Boolean);
};

// --- decide ------------------------------------------------------------------------------------------------------

const act = (name, label, keys, enabled, onclick) => {
  const node = make("button", `act ${name}`);
  node.type = "button";
  node.disabled = !enabled;
  node.onclick = onclick;
  node.setAttribute("aria-keyshortcuts", keys.split(" ").join(" "));
  return join(node, make("span", "", label), make("kbd", "", keys.split(" ")[0]));
};

const markLine = (mark, words) => {
  const says = mark.kind === "overtaken" ? mark.says || words.taken : `${words.verdicts[mark.right ? "correct" : mark.verdict] || ""}${mark.path ? ` ${mark.path.join(" › ")}` : ""}`;
  const node = make("div", `mark ${mark.kind} ${mark.verdict || ""}`);
  return join(node, make("b", "", says), mark.kind === "sending" ? make("span", "dim", words.sending) : null);
};

const quickPlaces = (evidence, item, enabled, pick, words) => {
  const others = evidence.places.filter((place) => place.id !== item.category).slice(0, 5);
  if (!others.length) return null;
  const node = make("ol", "quick");
  others.forEach((place, at) => {
    const row = make("li"), button = act("place", "", String(at + 1), enabled, () => pick(place));
    button.firstChild.replaceWith(join(make("span", "to"), route(place.path), bar(place.opinion, words)));
    button.setAttribute("aria-label", `${words.refileTo} ${place.path.join(" › ")}`);
    node.append(join(row, button));
  });
  return join(make("div"), heading(words.likeliest), node);
};

// --- the search over places --------------------------------------------------------------------------------------

const placeOption = (place, at, here, item, words, pick) => {
  const node = make("li", at === here ? "place on" : "place");
  node.id = `place-${at}`;
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", at === here);
  const present = place.id === item.category;
  if (present) node.setAttribute("aria-disabled", "true");
  join(node, route(place.path), present ? make("span", "dim", words.present) : place.opinion !== undefined && place.opinion !== null ? bar(place.opinion, words) : null);
  node.onmousedown = (event) => { event.preventDefault(); pick(place); };
  return node;
};

// Every word of the query somewhere in the path: the same rule as the engine's own search.
const matching = (places, query) => {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  return places.filter((place) => wanted.every((word) => place.path.join(" ").toLowerCase().includes(word)));
};

const candidates = (evidence, found, query) => {
  const known = matching(evidence.places, query), ids = new Set(known.map((place) => place.id));
  const more = found && found.text === query ? found.places.filter((place) => !ids.has(place.id)) : [];
  return [...known, ...more];
};

// --- the keys ----------------------------------------------------------------------------------------------------

const helpBody = (words, keysOn, toggle, close) => {
  const table = make("dl");
  for (const [keys, says] of words.keys) {
    const names = make("dt");
    names.append(...keys.split(" ").map((key) => make("kbd", "", key)));
    table.append(names, make("dd", "", says));
  }
  const label = make("label"), box = make("input");
  box.type = "checkbox";
  box.checked = keysOn;
  box.onchange = () => toggle(box.checked);
  join(label, box, make("span", "", words.keysOn));
  const button = make("button", "act", words.close);
  button.type = "button";
  button.onclick = close;
  return join(make("div", "sheet"), make("h2", "", words.help), table, label, button);
};
