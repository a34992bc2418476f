// Keeps in the address what a tab is, without an entry in the browser's history of its own; leads a click on a page's own
// entry in the navigation to that page's beginning, which Streamlit would leave where it is; and makes one entry of the two with
// which Streamlit goes to an address on another page.
const OWN = "[data-testid=stSidebarNavLink][aria-current=page]";
const JOINED = Symbol.for("memoir.joined");

// Streamlit first puts the query of the other page behind the path of this one, which overwrites where one was, and then goes
// there. Nobody touches anything between the two: what somebody does in between makes two entries of it.
function join(named) {
  const known = window.history[JOINED] ??= { names: [], half: null };
  known.names = named.map(([name]) => name);
  if (known.push) return;
  known.push = window.history.pushState.bind(window.history);
  const query = (address) => {
    const left = new URLSearchParams(address.search);
    known.names.forEach((name) => left.delete(name));
    return `${left}`;
  };
  window.history.pushState = (state, title, url) => {
    const now = window.location, next = new URL(url ?? now.href, now.href), moves = next.pathname !== now.pathname;
    const second = moves && query(next) && known.half === now.pathname && query(next) === query(now);
    known.half = !moves && query(next) !== query(now) ? now.pathname : null;
    second ? window.history.replaceState(state, title, url) : known.push(state, title, url);
  };
  for (const input of ["pointerdown", "keydown", "popstate"])
    window.addEventListener(input, () => { known.half = null; }, true);
}

export default function (component) {
  const { data, parentElement: root } = component, page = root.ownerDocument;
  const named = Object.entries(data.kept);
  join(named);
  const kept = (query) => {
    for (const [name, value] of named) value === null ? query.delete(name) : query.set(name, value);
    return query.size ? `?${query}` : "";
  };
  const now = new URLSearchParams(window.location.search);
  if (named.some(([name, value]) => now.get(name) !== value))
    window.history.replaceState(window.history.state, "", window.location.pathname + kept(now) + window.location.hash);

  const begin = (event) => {
    const own = event.target instanceof Element && event.target.closest(OWN);
    if (!own || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const start = own.pathname + kept(new URLSearchParams());
    setTimeout(() => { // after Streamlit's own, which closes the navigation on a narrow screen
      if (start !== window.location.pathname + window.location.search) window.history.pushState({}, "", start);
      window.dispatchEvent(new PopStateEvent("popstate"));
    });
  };
  page.addEventListener("click", begin, true);
  return () => page.removeEventListener("click", begin, true);
}
