// Cuts of one conversation by several strategies: strips over all of it, and the talk with a bar per strategy beside each message.
// Texts go in by textContent only. A click on a cut brings its first message into view; the strips follow what is being read.
const number = (value) => value.toLocaleString("en").replace(/,/g, "\u202f");

const disc = (at) => {
  const node = make("span", "disc l" + (at % 6), at + 1);
  node.setAttribute("aria-hidden", "true");
  return node;
};

const told = (cut, words) => {
  const count = cut.last - cut.first + 1;
  const parts = [`${words.cut} ${cut.n} ${words.of} ${cut.of}`, `${number(cut.tokens)} ${words.tokens}`, `${number(count)} ${count === 1 ? words.message : words.messages}`];
  if (cut.overlap) parts.push(`${number(cut.overlap)} ${words.tokens} ${words.shared}`);
  if (cut.split) parts.push(`${words.split} ${cut.split[0]} ${words.of} ${cut.split[1]}`);
  else if (cut.oversize) parts.push(words.oversize);
  if (cut.reason) parts.push(cut.reason);
  return parts.join(" · ");
};

const summed = (lane, words) => {
  if (lane.cuts.length < 2) return words.whole;
  const sizes = lane.cuts.map((cut) => cut.tokens), least = Math.min(...sizes), most = Math.max(...sizes);
  return `${number(sizes.length)} ${words.cuts} · ${number(least)}–${number(most)} ${words.tokensEach}`;
};

const strip = (lane, at, words, tell, go) => {
  const node = make("div", "lane l" + (at % 6)), name = make("div", "name"), title = make("div"), track = make("div", "track");
  title.append(make("b", "", lane.label), make("small", lane.fell ? "fell" : "", lane.fell ? words.fell : summed(lane, words)));
  name.append(disc(at), title);
  name.title = lane.about;
  const blocks = lane.cuts.map((cut) => {
    const block = make("button", "block" + (cut.oversize ? " oversize" : ""));
    block.style.left = cut.left * 100 + "%";
    block.style.width = `calc(${cut.width * 100}% - 2px)`;
    if (cut.overlap) {
      const hatch = make("i");
      hatch.style.width = Math.min(100, (cut.overlap / Math.max(cut.tokens, 1)) * 100) + "%";
      block.append(hatch);
    }
    if (cut.width > 0.03) block.append(make("span", "", cut.n));
    const says = told(cut, words);
    block.setAttribute("aria-label", `${lane.label}: ${says}`);
    block.onmouseenter = block.onfocus = () => { tell.textContent = `${lane.label}: ${says}`; };
    block.onclick = () => go(cut.first);
    track.append(block);
    return block;
  });
  node.append(name, track);
  return [node, blocks];
};

// Which cuts of a lane hold a message: mostly one, two where they overlap, several where the message itself was divided.
const holding = (lane, count) => {
  const found = Array.from({ length: count }, () => []);
  lane.cuts.forEach((cut, at) => { for (let i = cut.first; i <= Math.min(cut.last, count - 1); i++) found[i].push(at); });
  return found;
};

const bars = (lanes, held, index) => {
  const node = make("div", "bars");
  node.setAttribute("aria-hidden", "true");
  lanes.forEach((lane, at) => {
    const inside = held[at][index], cut = lane.cuts[inside[inside.length - 1]], kinds = ["bar", "l" + (at % 6)];
    if (cut) {
      if (cut.n % 2 === 0) kinds.push("even");
      if (inside.length > 1) kinds.push("both");
      if (cut.oversize) kinds.push("big");
      if (cut.first === index) kinds.push("first");
      if (cut.last === index) kinds.push("last");
    }
    node.append(make("span", kinds.join(" ")));
  });
  return node;
};

// The bar of a cut goes on through the seam of another strategy.
const through = (lane, at, inside) => {
  const cut = lane.cuts[inside[inside.length - 1]], kinds = ["bar", "l" + (at % 6)];
  if (cut && cut.n % 2 === 0) kinds.push("even");
  if (inside.length > 1) kinds.push("both");
  return make("span", kinds.join(" "));
};

const seam = (lanes, held, index, words) => {
  const begin = lanes.flatMap((lane, at) => lane.cuts.filter((cut) => cut.first === index && cut.n > 1 && (!cut.split || cut.split[0] === 1)).map((cut) => [lane, at, cut]));
  if (!begin.length) return null;
  const node = make("div", "seam"), space = make("div", "bars"), pills = make("div", "pills");
  space.setAttribute("aria-hidden", "true");
  lanes.forEach((lane, at) => {
    const shared = index ? held[at][index].filter((cut) => held[at][index - 1].includes(cut)) : [];
    const bar = through(lane, at, shared);
    if (!shared.length) bar.style.visibility = "hidden";
    space.append(bar);
  });
  for (const [lane, at, cut] of begin) {
    const pill = make("span", "pill l" + (at % 6));
    pill.append(disc(at), make("b", "", `${lane.label} ${cut.n} ${words.of} ${cut.of}`));
    if (cut.reason) pill.append(make("em", "", cut.reason));
    pills.append(pill);
  }
  node.append(space, pills);
  return node;
};

const row = (message, index, lanes, held) => {
  const node = make("div", "row" + (message.person ? "" : " other")), who = make("div", "who", message.who);
  if (message.at) who.append(make("small", "", message.at));
  node.append(bars(lanes, held, index), who, make("div", "said", message.text), make("div", "num", number(message.tokens)));
  return node;
};

export default function (component) {
  const { data, parentElement: root } = component;
  const { lanes, messages, words } = data;
  const map = root.querySelector(".map"), talk = root.querySelector(".talk"), tell = make("div", "tell", words.hint);
  const held = lanes.map((lane) => holding(lane, messages.length));
  map.setAttribute("aria-label", words.about);
  talk.setAttribute("aria-label", words.talk);
  tell.setAttribute("aria-live", "polite");
  const rows = messages.map((message, index) => row(message, index, lanes, held));
  const go = (index) => {
    const target = rows[Math.min(index, rows.length - 1)];
    talk.scrollTo({ top: target.offsetTop - 70, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    rows.forEach((one) => one.classList.toggle("on", one === target));
  };
  const strips = lanes.map((lane, at) => strip(lane, at, words, tell, go));
  map.replaceChildren(...strips.map(([node]) => node), tell);

  const top = make("div", "top"), where = make("span", "where");
  lanes.forEach((_, at) => top.append(disc(at)));
  top.append(where);
  const drawn = [top];
  messages.forEach((_, index) => {
    const line = seam(lanes, held, index, words);
    if (line) drawn.push(line);
    drawn.push(rows[index]);
  });
  talk.replaceChildren(...drawn);

  const follow = () => {
    const at = rows.findIndex((one) => one.offsetTop + one.offsetHeight > talk.scrollTop + 44), index = Math.max(at, 0);
    const here = lanes.map((lane, lane_) => { const inside = held[lane_][index]; return inside[inside.length - 1]; });
    where.textContent = lanes.map((lane, lane_) => lane.cuts[here[lane_]] && `${lane.label} ${lane.cuts[here[lane_]].n} ${words.of} ${lane.cuts.length}`).filter(Boolean).join(" · ");
    strips.forEach(([, blocks], lane_) => blocks.forEach((block, cut) => block.classList.toggle("on", cut === here[lane_])));
  };
  talk.onscroll = () => requestAnimationFrame(follow);
  requestAnimationFrame(follow);
  return () => { talk.onscroll = null; };
}
