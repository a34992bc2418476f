// Where a reader was: a page that opens something starts at its top, and coming back finds the list where it was left.
const KEY = "memoir-place-";
const PATIENCE_MS = 3000;  // a list that is read and drawn late still gets its place

export default function (component) {
  const { data, parentElement: root } = component;
  const main = root.ownerDocument.querySelector('[data-testid="stMain"]');
  const mark = root.querySelector("span");
  if (!main || !mark) return;
  const first = mark.dataset.shown !== data.name;
  mark.dataset.shown = data.name;
  if (data.top) {
    if (first) main.scrollTop = 0;
    return;
  }
  const keep = () => sessionStorage.setItem(KEY + data.name, String(Math.round(main.scrollTop)));
  const wanted = Number(sessionStorage.getItem(KEY + data.name) || 0);
  const until = performance.now() + PATIENCE_MS;
  let ours = true;
  const mine = () => { ours = false; };
  const settle = () => {
    if (!ours || performance.now() > until) return;
    main.scrollTop = wanted;
    if (Math.abs(main.scrollTop - wanted) > 2) requestAnimationFrame(settle);
  };
  if (first && wanted) settle();
  // before a click or a key does anything: afterwards the page may have been drawn anew, and higher up
  const heard = ["pointerdown", "keydown"];
  for (const kind of heard) main.addEventListener(kind, keep, true);
  for (const kind of ["wheel", "touchmove", ...heard]) main.addEventListener(kind, mine, { passive: true });
  return () => {
    ours = false;
    for (const kind of heard) main.removeEventListener(kind, keep, true);
    for (const kind of ["wheel", "touchmove", ...heard]) main.removeEventListener(kind, mine);
  };
}
