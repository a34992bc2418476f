// Text with marks in it, for `formatted` of markup.js: `write(node, start, end)` adds text[start:end] with what is marked there.
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
