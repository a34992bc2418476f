// Two runs' choices side by side: per option a disc for each of the two, the rank in it, a dash where it was not chosen.
const disc = (rank, made, side, words) => {
  const node = make("span", "disc " + side + (rank === null ? " none" : ""), rank === null ? (made ? "–" : "") : rank);
  node.setAttribute("aria-label", words[side] + ": " + (rank === null ? (made ? words.passed : words.absent) : words.chosen + " " + rank));
  return node;
};

const row = (option, made, words) => {
  const node = make("div", "op" + (option.differs ? " differs" : "") + (option.one === null && option.other === null ? " passed" : ""));
  const name = make("span", "name", option.name);
  name.title = option.name;
  node.append(disc(option.one, made[0], "one", words), disc(option.other, made[1], "other", words), name);
  if (option.differs) node.append(make("span", "mark", option.one === null ? words.onlyOther : words.onlyOne));
  return node;
};

const card = (data, words) => {
  const node = make("div", "card" + (data.differs ? " differs" : "")), top = make("div", "top");
  const name = make("span", "name", data.name);
  name.title = data.title;
  top.append(name);
  if (!data.made[0] || !data.made[1]) top.append(make("span", "mark", data.made[0] ? words.onlyOne : words.onlyOther));
  node.append(top, ...data.options.map((option) => row(option, data.made, words)));
  if (data.rest > 0) node.append(make("div", "rest", words.more.replace("{count}", data.rest)));
  return node;
};

export default function (component) {
  const { data, parentElement: root } = component;
  const box = root.querySelector(".beside");
  box.setAttribute("aria-label", data.words.about);
  const key = make("div", "key");
  for (const side of ["one", "other"]) {
    const entry = make("span", "entry");
    entry.append(make("span", "disc " + side, "1"), make("span", "", data.words[side]));
    key.append(entry);
  }
  const columns = make("div", "cols");
  for (const column of data.columns) {
    const node = make("div", "col");
    node.append(make("div", "head", column.title), ...column.cards.map((each) => card(each, data.words)));
    columns.append(node);
  }
  box.replaceChildren(key, columns);
}
