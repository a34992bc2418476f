// A source's text as blocks, with spans marked and the first of them brought into view.
const seen = new WeakMap();
const TAGS = { removed: "del", added: "ins" };

// Marks are [start, end, kind] in code points, as Python counts them; JavaScript counts UTF-16 units.
const inUnits = (text, marks) => {
  if (!/[\ud800-\udbff]/.test(text)) return marks;
  const units = [0];
  for (const point of text) units.push(units[units.length - 1] + point.length);
  return marks.map(([start, end, kind]) => [units[start], units[end], kind]);
};

const marking = (text, marks) => (node, start, end) => {
  let at = start;
  for (const [from, to, kind] of marks) {
    const first = Math.max(from, at), last = Math.min(to, end);
    if (first >= last) continue;
    node.append(piece(text.slice(at, first)), make(TAGS[kind] || "mark", kind, text.slice(first, last)));
    at = last;
  }
  node.append(piece(text.slice(at, end)));
};

const marked = (text, marks) => formatted(make("div", "text"), text, marking(text, inUnits(text, marks)));

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const sheet = root.querySelector(".sheet");
  sheet.classList.toggle("bare", data.bare);
  sheet.style.height = data.height ? data.height + "px" : "auto";
  const stamp = JSON.stringify(data);
  if (seen.get(root) === stamp) return;
  seen.set(root, stamp);
  sheet.replaceChildren(...data.blocks.map((block) => {
    const node = make("div", "block " + block.kind);
    if (block.label || block.side) {
      const tag = make("div", "tag");
      if (block.label) tag.append(make("b", "", block.label));
      if (block.link) {
        const open = make("button", "", block.link);
        open.type = "button";
        open.title = block.link;
        open.onclick = () => setTriggerValue("picked", block.id);
        tag.append(open);
      }
      tag.append(make("small", "", block.side));
      node.append(tag);
    }
    node.append(marked(block.text, block.marks));
    return node;
  }));
  requestAnimationFrame(() => {
    const target = sheet.querySelector("mark.quote") || sheet.querySelector("mark") || sheet.querySelector(".block.focus");
    if (!target || !data.height) return;
    const top = target.getBoundingClientRect().top - sheet.getBoundingClientRect().top + sheet.scrollTop;
    sheet.scrollTop = Math.max(0, top - sheet.clientHeight / 4);
  });
}
