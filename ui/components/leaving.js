// Whoever clicked on a link to another page is leaving. What a component sends by itself behind that click would run this page once
// more, and the click would be lost: it waits, or is left out.
const LEAVING_MS = 3000; // a page that has not come by then does not come

const left = (window.memoirLeft ??= (() => {
  const said = { at: -LEAVING_MS, from: "" };
  document.addEventListener("click", (event) => {
    const link = event.composedPath().find((node) => node.matches && node.matches("a[href]"));
    const stays = !link || link.target === "_blank" || link.hasAttribute("download") || link.pathname === window.location.pathname;
    if (!stays) Object.assign(said, { at: performance.now(), from: window.location.pathname });
  }, true);
  return said;
})());

const leaving = () => left.from === window.location.pathname && performance.now() - left.at < LEAVING_MS;
