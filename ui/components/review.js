// The review desk: keys and buttons become steps, the next item stands there at once, and the memory confirms behind it.
const desks = new WeakMap();
const WRITING = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=true], [role=combobox], [role=listbox], [role=option], [role=slider]";
const GRID = "[role=grid], canvas, [data-testid=stDataFrame]";
const DEAF = "memoir-review-keys-off", FIND_MS = 180, TELL_MS = 700, SAID_MS = 3000, ABOVE = 110; // px of what stands before the chunk

const keysOn = () => { try { return localStorage.getItem(DEAF) !== "1"; } catch { return true; } };
const setKeys = (on) => { try { on ? localStorage.removeItem(DEAF) : localStorage.setItem(DEAF, "1"); } catch { /* kept by no browser, so on */ } };

const sheet = (root) => (selector) => root.querySelector(selector);

const drawTop = (desk, data, one) => {
  const { counts, words } = data, all = Object.values(counts).reduce((sum, many) => sum + many, 0);
  const waiting = desk.outbox.filter((step) => isOfQueue(desk, step) && step.verdict !== "undo" && step.verdict !== "skip").length;
  const reviewed = Math.min(all, all - (counts.unreviewed || 0) - (counts.skipped || 0) + waiting);
  one(".told").textContent = words.progress.replace("{done}", reviewed.toLocaleString("en")).replace("{all}", all.toLocaleString("en"));
  const meter = one(".bar");
  meter.setAttribute("aria-valuemax", all);
  meter.setAttribute("aria-valuenow", reviewed);
  meter.setAttribute("aria-label", one(".told").textContent);
  meter.firstChild.style.width = `${all ? (reviewed / all) * 100 : 0}%`;
  const late = desk.outbox.length && desk.sentAt && performance.now() - desk.sentAt > PATIENCE_MS / 2;
  const recent = desk.said && performance.now() - desk.saidAt < SAID_MS ? desk.said : "";
  const saving = desk.outbox.length ? (late ? words.late : words.saving).replace("{count}", desk.outbox.length) : "";
  one(".saving").textContent = late ? saving : recent || saving;
  one(".saving").classList.toggle("late", !!late);
  if (late && !desk.wasLate) one(".live").textContent = saving; // the counter beside the bar is read by nobody: it changes with every step
  desk.wasLate = late;
};

const drawNotices = (desk, words, one, redraw) => {
  const stamp = desk.notices.map((notice) => notice.id).join();
  if (stamp === (desk.noticed ?? "")) return; // an alert that is drawn again is read aloud again
  desk.noticed = stamp;
  one(".notices").replaceChildren(...desk.notices.slice(-3).map((notice) => {
    const node = make("div", `notice ${notice.kind}`), close = make("button", "", "×");
    close.type = "button";
    close.setAttribute("aria-label", words.dismiss);
    close.onclick = () => { desk.notices = desk.notices.filter((other) => other !== notice); redraw(); };
    return join(node, make("span", "", notice.text), close);
  }));
};

// What was just done, with its undo; it stays until the next decision or until it is closed.
const drawLast = (desk, data, one, doing) => {
  const box = one(".last"), says = lastInWords(desk, data.words), stamp = `${says}${desk.last ? desk.last.id : ""}`;
  box.hidden = !says;
  if (stamp === desk.lastDrawn) return; // a button that has the focus stays as it is
  desk.lastDrawn = stamp;
  const undone = desk.last && desk.last.verdict === "undo", close = make("button", "close", "×");
  close.type = "button";
  close.setAttribute("aria-label", data.words.dismiss);
  close.onclick = () => { desk.last = null; doing.redraw(); };
  box.replaceChildren(...[make("span", "", says), undone || !says ? null : act("back", data.words.undo, "U", true, doing.undo), close].filter(Boolean));
};

const drawDecide = (desk, data, item, evidence, ready, doing) => {
  const { words } = data, mark = markOf(desk, item.key), labels = (evidence && evidence.labels) || words, nodes = [];
  if (mark) nodes.push(markLine(mark, words));
  if (!data.may) nodes.push(make("p", "why-not", data.whyNot));
  if (desk.early) nodes.push(make("p", "why-not", words.tooEarly));
  nodes.push(
    ...[
      act("approve", rightWords(desk, evidence) ? words.approveRight : labels.approve, "A", ready, () => doing.verdict("approve")),
      item.kind ? null : act("refile", words.refile, "R", ready, doing.open),
      act("reject", labels.reject, "X", ready, () => doing.verdict("reject")),
      evidence && evidence.right && data.may ? act("correct", words.correct, "E", ready, doing.correct) : null,
      act("skip", words.skip, "S", data.may && !mark, () => doing.verdict("skip")),
    ].filter(Boolean),
  );
  const walk = make("div", "walk");
  join(walk, act("prev", words.previous, "K ArrowLeft", desk.at > 0, () => doing.walk(-1)), act("next", words.next, "J ArrowRight", desk.at < desk.order.length - 1, () => doing.walk(1)));
  const last = make("div", "walk");
  join(last, act("undo", words.undo, "U", data.may && !!undoable(desk), doing.undo), act("keys", words.help, "?", true, doing.help));
  nodes.push(walk, last);
  const quick = data.may && evidence ? quickPlaces(evidence, item, ready, doing.refile, words) : null;
  if (quick) nodes.push(quick);
  if (data.may && ready && desk.right !== null && evidence && evidence.right) nodes.push(rightField(desk, evidence, words, doing.redraw));
  if (data.may) nodes.push(doing.reason);
  return nodes;
};

const emptyRest = (data, doing, desk) => {
  const { words } = data, node = make("div", "empty"), said = desk.order.length ? words.allDone : data.nothing, skipped = data.counts.skipped || 0;
  join(node, make("h2", "", said.title), make("p", "", skipped && data.state === "unreviewed" ? words.skippedLeft.replace("{count}", skipped) : said.text));
  const row = make("div", "row"), waits = data.state === "unreviewed" && (skipped || Object.values(desk.marks).some((mark) => mark.verdict === "skip"));
  join(row, waits ? act("again", words.again, "L", true, doing.again) : null, data.may && undoable(desk) ? act("undo", words.undo, "U", true, doing.undo) : null);
  return join(node, row);
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const one = sheet(root), words = data.words;
  let desk = desks.get(root);
  if (!desk || desk.who !== data.who) { // somebody else at the same screen has a desk of their own
    if (desk) clearTimeout(desk.again);
    desks.set(root, (desk = Object.assign(newDesk(data.who), { listening: desk && desk.listening })));
  }
  learn(desk, data);
  desk.setTrigger = setTriggerValue;
  desk.data = data;
  if (desk.note === undefined) Object.assign(desk, { note: "", right: null });

  const say = (text, rest = "") => {
    one(".live").textContent = rest ? `${text} ${rest}` : text;
    Object.assign(desk, { said: text, saidAt: performance.now() });
    drawTop(desk, desk.data, one);
    clearTimeout(desk.hushing);
    desk.hushing = setTimeout(() => { one(".live").textContent = ""; drawTop(desk, desk.data, one); }, SAID_MS + 20);
  };
  const pump = () => {
    const gone = leaving(), sent = gone ? null : message(desk, performance.now()); // whatever is sent now would run this page again, instead of the other one
    if (sent) desk.setTrigger("sent", sent);
    clearTimeout(desk.again);
    if (gone) desk.again = setTimeout(pump, LEAVING_MS);
    else if (desk.n > desk.answered) desk.again = setTimeout(() => { drawTop(desk, desk.data, one); pump(); }, PATIENCE_MS / 2 + 50);
  };
  const ready = () => data.may && !!current(desk) && !!desk.evidence[current(desk)] && !markOf(desk, current(desk));
  const moved = () => { Object.assign(desk, { searching: false, note: "", noted: null, right: null }); keep(desk); draw(); pump(); };
  const refused = () => {
    const key = current(desk), mark = markOf(desk, key);
    if (!data.may || !key) return;
    desk.early = mark ? null : key; // what nobody can have read is not decided, and the page says so until it can be read
    draw();
    say(!mark ? words.tooEarly : mark.kind === "back" ? words.verdicts.undo : words.decidedAlready);
  };
  const skippable = () => data.may && !!current(desk) && !markOf(desk, current(desk)); // to put off needs no evidence
  const verdict = (kind, more) => {
    if (!(kind === "skip" ? skippable() : ready())) { refused(); return; }
    const evidence = desk.evidence[current(desk)], content = kind === "skip" ? "" : rightWords(desk, evidence);
    if (content && !evidence.right.with.includes(kind)) { say(words.rightOnly); return; }
    const said = words.verdicts[content ? "correct" : kind], reason = desk.note.trim();
    decide(desk, kind, { ...more, ...(reason ? { reason } : {}), ...(content ? { content } : {}) });
    moved();
    say(`${said}${more && more.path ? ` ${more.path.join(" › ")}` : ""}.`, current(desk) ? desk.items[current(desk)].name : "");
  };
  const walk = (by) => {
    const to = desk.at + by;
    if (to < 0 || to >= desk.order.length) return;
    desk.at = to;
    Object.assign(desk, { searching: false, note: "", right: null });
    draw();
    one(".live").textContent = desk.items[current(desk)].name;
    clearTimeout(desk.telling);
    desk.telling = setTimeout(pump, TELL_MS);
    if (wished(desk).includes(current(desk))) pump();
  };
  const undo = () => {
    if (!data.may) return;
    const step = takeBack(desk);
    if (step) { moved(); say(lastInWords(desk, words)); }
  };
  const open = () => {
    if (!ready()) { refused(); return; }
    if (desk.items[current(desk)].kind) return; // a fact is filed nowhere
    Object.assign(desk, { searching: true, query: "", here: 0 });
    draw();
    const field = one(".search input");
    if (field) field.focus();
  };
  const correct = () => {
    const evidence = desk.evidence[current(desk)];
    if (!ready()) { refused(); return; }
    if (!evidence.right) return;
    desk.right ??= evidence.right.content;
    draw();
    const field = one(".right textarea");
    if (field) { field.focus(); field.setSelectionRange(field.value.length, field.value.length); }
  };
  const shut = () => { desk.searching = false; draw(); };
  const refile = (place) => {
    if (place.id === desk.items[current(desk)].category) return;
    verdict("refile", { category: place.id, path: place.path });
  };
  const showHelp = (shown) => {
    const help = one(".help");
    help.hidden = !shown;
    help.setAttribute("aria-label", words.help);
    if (!shown) return one(".act.keys") && one(".act.keys").focus();
    help.replaceChildren(helpBody(words, keysOn(), setKeys, () => showHelp(false)));
    help.querySelector("button").focus();
  };
  const again = () => { desk.restart = true; reset(desk, desk.stamp); desk.restart = true; draw(); pump(); };

  const reasonField = () => {
    const label = make("label", "reason"), field = make("input");
    field.type = "text";
    field.maxLength = 500;
    field.value = desk.note;
    field.placeholder = words.reasonHint;
    field.oninput = () => { Object.assign(desk, { note: field.value, noted: null }); keep(desk); };
    field.onkeydown = (event) => { if (event.key === "Enter" || event.key === "Escape") { event.preventDefault(); field.blur(); } event.stopPropagation(); };
    return join(label, join(make("span", "", words.reason), make("kbd", "", "N")), field);
  };
  const searchBox = (item, evidence) => {
    const box = make("div", "search"), field = make("input"), list = make("ul");
    field.type = "text";
    field.value = desk.query;
    field.placeholder = words.search;
    for (const [name, value] of [["role", "combobox"], ["aria-label", words.search], ["aria-expanded", "true"], ["aria-controls", "places"], ["autocomplete", "off"]]) field.setAttribute(name, value);
    list.id = "places";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", words.search);
    const fill = () => {
      const places = candidates(evidence, desk.data.found, desk.query.trim());
      desk.here = Math.max(0, Math.min(desk.here, places.length - 1));
      list.replaceChildren(...places.map((place, at) => placeOption(place, at, desk.here, item, words, refile)));
      if (!places.length) list.append(make("li", "dim", desk.data.found && desk.data.found.text === desk.query.trim() ? words.nothingFound : words.searching));
      if (places.length) field.setAttribute("aria-activedescendant", `place-${desk.here}`);
      const on = list.querySelector(".on");
      if (on && on.scrollIntoView) on.scrollIntoView({ block: "nearest" });
      return places;
    };
    field.oninput = () => {
      Object.assign(desk, { query: field.value, here: 0 });
      clearTimeout(desk.seeking);
      desk.seeking = setTimeout(() => { desk.find = desk.query.trim(); pump(); }, FIND_MS);
      fill();
    };
    field.onkeydown = (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
      event.stopPropagation();
      if (event.key in steps) { event.preventDefault(); desk.here += steps[event.key]; fill(); }
      else if (event.key === "Escape") { event.preventDefault(); shut(); }
      else if (event.key === "Enter" && !event.repeat) { event.preventDefault(); const places = fill(); if (places[desk.here]) refile(places[desk.here]); }
    };
    desk.refill = fill;
    fill();
    const back = make("button", "act", words.cancel);
    back.type = "button";
    back.onclick = shut;
    back.append(make("kbd", "", "Esc"));
    return join(box, heading(words.refileTo), field, list, desk.note ? make("p", "dim", `${words.reason}: ${desk.note}`) : null, back);
  };

  const draw = () => {
    const key = current(desk), item = desk.items[key], evidence = desk.evidence[key], wanted = desk.early;
    if (wanted && (wanted !== key || evidence)) desk.early = null;
    if (desk.noted && desk.noted.key === key) Object.assign(desk, { note: desk.noted.text, noted: null });
    drawTop(desk, desk.data, one);
    drawNotices(desk, words, one, () => draw());
    drawLast(desk, desk.data, one, doing);
    const nothingOpen = !desk.order.some((other) => isOpen(desk, other));
    const ended = nothingOpen && desk.cursor === null && !desk.restart;
    one(".panes").hidden = !item;
    one(".rest").replaceChildren(...(ended || (!item && desk.cursor === null) ? [emptyRest(desk.data, doing, desk)] : []));
    if (!item) return;
    one(".evidence h2").textContent = item.kind ? words.factEvidence : words.evidence;
    one(".why h2").textContent = item.kind ? words.factWhy : words.why;
    one(".decide h2").textContent = words.decide;
    const changed = desk.shown !== key;
    if (changed) desk.searching = false;
    const stamp = JSON.stringify([key, !!evidence, item]);
    if (desk.drawn !== stamp) {
      const wait = [make("p", "dim", words.loading)];
      const [left, middle] = item.kind ? [factEvidence, factWhy] : [evidencePane, whyPane];
      one(".evidence .body").replaceChildren(...(evidence ? left(item, evidence, words) : wait));
      one(".why .body").replaceChildren(...(evidence ? middle(item, evidence, words) : []));
      desk.drawn = stamp;
    }
    const main = document.querySelector("[data-testid=stMain]"), above = one(".panes").getBoundingClientRect().top + (main ? main.scrollTop : 0);
    one(".review").style.setProperty("--above", `${Math.round(above)}px`);
    root.querySelector(".review").dataset.key = key;
    root.querySelector(".review").dataset.ready = String(ready());
    root.querySelector(".review").dataset.waiting = String(desk.outbox.length);
    drawActions(item, evidence);
    if (wanted === key && evidence) say(words.loaded);
    if (changed && evidence) {
      desk.shown = key;
      one(".why .body").scrollTop = 0;
      const body = one(".evidence .body"), focus = body.querySelector("mark.focus");
      body.scrollTop = 0;
      if (focus) body.scrollTop = Math.max(0, focus.getBoundingClientRect().top - body.getBoundingClientRect().top - ABOVE);
    }
  };
  const drawActions = (item, evidence) => {
    const body = one(".decide .body");
    if (desk.searching && evidence) {
      if (!body.querySelector(".search")) body.replaceChildren(searchBox(item, evidence));
      else desk.refill();
      return;
    }
    const active = (root.host ? root : root.getRootNode()).activeElement, writing = active && active.closest && active.closest(".reason");
    if (writing && desk.shown === item.key) return; // never pull the field from under somebody who types
    const had = active && active.classList && active.classList.contains("act") && [...active.classList].find((name) => name !== "act");
    if (had || (active && active !== document.body)) desk.focus = had;
    body.replaceChildren(...drawDecide(desk, desk.data, item, evidence, ready(), { ...doing, reason: reasonField() }));
    const back = desk.focus ? body.querySelector(`.act.${desk.focus}`) : null; // a button that waits for its item gets the focus again
    if (back && !back.disabled) back.focus({ preventScroll: true });
  };
  const doing = { verdict, walk, undo, open, correct, refile, again, help: () => showHelp(true), redraw: () => draw() };

  const chosen = (at) => {
    const item = desk.items[current(desk)], evidence = desk.evidence[current(desk)];
    if (!ready()) { refused(); return; }
    const place = evidence.places ? evidence.places.filter((other) => other.id !== item.category)[at] : null;
    if (place) refile(place);
  };
  const KEYS = {
    a: () => verdict("approve"), x: () => verdict("reject"), s: () => verdict("skip"), r: open, e: correct, u: undo, j: () => walk(1), k: () => walk(-1),
    arrowright: () => walk(1), arrowleft: () => walk(-1), n: () => one(".reason input") && one(".reason input").focus(), l: () => one(".act.again") && again(),
    "?": () => showHelp(true), 1: () => chosen(0), 2: () => chosen(1), 3: () => chosen(2), 4: () => chosen(3), 5: () => chosen(4),
  };
  const DECIDES = new Set(["a", "x", "s", "u", "1", "2", "3", "4", "5"]);
  const onkey = (event) => {
    const target = event.composedPath()[0], inside = event.composedPath().includes(root), name = event.key.toLowerCase();
    if (!one(".help").hidden) {
      if (event.type === "keydown" && event.key === "Escape") showHelp(false);
      if (event.type === "keydown" && event.key === "Tab") {
        event.preventDefault();
        const inHelp = [...one(".help").querySelectorAll("input, button")], at = inHelp.indexOf(target);
        inHelp[(at + (event.shiftKey ? inHelp.length - 1 : 1)) % inHelp.length].focus();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !keysOn()) return;
    if (target.closest && (target.closest(WRITING) || (!inside && target.closest(GRID)))) return;
    if (!inside && document.querySelector("[role=dialog]")) return;
    if (!(name in KEYS) || !root.isConnected) return;
    if (name.startsWith("arrow") && !inside && target !== document.body) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Streamlit has keys of its own: R would run the page again
    if (event.type !== "keydown" || event.repeat) return;
    if (DECIDES.has(name) && bounced(desk, name, event.timeStamp)) { say(words.bounced); return; }
    KEYS[name]();
  };
  if (desk.listening) for (const kind of ["keydown", "keypress", "keyup"]) window.removeEventListener(kind, desk.listening, true);
  desk.listening = onkey;
  for (const kind of ["keydown", "keypress", "keyup"]) window.addEventListener(kind, onkey, true);

  // What is not saved yet is told above the panes; the desk itself stays as clear as it was while the memory is at it.
  const shadow = root.host ? root : root.getRootNode();
  const frame = shadow.host ? shadow.host.closest("[data-testid=stElementContainer]") : null;
  if (frame) frame.style.setProperty("opacity", "1", "important");
  draw();
  pump();
  return () => {
    clearTimeout(desk.again);
    clearTimeout(desk.telling);
    clearTimeout(desk.seeking);
    clearTimeout(desk.hushing);
    for (const kind of ["keydown", "keypress", "keyup"]) window.removeEventListener(kind, desk.listening, true);
  };
}
