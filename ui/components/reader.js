// A source's text as blocks, with spans marked and the first of them brought into view.
const seen = new WeakMap();
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
