// The answer as plain text; the number of a known citation becomes a button that opens its span.
// What it says is its label: 1, 2, … in the order of the answer.
export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const box = root.querySelector(".answer"), known = new Map(data.cites.map(([number, title, label]) => [number, { title, label }]));
  box.replaceChildren(...withCitations(data.text, (number) => {
    if (!known.has(number)) return null;
    const { title, label } = known.get(number);
    const node = make("button", "", label);
    node.title = title;
    node.setAttribute("aria-label", `${label}: ${title}`);
    node.onclick = () => setTriggerValue("cited", number);
    return node;
  }));
}
