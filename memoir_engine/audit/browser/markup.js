// The little Markdown that sources and answers have, drawn without its signs: front matter, headings, lists, tables, bold, code with its
// fences, and of a link its words.
// Text is only ever set as text: `write(node, start, end)` adds text[start:end] and may mark it or turn parts of it into buttons.
const FRONT = /^---\n(?=[\w -]+:)(?:(?!---(?:\n|$))[^\n]*\n)+---(?:\n|$)/, FIELD = /^[\w -]+:\s*/;
const ROW = /^\s*\|.*\|\s*$/, RULE = /^\s*\|(?:\s*:?-{3,}:?\s*\|)+\s*$/;
const HEADING = /^#{1,6}\s+(?=\S)/, ITEM = /^\s*[-*+]\s+(?=\S)/;
const FENCE = /^\s*(?:`{3,}|~{3,})([^`]*)$/;
const INLINE = /\*\*(?=\S)([^*\n]+?)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*?[^\s*])\*(?![\w*])|`([^`\n]+)`|(?<!!)\[([^\[\]\n]+)\]\([^()\s]*\)/g;

const linesOf = (text, from) => {
  const lines = [];
  for (let at = from; at <= text.length; ) {
    const found = text.indexOf("\n", at), end = found < 0 ? text.length : found;
    lines.push({ start: at, end, text: text.slice(at, end) });
    at = end + 1;
  }
  return lines;
};

const inline = (node, text, start, end, write) => {
  let at = start;
  for (const found of text.slice(start, end).matchAll(INLINE)) {
    const [whole, strong, slanted, code, link] = found, sign = strong === undefined ? 1 : 2, begins = start + found.index;
    const inner = make(strong !== undefined ? "strong" : slanted !== undefined ? "em" : code !== undefined ? "code" : "span");
    write(node, at, begins);
    write(inner, begins + sign, begins + sign + (strong ?? slanted ?? code ?? link).length);
    node.append(inner);
    at = begins + whole.length;
  }
  write(node, at, end);
  return node;
};

const cellsOf = (line) => {
  const cells = [], bars = [...line.text.matchAll(/(?<!\\)\|/g)].map((bar) => bar.index);
  bars.slice(0, -1).forEach((bar, n) => {
    const cell = line.text.slice(bar + 1, bars[n + 1]), lead = cell.length - cell.trimStart().length;
    cells.push([line.start + bar + 1 + lead, line.start + bar + 1 + lead + cell.trim().length]);
  });
  return cells;
};

// A chunk may begin or end within a table, so one row alone is a table, too.
const isRow = (line) => ROW.test(line.text) && !RULE.test(line.text) && cellsOf(line).length > 1;

// What is wider than its place scrolls, by keys too, and fades where it goes on.
const hinted = (box) => {
  const tell = () => {
    box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
    box.scrollWidth > box.clientWidth + 2 ? (box.tabIndex = 0) : box.removeAttribute("tabindex");
  };
  box.addEventListener("scroll", tell, { passive: true });
  new ResizeObserver(tell).observe(box);
};

const tableOf = (rows, text, write) => {
  const box = make("div", "tablebox"), table = make("table"), hasHead = rows.length > 1 && RULE.test(rows[1].text);
  rows.forEach((row, n) => {
    if (RULE.test(row.text)) return;
    const line = make("tr");
    for (const [start, end] of cellsOf(row)) {
      const cell = make(hasHead && n === 0 && start < end ? "th" : "td");
      if (cell.tagName === "TH") cell.scope = "col";
      line.append(inline(cell, text, start, end, write));
    }
    table.append(line);
  });
  box.append(table);
  hinted(box);
  return box;
};

const frontMatter = (text, length, write) => {
  const node = make("div", "front");
  let row = null, isFilled = false;
  for (const line of linesOf(text.slice(0, length).replace(/\n---\n?$/, ""), 4)) {
    const field = FIELD.exec(line.text), item = /^\s*(?:-\s+)?(?=\S)/.exec(line.text);
    if (field) {
      const name = make("b");
      write(name, line.start, line.start + line.text.indexOf(":"));
      [row, isFilled] = [make("div"), field[0].length < line.text.length];
      row.append(name, " ");
      write(row, line.start + field[0].length, line.end);
    } else if (row && item) {
      if (isFilled) row.append(", ");
      isFilled = true;
      write(row, line.start + item[0].length, line.end);
    }
    if (row && isFilled) node.append(row);
  }
  return node;
};

// The kind of each line by the fences around it: "code", "fence", or null. A chunk may begin or end within code, so a fence that names
// a language, has a blank line before it or another bare fence behind it opens; else it closes what began in the chunk before.
const fenced = (lines) => {
  const kinds = lines.map((line) => (FENCE.test(line.text) ? "fence" : null));
  const fences = kinds.flatMap((kind, at) => (kind ? [at] : [])), isNamed = (at) => FENCE.exec(lines[at].text)[1].trim() !== "";
  const fill = (from, to) => kinds.fill("code", from, to);
  let open = -1;
  fences.forEach((at, n) => {
    const next = fences[n + 1];
    if (open >= 0 && isNamed(at)) kinds[at] = "code";
    else if (open >= 0) { fill(open + 1, at); open = -1; }
    else if (isNamed(at) || at === 0 || !lines[at - 1].text.trim() || (next !== undefined && !isNamed(next))) open = at;
    else if (n === 0) fill(0, at);
  });
  if (open >= 0) fill(open + 1, lines.length);
  return kinds;
};

const codeOf = (start, end, write) => {
  const box = make("pre"), code = make("code");
  write(code, start, end);
  box.append(code);
  return box;
};

// Draws the text into a node, block by block.
const formatted = (node, text, write) => {
  const front = FRONT.exec(text), lines = linesOf(text, front ? front[0].length : 0), parts = [];
  if (front) node.append(frontMatter(text, front[0].length, write));
  const kindOf = (line) => (ROW.test(line.text) ? "row" : HEADING.test(line.text) ? "title" : ITEM.test(line.text) ? "item" : "prose");
  const codes = fenced(lines);
  for (const [at, line] of lines.entries()) {
    const kind = codes[at] ?? kindOf(line), last = parts[parts.length - 1];
    if (last && last.kind === kind && (kind === "row" || kind === "prose" || kind === "code")) last.lines.push(line);
    else parts.push({ kind, lines: [line] });
  }
  for (const { kind, lines: mine } of parts) {
    if (kind === "fence") continue;
    if (kind === "code") { node.append(codeOf(mine[0].start, mine[mine.length - 1].end, write)); continue; }
    if (kind === "row" && (mine.length > 1 || isRow(mine[0]))) { node.append(tableOf(mine, text, write)); continue; }
    if (kind === "title" || kind === "item") {
      const [line] = mine, sign = (kind === "title" ? HEADING : ITEM).exec(line.text)[0].length;
      node.append(inline(make("div", kind), text, line.start + sign, line.end, write));
      continue;
    }
    while (mine.length && !mine[0].text.trim()) mine.shift();
    while (mine.length && !mine[mine.length - 1].text.trim()) mine.pop();
    if (mine.length) node.append(inline(make("div", "prose"), text, mine[0].start, mine[mine.length - 1].end, write));
  }
  return node;
};
