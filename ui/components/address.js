// Keeps in the address what a tab is, without an entry in the browser's history of its own; keeps the address that Back or Forward
// led to; makes one entry of the two with which Streamlit goes to an address on another page; adds none for what somebody goes through
// on one page, as the items of Review, nor for what opens, closes or was decided there; and leads a click on a page's own entry in the
// navigation to that page's beginning, which Streamlit would leave where it is.
const OWN = "[data-testid=stSidebarNavLink][aria-current=page]";
const SAMPLE = "sample"; // which memory a tab shows: 1 the sample, 0 one's own
const OUTCOME = "done"; // what was just decided, wherever on its page that leads
const PASSING = { // by page: what opens and closes over it, or is gone through; the next takes the place of the one before
  review: ["item", OUTCOME, "undo"],
  facts: ["edit", OUTCOME, "undo"],
  tree: ["edit", "proposal", OUTCOME, "undo"],
  sources: ["withdraw", "erase"],
  people: ["erase"],
  conversations: ["bring", "clear"],
};
const PRESSES = ["pointerdown", "keydown", "click"];

const sorted = (query) => {
  const copy = new URLSearchParams(query);
  copy.sort();
  return `${copy}`;
};

const passes = (now, next) => {
  const page = now.pathname.split("/").pop(), names = Object.hasOwn(PASSING, page) ? PASSING[page] : null;
  if (!names || next.pathname !== now.pathname || next.search === now.search) return false;
  const [from, to] = [now, next].map((address) => new URLSearchParams(address.search));
  if (names.includes(OUTCOME) && to.get(OUTCOME) && to.get(OUTCOME) !== from.get(OUTCOME) && !to.get("undo")) return true;
  for (const name of names) [from, to].forEach((query) => query.delete(name));
  return sorted(from) === sorted(to);
};

// Back changes the address at once, before the server is asked for the page. A page that was asked for earlier and comes late would
// write its own name over the address, and add an entry. Until the page that Back led to is drawn, or something is pressed on this
// one, no entry is added and no other page named.
// Going to another page, Streamlit first puts that page's query behind the path of this one, which overwrites where one was, and then
// goes there. Nobody touches anything between the two: what somebody does in between makes two entries of it.
// Back to an address of one's own memory leads to that memory, though the tab shows the sample: such an address says so.
function watch() {
  const tab = { led: null, half: null, names: [], kept: {} }, push = window.history.pushState;
  const own = (address) => {
    const left = new URLSearchParams(address.search);
    tab.names.forEach((name) => left.delete(name));
    return `${left}`;
  };
  window.addEventListener("popstate", () => {
    const query = new URLSearchParams(window.location.search), isOwn = tab.kept[SAMPLE] === "1" && !query.has(SAMPLE);
    if (isOwn) query.set(SAMPLE, "0");
    if (isOwn) window.history.replaceState(window.history.state, "", `${window.location.pathname}?${query}${window.location.hash}`);
    tab.led = new URL(window.location.href);
    tab.half = null;
    if (isOwn) window.dispatchEvent(new PopStateEvent("popstate")); // Streamlit may have read the address before this
  }, true);
  for (const press of PRESSES) window.addEventListener(press, () => { tab.led = tab.half = null; }, true);
  window.history.pushState = function (state, title, url) {
    const now = window.location, next = new URL(url ?? now.href, now.href), moves = next.pathname !== now.pathname;
    if (tab.led) {
      if (next.pathname === tab.led.pathname) this.replaceState(state, title, url);
      return;
    }
    if (passes(now, next)) {
      this.replaceState(state, title, url);
      return;
    }
    const second = moves && tab.half === now.pathname && own(next) === own(now);
    tab.half = !moves && next.search !== now.search ? now.pathname : null;
    second ? this.replaceState(state, title, url) : push.call(this, state, title, url);
  };
  return tab;
}

export default function (component) {
  const { data: [data], parentElement: root } = component, page = root.ownerDocument;
  const tab = (window.memoirTab ??= watch()); // once in a tab, however often this runs
  const named = Object.entries(data.kept);
  tab.names = named.map(([name]) => name);
  tab.kept = data.kept;
  const withKept = (query) => {
    for (const [name, value] of named) value === null ? query.delete(name) : query.set(name, value);
    return query;
  };
  const written = (query) => (query.size ? `?${query}` : "");
  const write = (query) =>
    window.history.replaceState(window.history.state, "", window.location.pathname + written(query) + window.location.hash);

  const now = new URLSearchParams(window.location.search);
  const led = tab.led && tab.led.pathname.split("/").pop() === data.page && sorted(tab.led.search) === sorted(data.asked);
  if ((led || !tab.led) && named.some(([name, value]) => now.get(name) !== value)) write(withKept(now));

  if (led) {
    tab.led = null; // this is the page it led to
    const query = withKept(new URLSearchParams(data.query));
    if (sorted(window.location.search) !== sorted(query)) { // a late one's values, which Streamlit takes for this one's
      write(query);
      window.dispatchEvent(new PopStateEvent("popstate"));
    }
  }

  const begin = (event) => {
    const own = event.target instanceof Element && event.target.closest(OWN);
    if (!own || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const start = own.pathname + written(withKept(new URLSearchParams()));
    setTimeout(() => { // after Streamlit's own, which closes the navigation on a narrow screen
      if (start !== window.location.pathname + window.location.search) window.history.pushState({}, "", start);
      window.dispatchEvent(new PopStateEvent("popstate"));
    });
  };
  page.addEventListener("click", begin, true);
  return () => page.removeEventListener("click", begin, true);
}
