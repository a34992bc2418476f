// What every component builds its page of: an element with its class and its text. Text is set as text, never as markup.
// A mark in it that turns the direction of writing ends with it: what stands beside it is read as it is written.
const TURNS = /[\u202a-\u202e\u2066-\u2069]/;

const piece = (text) => (TURNS.test(text) ? make("bdi", "", text) : text);

const make = (tag, name, text) => {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined && text !== null) node.textContent = text;
  if (tag === "button") node.type = "button";
  if (TURNS.test(text)) node.style.unicodeBidi = "isolate";
  return node;
};

