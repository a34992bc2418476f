// A source's text as blocks, with spans marked and the first of them brought into view.
const seen = new WeakMap();
const TAGS = { removed: "del", added: "ins" };

// Marks are [start, end, kind] in code points, as Python counts them; JavaScript counts UTF-16 units.
const marked = (text, marks) => {
  const node = make("div", "text");
  if (!marks.length) { node.textContent = text; return node; }
  const points = Array.from(text);
  let at = 0;
  for (const [start, end, kind] of marks) {
    if (start > at) node.append(points.slice(at, start).join(""));
    if (end > Math.max(at, start)) node.append(make(TAGS[kind] || "mark", kind, points.slice(Math.max(at, start), end).join("")));
    at = Math.max(at, end);
  }
  node.append(points.slice(at).join(""));
  return node;
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const sheet = root.querySelector(".sheet");
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
