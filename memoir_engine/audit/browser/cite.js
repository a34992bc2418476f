// An answer's text in pieces: what it says, and its citations as buttons: [1], [1, 3], [2-4], 【1】.
const MARK = /([\[【]\s*\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*\s*[\]】])/;
const MOST_IN_RANGE = 20;

const cited = (mark) => mark.slice(1, -1).split(/[,;]/).flatMap((part) => {
  const [first, last = first] = part.split(/[–-]/).map((number) => +number);
  return Array.from({ length: Math.min(Math.max(last - first + 1, 1), MOST_IN_RANGE) }, (_, at) => first + at);
});

const withCitations = (text, button) => text.split(MARK).flatMap((part, at) => {
  if (at % 2 === 0) return [piece(part)];
  const numbers = cited(part), buttons = numbers.map(button);
  return buttons.some((node) => node) ? buttons.map((node, n) => node || `[${numbers[n]}]`) : [part];
});
