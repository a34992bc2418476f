// Keeps in the address what a tab is, without an entry in the browser's history of its own; and leads a click on a page's own
// entry in the navigation to that page's beginning, which Streamlit would leave where it is.
const OWN = "[data-testid=stSidebarNavLink][aria-current=page]";

export default function (component) {
  const { data, parentElement: root } = component, page = root.ownerDocument;
  const named = Object.entries(data.kept);
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
