// A conversation as it was said: who, when, what; one message brought into view. All text is text, never markup.
const seen = new WeakMap();
const ends = new WeakMap();
const LONG = 1400;
const MOST_SHOWN = 999;

const numbered = (message, words, open) => withCitations(message.text, (number) => {
  if (number > MOST_SHOWN) return null;  // a year
  const node = make("button", "cite", number);
  node.title = words.cited;
  node.setAttribute("aria-label", `${number}: ${words.cited}`);
  node.onclick = () => open([message.n, number]);
  return node;
});

// What a tool found, folded: its records are for those who look closer.
const found = (result) => {
  const fold = make("details", "found"), list = make("ul");
  for (const line of result.lines) {
    const row = make("li");
    if (line.number) row.append(make("b", "", `[${line.number}] `));
    row.append(make("span", "", line.text));
    if (line.where) row.append(make("small", "", line.where));
    list.append(row);
  }
  fold.append(make("summary", "", result.says), list);
  return fold;
};

const said = (message, words, open) => {
  const parts = [];
  if (message.result) parts.push(found(message.result));
  else if (message.text) {
    const text = make("div", "text", message.cites ? "" : message.text);
    if (message.cites) text.append(...numbered(message, words, open));
    parts.push(text);
    if (message.text.length > LONG) {
      text.classList.add("long");
      const unfold = make("button", "unfold", words.more);
      unfold.type = "button";
      unfold.onclick = () => { unfold.textContent = text.classList.toggle("long") ? words.more : words.less; };
      parts.push(unfold);
    }
  }
  for (const call of message.calls) {
    const chip = make("span", "call" + (call.failed ? " failed" : ""));
    chip.title = call.args;
    chip.append(make("span", "", call.says), ...(call.failed ? [make("b", "", words.failed)] : []));
    parts.push(chip);
  }
  if (message.other) parts.push(make("span", "call", `${message.other} ${words.part}`));
  return parts;
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const sheet = root.querySelector(".sheet");
  sheet.style.maxHeight = data.height + "px";
  const stamp = JSON.stringify(data);
  if (seen.get(root) === stamp) return;
  const end = data.messages.length ? data.messages[data.messages.length - 1].n : 0;
  const first = ends.get(root) !== end;  // also when a turn was added: what is new comes into view
  ends.set(root, end);
  seen.set(root, stamp);
  let day = "";
  const nodes = [];
  for (const message of data.messages) {
    if (message.day !== day) nodes.push(make("div", "day", (day = message.day)));
    const node = make("div", `message ${message.kind}${message.n === data.target ? " focus" : ""}`);
    node.dataset.n = message.n;
    const body = make("div", "body"), tag = make("div", "tag");
    const open = make("button", "", data.words.details);
    open.type = "button";
    open.setAttribute("aria-label", `${data.words.details} ${message.n}`);
    open.onclick = () => setTriggerValue("picked", message.n);
    tag.append(make("b", "", message.who), make("time", "", message.time), open);
    body.append(tag, ...said(message, data.words, (place) => setTriggerValue("cited", place)));
    const face = make("div", "face", message.face);
    face.setAttribute("aria-hidden", "true");
    node.append(face, body);
    nodes.push(node);
  }
  const at = sheet.scrollTop;
  sheet.replaceChildren(...nodes);
  requestAnimationFrame(() => {
    const target = sheet.querySelector(".message.focus");
    if (!first) { sheet.scrollTop = at; return; }
    if (!target) { sheet.scrollTop = sheet.scrollHeight; return; }
    const top = target.getBoundingClientRect().top - sheet.getBoundingClientRect().top + sheet.scrollTop;
    sheet.scrollTop = Math.max(0, top - sheet.clientHeight / 4);
  });
}
