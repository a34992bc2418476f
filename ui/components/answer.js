// The answer; the number of a known citation becomes a button that opens its span, and so does each source below it.
// What a button says is its label: 1, 2, … in the order of the answer. A long answer is folded until somebody wants all of it.
const kept = new WeakMap();
const SLACK = 60;  // px: for less it is not worth a button

const citation = ({ number, label, title }, open) => {
  const node = make("button", "cite", label);
  node.title = title;
  node.setAttribute("aria-label", `${label}: ${title}`);
  node.onclick = () => open(number);
  return node;
};

const sourceRow = (cite, open) => {
  const node = make("button", "source"), told = make("span", "told");
  told.append(make("b", "", cite.source), make("small", "", cite.note));
  node.append(make("span", "cite", cite.label), told);
  if (cite.approved) node.append(make("span", "approved", cite.approved));
  node.title = cite.title;
  node.setAttribute("aria-label", [cite.label, cite.source, cite.note, cite.approved].filter((part) => part).join(", "));
  node.onclick = () => open(cite.number);
  return node;
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const mine = kept.get(root) || { open: null, sized: null };
  kept.set(root, mine);
  const text = root.querySelector(".text"), all = root.querySelector(".all"), sources = root.querySelector(".sources");
  const known = new Map(data.cites.map((cite) => [cite.number, cite])), open = (number) => setTriggerValue("cited", number);

  const fold = () => {
    text.classList.remove("folded");
    const most = parseFloat(getComputedStyle(text).getPropertyValue("--folded"));
    const isLong = data.folds && text.scrollHeight > most + SLACK, isOpen = mine.open === data.text;
    text.classList.toggle("folded", isLong && !isOpen);
    all.hidden = !isLong;
    all.textContent = isOpen ? data.words.less : data.words.all;
    all.setAttribute("aria-expanded", String(isOpen));
  };
  const turn = (isOpen) => { mine.open = isOpen ? data.text : null; fold(); };
  const reveal = (node) => {  // a citation in the folded part that the keyboard came to
    const isBelow = node.getBoundingClientRect().bottom > text.getBoundingClientRect().bottom;
    if (!text.classList.contains("folded") || !(isBelow || text.scrollTop)) return;
    text.scrollTop = 0;
    turn(true);
  };
  const button = (number) => {
    if (!known.has(number)) return null;
    const node = citation(known.get(number), open);
    node.onfocus = () => reveal(node);
    return node;
  };

  text.replaceChildren();
  formatted(text, data.text, (node, start, end) => node.append(...withCitations(data.text.slice(start, end), button)));
  sources.replaceChildren(...data.cites.filter((cite) => cite.source).map((cite) => sourceRow(cite, open)));
  sources.hidden = !sources.childElementCount;
  all.onclick = () => turn(mine.open !== data.text);
  fold();
  if (mine.sized) mine.sized.disconnect();
  mine.sized = new ResizeObserver(fold);
  mine.sized.observe(root.querySelector(".answer"));
  return () => mine.sized.disconnect();
}
