// The answer as plain text; [n] of a known citation becomes a button that opens its span.
export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component;
  const box = root.querySelector(".answer"), known = new Map(data.cites);
  const parts = data.text.split(/(\[\d+\])/).map((part) => {
    const number = /^\[\d+\]$/.test(part) ? +part.slice(1, -1) : 0;
    if (!known.has(number)) return part;
    const node = document.createElement("button");
    node.type = "button";
    node.textContent = number;
    node.title = known.get(number);
    node.setAttribute("aria-label", known.get(number));
    node.onclick = () => setTriggerValue("cited", number);
    return node;
  });
  box.replaceChildren(...parts);
}
