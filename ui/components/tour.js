// A card and a ring in the browser's top layer, following the control they speak of while the page is drawn, scrolled or resized.
// A new step takes the focus once, so that a screen reader reads it; a step drawn again leaves the focus where it is.
const EDGE = 12, GAP = 14, ROOM = 6, HEAD = 64, NARROW = 640, SETTLE_MS = 4000;
const BUSY = "[data-testid=stDialog], [data-testid=stPopoverBody], [data-baseweb=popover]", WRITING = "textarea, select, input:not([type=range], [type=checkbox], [type=radio]), [contenteditable=true]";
const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");
const stops = new WeakMap(); // of each card: what ends the following of the step before
let read = 0; // the step that had the focus last

const find = (page, controls) => {
  for (const key of controls) {
    for (const node of page.querySelectorAll(`[class*="st-key-${CSS.escape(key)}"]`)) {
      const exact = key.endsWith("-") || node.classList.contains(`st-key-${key}`), box = node.getBoundingClientRect();
      if (exact && box.width && box.height) return node;
    }
  }
  return null;
};

// Where what the page shows begins: left of it stands the navigation, which no step speaks of.
const beginning = (page) => {
  const content = page.querySelector("[data-testid=stMainBlockContainer]");
  return content ? content.getBoundingClientRect().left + parseFloat(getComputedStyle(content).paddingLeft) : 0;
};

// Beside the control where there is room, else over the navigation, else in the lower corner below a wide control, which speaks of
// what follows it, else below or above it, else in the lower corner over it.
const place = (box, card, width, height, left) => {
  const w = card.offsetWidth, h = card.offsetHeight, low = height - h - EDGE, far = width - w - EDGE;
  const within = (value, most) => Math.max(EDGE, Math.min(value, most));
  if (!box) return [within((width - w) / 2, far), low];
  if (width < NARROW) return [within((width - w) / 2, far), box.top > height / 2 && box.top - h > EDGE ? HEAD : low];
  if (box.right + GAP <= far) return [box.right + GAP, within(box.top, low)];
  if (left - w >= EDGE) return [EDGE, within(box.top, low)];
  if (box.right - box.left > width / 2 && box.bottom + GAP <= low) return [far, low];
  if (box.left - GAP - w >= EDGE) return [box.left - GAP - w, within(box.top, low)];
  if (box.bottom + GAP <= low) return [within(box.right - w, far), box.bottom + GAP];
  if (box.top - GAP - h >= EDGE) return [within(box.right - w, far), box.top - GAP - h];
  return [within(box.right - w - GAP, far), within(box.bottom - h - GAP, low)];
};

// Scrolls the control into view unless the page is just scrolling; what is drawn above it may move it on again.
const scrollTo = (control, page, before) => {
  const view = control.closest("[data-testid=stMain]") || page.scrollingElement, box = control.getBoundingClientRect(), at = view.scrollTop;
  const room = page.defaultView.innerHeight - HEAD, centred = page.defaultView.innerWidth >= NARROW && box.height < room - 2 * GAP;
  const wanted = centred ? HEAD + (room - box.height) / 2 : HEAD + GAP;
  if (at === before && Math.abs(box.top - wanted) > 8) view.scrollTo({ top: at + box.top - wanted, behavior: CALM.matches ? "auto" : "smooth" });
  return at;
};

export default function (component) {
  const { data, parentElement: root, setTriggerValue } = component, page = root.ownerDocument;
  const layer = root.querySelector(".tour"), ring = root.querySelector(".ring"), card = root.querySelector(".card"), words = data.words;
  const ask = (to) => setTriggerValue("asked", { to, step: data.step });
  const button = (label, to, name) => {
    const node = make("button", name, label);
    node.onclick = () => ask(to);
    return node;
  };

  const kept = card.contains(root.activeElement || card.getRootNode().activeElement);
  const top = make("div", "top"), bar = make("div", "bar"), done = make("i"), title = make("h2", "", data.title), text = make("p", "", data.text), go = make("div", "go");
  top.append(make("span", "", `${words.name} · ${words.count}`), button(words.leave, "leave", "leave"));
  done.style.width = `${(100 * data.step) / data.steps}%`;
  bar.append(done);
  const back = button(words.back, "back", "back"), main = button(data.go, data.to, "main");
  back.disabled = data.step === 1;
  go.append(back, main);
  title.id = "tour-title";
  text.id = "tour-text";
  text.setAttribute("role", "status");
  card.replaceChildren(top, bar, title, text, go, make("div", "keys", words.keys));
  card.setAttribute("aria-labelledby", title.id);
  card.setAttribute("aria-describedby", text.id);
  if (!layer.matches(":popover-open")) layer.showPopover();
  if (read !== data.step || kept) card.focus({ preventScroll: true });
  const fresh = read !== data.step;
  read = data.step;

  const onKey = (event) => {
    const held = event.composedPath()[0], mine = event.composedPath().includes(card) || held === page.body;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || page.querySelector(BUSY)) return;
    if (event.key === "Escape" && !(held.matches && held.matches(WRITING))) ask("leave");
    else if (mine && event.key === "ArrowRight") ask(data.to);
    else if (mine && event.key === "ArrowLeft" && data.step > 1) ask("back");
    else return;
    event.preventDefault();
  };
  let moved = !fresh, folded = fresh, last = "", scrolled = null, frame = 0;
  const begun = performance.now(), hands = ["wheel", "touchmove", "keydown", "pointerdown"], onHand = () => { moved = true; };
  const follow = () => {
    const control = find(page, data.controls), found = control && control.getBoundingClientRect();
    const width = page.defaultView.innerWidth, height = page.defaultView.innerHeight;
    if (control && folded) {
      const lid = control.querySelector("details:not([open]) > summary");
      if (lid) lid.click(); // what is folded away cannot be looked at
      folded = !lid && performance.now() - begun < SETTLE_MS;
    }
    if (control && !moved && performance.now() - begun < SETTLE_MS) scrolled = scrollTo(control, page, scrolled);
    const box = found && {
      left: Math.max(ROOM, found.left - ROOM), top: Math.max(ROOM, found.top - ROOM),
      right: Math.min(width - ROOM, found.right + ROOM), bottom: Math.min(height - ROOM, found.bottom + ROOM),
    };
    const seen = box && box.bottom > box.top + ROOM && box.right > box.left, [x, y] = place(seen ? box : null, card, width, height, beginning(page));
    const now = JSON.stringify([box, x, y, seen, !!page.querySelector(BUSY)]);
    if (now !== last) {
      ring.classList.toggle("on", !!seen && !page.querySelector(BUSY));
      if (seen) Object.assign(ring.style, { left: `${box.left}px`, top: `${box.top}px`, width: `${box.right - box.left}px`, height: `${box.bottom - box.top}px`, boxSizing: "border-box" });
      Object.assign(card.style, { left: `${x}px`, top: `${y}px` });
      ring.dataset.control = seen ? control.className.match(/st-key-(\S+)/)[1] : "";
    }
    last = now;
    frame = requestAnimationFrame(follow);
  };
  follow();
  page.addEventListener("keydown", onKey);
  hands.forEach((name) => page.addEventListener(name, onHand, { passive: true, capture: true }));
  const stop = () => {
    cancelAnimationFrame(frame);
    page.removeEventListener("keydown", onKey);
    hands.forEach((name) => page.removeEventListener(name, onHand, { capture: true }));
  };
  (stops.get(root) || (() => {}))();
  stops.set(root, stop);
  return stop;
}
