// What lies before a reviewer, and what they decided and the memory has not yet confirmed.
// A step gets its id here, once; it stays in the outbox (and in the tab's own storage) until its outcome has come back.
const STORE = "memoir-review", KEPT = 80, BOUNCE_MS = 300, PATIENCE_MS = 8000, AHEAD = 8;

const newId = () => {
  const chance = crypto.getRandomValues(new Uint8Array(7));
  return Date.now().toString(16).padStart(12, "0") + Array.from(chance, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

const kept = (who) => {
  try {
    const found = JSON.parse(sessionStorage.getItem(`${STORE}:${who}`) || "{}");
    const noted = found.noted && typeof found.noted.text === "string" ? found.noted : null;
    return { outbox: Array.isArray(found.outbox) ? found.outbox : [], stack: Array.isArray(found.stack) ? found.stack : [], noted };
  } catch {
    return { outbox: [], stack: [], noted: null };
  }
};

// A reason that is typed and not given yet, with the item it is for.
const noteOf = (desk) => (desk.note ? { key: desk.order[desk.at], text: desk.note } : desk.noted);

const keep = (desk) => {
  try {
    sessionStorage.setItem(`${STORE}:${desk.who}`, JSON.stringify({ outbox: desk.outbox, stack: desk.stack.slice(-KEPT), noted: noteOf(desk) }));
  } catch { /* a browser that keeps nothing: the outbox still lives as long as the page */ }
};

const newDesk = (who) => ({
  who, client: newId(), n: 0, answered: 0, sentAt: 0, stamp: null, items: {}, order: [], at: 0, evidence: {}, marks: {}, cursor: undefined,
  notices: [], last: null, said: "", pressed: {}, shown: null, find: "", asked: "", told: "", restart: false, ...kept(who),
});

// Steps of the other queue may wait in the same outbox; each queue counts and takes back its own.
const isOfQueue = (desk, step) => /^(fact|proposal)-/.test(step.key) === (desk.kind === "facts");
const current = (desk) => desk.order[desk.at];
const markOf = (desk, key) => desk.marks[key];
const isOpen = (desk, key) => !markOf(desk, key) || markOf(desk, key).kind === "back";

// The next that waits for a decision: behind the present one first, then from the beginning.
const nextOpen = (desk, from) => {
  const behind = desk.order.findIndex((key, at) => at > from && isOpen(desk, key));
  return behind >= 0 ? behind : desk.order.findIndex((key) => isOpen(desk, key));
};

const reset = (desk, stamp) => {
  Object.assign(desk, { stamp, items: {}, order: [], at: 0, evidence: {}, marks: {}, cursor: undefined, shown: null });
  for (const step of desk.outbox) desk.marks[step.key] = { id: step.id, kind: step.verdict === "undo" ? "back" : "sending", verdict: step.verdict };
};

const take = (desk, item, front) => {
  if (!desk.items[item.key]) front ? desk.order.unshift(item.key) : desk.order.push(item.key);
  desk.items[item.key] = item;
};

const learnPage = (desk, page) => {
  for (const item of page.items) take(desk, item, false);
  const begins = page.of === null && (desk.restart || typeof desk.cursor !== "string");
  if (begins || page.of === desk.cursor) desk.cursor = page.after;
  if (begins) desk.restart = false;
  else if (desk.cursor === undefined) desk.restart = true; // it answers somebody who was here before
};

// Evidence that cannot be had: the filing is over, somebody else ended it. Where it was decided here, its outcome is still to come.
const drop = (desk, key) => {
  if (markOf(desk, key)) { desk.evidence[key] ??= null; return; }
  const at = desk.order.indexOf(key);
  desk.order = desk.order.filter((other) => other !== key);
  if (at >= 0 && at < desk.at) desk.at--;
  desk.at = Math.max(0, Math.min(desk.at, desk.order.length - 1));
};

// An undone filing may be a filing of its own: the item that took its place is put where the old one stood.
const replace = (desk, key, item) => {
  desk.order = desk.order.map((other) => (other === key ? item.key : other)).filter((other, at, all) => all.indexOf(other) === at);
  desk.items[item.key] = item;
  delete desk.marks[key];
};

// Refused: it is open again, unless it turns out to be decided, in another tab of the same person for one.
const refuse = (desk, step, now, waits) => {
  delete desk.marks[step.key];
  if (!now) return;
  if (now.key !== step.key) replace(desk, step.key, now);
  desk.items[now.key] = now;
  if (waits && now.state !== "unreviewed" && now.state !== "skipped") desk.marks[now.key] = { id: step.id, kind: "overtaken", verdict: step.verdict, says: now.decided };
};

const settle = (desk, told, words, waits) => {
  const step = desk.outbox.find((other) => other.id === told.id);
  if (!step) return;
  desk.outbox = desk.outbox.filter((other) => other !== step);
  const mark = desk.marks[step.key], latest = mark && mark.id === step.id, fine = told.outcome === "done" || told.outcome === "again";
  const name = desk.items[step.key] ? desk.items[step.key].name : step.name || "";
  if (!fine) {
    desk.stack = desk.stack.filter((other) => other.id !== step.id);
    const late = told.outcome === "overtaken" && `${told.says || words.taken} ${words.notApplied}`;
    desk.notices.push({ id: step.id, kind: told.outcome, key: step.key, text: `${name}: ${late || told.says || words.refused}` });
    if (desk.last && desk.last.id === step.id) desk.last = null;
  }
  if (desk.evidence[step.key] === null) delete desk.evidence[step.key];
  if (!latest) return;
  if (told.outcome === "overtaken") desk.marks[step.key] = { ...mark, kind: "overtaken", says: told.says };
  else if (step.verdict === "undo" && fine) told.now ? replace(desk, step.key, told.now) : delete desk.marks[step.key];
  else if (step.verdict === "undo") desk.marks[step.key] = step.before || mark;
  else if (fine) mark.kind = "done";
  else refuse(desk, step, told.now, waits);
};

const learn = (desk, data) => {
  if (desk.kind !== data.kind) Object.assign(desk, { kind: data.kind, last: null });
  if (desk.stamp !== data.stamp) reset(desk, data.stamp);
  if (data.client === desk.client) desk.answered = Math.max(desk.answered, data.n);
  const begins = desk.order.length === 0;
  if (begins && data.first) take(desk, data.first, true);
  learnPage(desk, data.page);
  for (const [key, evidence] of Object.entries(data.evidence)) evidence ? (desk.evidence[key] = evidence) : drop(desk, key);
  for (const told of data.outcomes) settle(desk, told, data.words, data.state === "unreviewed");
  if (begins && desk.order.length && !isOpen(desk, current(desk))) desk.at = Math.max(0, nextOpen(desk, -1));
  desk.told ||= current(desk) || "";
  keep(desk);
};

const decide = (desk, verdict, more) => {
  const key = current(desk), { name, state: seen } = desk.items[key], step = { id: newId(), key, verdict, name, seen, ...more };
  desk.outbox.push(step);
  desk.stack.push({ id: step.id, key });
  desk.last = { id: step.id, key, verdict, path: step.path, right: !!step.content, name };
  desk.marks[key] = { id: step.id, kind: "sending", verdict, category: step.category, path: step.path, right: !!step.content };
  keep(desk);
  const next = nextOpen(desk, desk.at);
  if (next >= 0) desk.at = next;
};

// What was done last, in words; "" where nothing was, or it was put away.
const lastInWords = (desk, words) => {
  const last = desk.last;
  if (!last) return "";
  if (last.verdict === "undo") return words.takenBack.replace("{name}", last.name || "");
  const did = `${words.verdicts[last.right ? "correct" : last.verdict]}${last.path ? ` ${last.path.join(" › ")}` : ""}`;
  return words.did.replace("{verdict}", did).replace("{name}", last.name || "");
};

// What U takes back: the decision on the item that is shown, where it was made here; else the last that was made here.
const undoable = (desk) => {
  const here = desk.stack.filter((step) => step.key === current(desk) && markOf(desk, step.key) && markOf(desk, step.key).id === step.id);
  return here[here.length - 1] || desk.stack.filter((step) => isOfQueue(desk, step)).pop();
};

const takeBack = (desk) => {
  const step = undoable(desk);
  if (!step) return null;
  desk.stack = desk.stack.filter((other) => other !== step);
  const undo = { id: newId(), key: step.key, verdict: "undo", of: step.id, before: markOf(desk, step.key), name: (desk.items[step.key] || {}).name };
  desk.outbox.push(undo);
  desk.marks[step.key] = { id: undo.id, kind: "back", verdict: "undo" };
  desk.last = { id: undo.id, key: step.key, verdict: "undo", name: undo.name };
  keep(desk);
  const at = desk.order.indexOf(step.key);
  if (at >= 0) desk.at = at;
  return step;
};

// A key that bounces or is hammered counts once: nothing is decided that nobody can have read.
const bounced = (desk, key, now) => {
  const since = now - (desk.pressed[key] ?? -Infinity);
  desk.pressed[key] = now;
  return since < BOUNCE_MS;
};

const wished = (desk) => {
  const ahead = [current(desk), ...desk.order.slice(desk.at + 1).filter((key) => isOpen(desk, key)), ...desk.order.slice(0, desk.at).slice(-2)];
  return ahead.filter((key) => key && desk.evidence[key] === undefined).slice(0, AHEAD);
};

const needsMore = (desk) => desk.restart || (typeof desk.cursor === "string" && desk.order.slice(desk.at + 1).filter((key) => isOpen(desk, key)).length < AHEAD);

// One message holds everything that is not confirmed yet, so a lost or overtaken one costs nothing. null: nothing to say.
const message = (desk, now) => {
  const wish = wished(desk), more = needsMore(desk), find = desk.find !== desk.asked ? desk.find : null, at = current(desk) || "";
  if (!desk.outbox.length && wish.length <= 2 && !wish.includes(at) && !more && find === null && at === desk.told) return null;
  if (desk.n > desk.answered && now - desk.sentAt < PATIENCE_MS) return null;
  Object.assign(desk, { n: desk.n + 1, sentAt: now, asked: desk.find, told: at });
  const steps = desk.outbox.map(({ id, key, verdict, category, reason, of, seen, content }) => ({ id, key, verdict, category, reason, of, seen, content }));
  return { client: desk.client, n: desk.n, steps, wish, at, more: more ? (desk.restart ? "" : desk.cursor) : null, find: find === null ? desk.asked : find };
};
