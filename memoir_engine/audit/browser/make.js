// What every component builds its page of: an element with its class and its text. Text is set as text, never as markup.
const make = (tag, name, text) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined && text !== null) node.textContent = text;
  if (tag === "button") node.type = "button";
  return node;
};

