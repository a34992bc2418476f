// Facts over time. Every bar is a button; arrows walk along a lane and from lane to lane; Enter or a click chooses.
const memory = new WeakMap();
const FIRST = 40, ROW = 34, GAP = 10, DAY = 86400;

// Marks of time at whole years, months or days: about six of them.
const ticks = (begin, end, language) => {
  const months = (end - begin) / DAY / 30.4, found = [], at = new Date(begin * 1000);
  if (months < 2) {
    const step = Math.max(1, Math.ceil((end - begin) / DAY / 6));
    at.setUTCHours(0, 0, 0, 0);
    for (at.setUTCDate(at.getUTCDate() + 1); at / 1000 < end; at.setUTCDate(at.getUTCDate() + step)) found.push(new Date(at));
    return found.map((day) => [day / 1000, day.toLocaleDateString(language, { day: "numeric", month: "short", timeZone: "UTC" })]);
  }
  const step = [1, 2, 3, 6, 12, 24, 60, 120].find((each) => months / each <= 7) || 240;
  at.setUTCDate(1);
  at.setUTCHours(0, 0, 0, 0);
  const first = at.getUTCFullYear() * 12 + at.getUTCMonth();
  for (let month = Math.ceil((first + 1) / step) * step; ; month += step) {
    const day = new Date(Date.UTC(Math.floor(month / 12), month % 12, 1));
    if (day / 1000 >= end) break;
    found.push(day);
  }
  const format = step >= 12 ? { year: "numeric" } : { month: "short", year: "numeric" };
  return found.map((day) => [day / 1000, day.toLocaleDateString(language, { ...format, timeZone: "UTC" })]);
};

const place = (data, when) => ((when - data.begin) / (data.end - data.begin)) * 100;

// What is to come of a bar that expires: from now to its end, in hatching.
const futureOf = (bar, data) => {
  const node = make("i", "future"), end = Math.min(bar.end, data.end);
  node.style.left = `${Math.max(0, Math.min(1, (data.now - bar.begin) / (end - bar.begin))) * 100}%`;
  return node;
};

const barOf = (bar, data, doing) => {
  const left = place(data, bar.begin), width = Math.max(place(data, Math.min(bar.end, data.end)) - left, 0.8);
  const selected = data.selected.includes(bar.id);
  const node = make("button", `bar ${bar.state}${bar.open ? " open" : ""}${bar.id === data.chosen ? " chosen" : ""}${selected ? " selected" : ""}`);
  node.style.left = left + "%";
  node.style.width = `calc(${width}% - 2px)`;
  node.style.top = bar.row * ROW + "px";
  node.title = `${bar.text}\n${bar.told}`;
  node.setAttribute("aria-label", `${bar.text}. ${bar.told}${selected ? `, ${data.words.selected}` : ""}`);
  node.setAttribute("aria-pressed", String(bar.id === data.chosen));
  node.dataset.id = bar.id;
  node.append(make("span", "text", bar.text));
  if (bar.expires) node.prepend(futureOf(bar, data));
  if (bar.after.length) node.prepend(make("i", "arrow"));
  if (width < 2.4) node.prepend(make("i", "reach")); // room for a finger
  if (selected) node.append(make("i", "tick-mark", "✓"));
  node.onclick = (event) => (data.selects && (event.ctrlKey || event.metaKey || event.shiftKey) ? doing.turn(bar.id) : doing.choose(bar.id));
  return node;
};

// What does not fit into its bar stands beside it: to the right where there is room, else to the left.
const fit = (track) => {
  const wide = track.clientWidth;
  const bars = [...track.querySelectorAll(".bar")];
  for (const bar of bars) {
    const text = bar.querySelector(".text"), left = bar.offsetLeft, right = left + bar.offsetWidth;
    bar.classList.remove("after", "before");
    if (text.scrollWidth <= text.clientWidth + 1 || bar.offsetWidth > 64) continue;
    const row = bars.filter((other) => other !== bar && other.offsetTop === bar.offsetTop);
    const next = Math.min(wide, ...row.map((other) => other.offsetLeft).filter((at) => at >= right));
    const last = Math.max(0, ...row.map((other) => other.offsetLeft + other.offsetWidth).filter((at) => at <= left));
    const after = next - right, before = left - last, isAfter = after >= before || after > 220;
    if (Math.max(after, before) < 44) continue;
    bar.classList.add(isAfter ? "after" : "before");
    text.style.setProperty("--room", (isAfter ? after : before) - 14 + "px");
  }
};

// Marks of time that would touch the one before, or stand out of the picture, are left out; the first one begins with it.
const thin = (track) => {
  const today = track.querySelector(".today");
  const stops = today ? today.getBoundingClientRect() : null;
  const margin = track.offsetLeft; // room beside the track, where the names of the lanes stand
  let last = -100;
  for (const mark of track.querySelectorAll(".tick")) {
    mark.hidden = false;
    const half = mark.offsetWidth / 2, left = Math.max(mark.offsetLeft - half, -margin);
    mark.style.transform = `translateX(${left - mark.offsetLeft}px)`;
    mark.hidden = left < last + 10 || mark.offsetLeft + half > track.clientWidth + 4;
    const box = mark.getBoundingClientRect();
    if (stops && box.right > stops.left - 8 && box.left < stops.right + 8) mark.hidden = true; // today is named before a month is
    if (!mark.hidden) last = left + 2 * half;
  }
};

const settle = (box) => {
  for (const track of box.querySelectorAll(".track")) { fit(track); thin(track); }
};

const laneOf = (lane, data, doing) => {
  const node = make("div", `lane tone-${lane.tone}`), label = make("div", "label"), track = make("div", "track");
  const name = make("span", "", lane.about);
  name.title = lane.about;
  label.append(make("i", "dot"), name);
  track.setAttribute("role", "group");
  track.setAttribute("aria-label", data.words.lane.replace("{about}", lane.about).replace("{subject}", lane.subject));
  track.style.height = lane.rows * ROW + "px";
  for (const bar of lane.bars) track.append(barOf(bar, data, doing));
  node.append(label, track);
  return node;
};

const axis = (data) => {
  const node = make("div", "lane axis"), track = make("div", "track");
  for (const [when, text] of ticks(data.begin, data.end, data.language)) {
    const mark = make("span", "tick", text);
    mark.style.left = place(data, when) + "%";
    track.append(mark);
  }
  const now = make("b", "today", data.today), at = Math.min(100, place(data, data.now));
  now.style.left = at + "%";
  now.classList.toggle("last", at > 92);
  track.append(now);
  node.append(make("div", "label"), track);
  return node;
};

const lines = (data) => {
  const node = make("div", "lines");
  node.setAttribute("aria-hidden", "true");
  for (const [when] of ticks(data.begin, data.end, data.language)) {
    const line = make("i");
    line.style.left = place(data, when) + "%";
    node.append(line);
  }
  const now = make("i", "now");
  now.style.left = Math.min(100, place(data, data.now)) + "%";
  node.append(now);
  return node;
};

const walk = (event, box, data, doing) => {
  const bars = [...box.querySelectorAll(".bar")], at = bars.indexOf(event.target);
  if (at >= 0 && event.key === " " && data.selects) { event.preventDefault(); if (!event.repeat) doing.turn(event.target.dataset.id); return; }
  if (at < 0 || !["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp", "Home", "End"].includes(event.key)) return;
  event.preventDefault();
  const tracks = [...box.querySelectorAll(".lane:not(.axis) .track")], lane = tracks.indexOf(event.target.parentElement);
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], jump = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const nearest = (track) => [...track.children].reduce((best, each) =>
    Math.abs(each.offsetLeft - event.target.offsetLeft) < Math.abs(best.offsetLeft - event.target.offsetLeft) ? each : best);
  let to = event.key === "Home" ? bars[0] : event.key === "End" ? bars[bars.length - 1] : null;
  if (step) to = bars[at + step];
  if (jump && tracks[lane + jump]) to = nearest(tracks[lane + jump]);
  if (to) { event.target.tabIndex = -1; to.tabIndex = 0; to.focus(); }
};

const draw = (box, data, mine, doing) => {
  const held = box.getRootNode().activeElement?.dataset?.id;
  const body = make("div", "body"), shown = mine.all ? data.lanes : data.lanes.slice(0, FIRST);
  body.append(axis(data));
  let subject = null;
  for (const lane of shown) {
    if (lane.subject !== subject) body.append(make("div", "subject", lane.subject));
    subject = lane.subject;
    body.append(laneOf(lane, data, doing));
  }
  body.append(lines(data));
  box.replaceChildren(body);
  if (shown.length < data.lanes.length) {
    const more = make("button", "more", data.words.more.replace("{count}", data.lanes.length - shown.length));
    more.onclick = () => { mine.all = true; draw(box, data, mine, doing); };
    box.append(more);
  }
  const bars = [...box.querySelectorAll(".bar")];
  bars.forEach((bar) => { bar.tabIndex = -1; });
  const first = bars.find((bar) => bar.dataset.id === (held || data.chosen)) || bars[0];
  if (first) first.tabIndex = 0;
  if (held && first && first.dataset.id === held) first.focus({ preventScroll: true });
  body.onkeydown = (event) => walk(event, box, data, doing);
  body.onkeyup = (event) => { if (event.key === " " && data.selects) event.preventDefault(); }; // else it would click, too
  settle(box);
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const box = root.querySelector(".timeline"), stamp = JSON.stringify(data);
  const known = memory.get(root);
  if (known && known.stamp === stamp) return;
  const mine = { stamp, all: known ? known.all : false, count: known ? known.count : 0 };
  memory.set(root, mine);
  box.setAttribute("aria-label", data.words.label);
  const send = (name) => (id) => setTriggerValue(name, { id, n: ++mine.count });
  draw(box, data, mine, { choose: send("chosen"), turn: send("turned") });
  if (known?.watch) known.watch.disconnect();
  mine.watch = new ResizeObserver(() => settle(box));
  mine.watch.observe(box);
}
