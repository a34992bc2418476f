// How a fact is drawn: what was said on both sides, what is asked, and what each answer does.
const saidBlock = (one) => {
  const node = make("figure", "said"), words = make("blockquote", "text");
  if (one.before) words.append(make("span", "aside", one.before));
  if (one.quote) words.append(make("mark", "quote", one.quote));
  if (one.behind) words.append(make("span", "aside", one.behind));
  return join(node, make("figcaption", "dim", one.where), words.childNodes.length ? words : null, one.missing ? make("p", "missing", one.missing) : null);
};

const factSide = (side) => {
  const node = make("section", "side");
  join(node, make("span", "dim", side.label), make("p", "content", side.content), make("span", "dim", side.period), ...side.said.map(saidBlock));
  return node;
};

const factEvidence = (item, evidence, words) => {
  const head = make("div", "where"), link = make("a", "", item.source);
  link.href = evidence.link;
  link.target = "_blank";
  link.title = words.openFact;
  join(head, link, item.state !== "unreviewed" ? stateBadge(item.state, words) : null);
  return [head, ...evidence.sides.map(factSide)];
};

const chainRow = (one, words) => {
  const node = make("li", one.outdated ? "link outdated" : "link");
  return join(node, make("span", "content", one.content), make("span", "dim", `${one.outdated ? words.outdated : words.inForce}, ${one.period}`));
};

const factWhy = (item, evidence, words) => {
  const reasons = make("ul", "reasons"), does = make("ul", "does"), chain = make("ol", "chain");
  reasons.append(...item.reasons.map((reason) => make("li", reason.code, reason.says)));
  does.append(...evidence.does.map((says) => make("li", "", says)));
  chain.append(...evidence.chain.map((one) => chainRow(one, words)));
  return [
    join(make("div", "filed"), make("b", "", evidence.asks), does),
    heading(words.whyQueued), reasons,
    ...(evidence.because ? [heading(words.modelSaid), make("p", "", evidence.because)] : []),
    ...(evidence.chain.length ? [heading(words.chain), chain] : []),
  ];
};

// The words as the reviewer set them right, where they differ from those that are asked about; "" where they do not.
const rightWords = (desk, evidence) => {
  const words = (desk.right ?? "").trim();
  return evidence && evidence.right && words !== evidence.right.content ? words : "";
};

// The field of the right words: Enter keeps them for the decision, Escape leaves them as they were.
const rightField = (desk, evidence, words, redraw) => {
  const label = make("label", "reason right"), field = make("textarea");
  field.rows = 3;
  field.maxLength = 1000;
  field.value = desk.right;
  field.oninput = () => { desk.right = field.value; };
  field.onkeydown = (event) => {
    event.stopPropagation();
    if (event.key === "Escape") desk.right = null;
    else if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    field.blur();
    redraw();
  };
  return join(label, join(make("span", "", words.rightWords), make("kbd", "", "E")), field, make("span", "hint", words.rightHint));
};
