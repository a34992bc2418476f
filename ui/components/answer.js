// The answer as plain text; [n] of a known citation becomes a button that opens its span.
// What it says is its label: 1, 2, … in the order of the answer.
export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const box = root.querySelector(".answer"), known = new Map(data.cites.map(([number, title, label]) => [number, { title, label }]));
  const parts = data.text.split(/(\[\d+\])/).map((part) => {
    const number = /^\[\d+\]$/.test(part) ? +part.slice(1, -1) : 0;
    if (!known.has(number)) return part;
    const node = document.createElement("button");
    node.type = "button";
    const { title, label } = known.get(number);
    node.textContent = label;
    node.title = title;
    node.setAttribute("aria-label", `${label}: ${title}`);
    node.onclick = () => setTriggerValue("cited", number);
    return node;
  });
  box.replaceChildren(...parts);
}
