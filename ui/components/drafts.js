// Keeps what is typed and not sent yet over a refresh of the page: the tab stores it as it leaves, and the fields get it back as they
// are drawn again. Nothing of it is sent by itself. Passwords and keys are not kept.
const FIELDS = "[data-testid=stTextInput] input:not([type=password]), [data-testid=stTextArea] textarea, [data-testid=stChatInput] textarea";
const DRAFTS = "memoir-drafts";

const fieldsByName = () => {
  const seen = {}, named = {};
  for (const field of document.querySelectorAll(FIELDS)) {
    const label = field.getAttribute("aria-label") || field.placeholder, nth = (seen[label] = (seen[label] ?? -1) + 1);
    named[`${label} ${nth}`] = field; // two fields of a page may have one label
  }
  return named;
};

const put = (field, value) => {
  const kind = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, value); // past React, which then reads it from the event
  field.dispatchEvent(new Event("input", { bubbles: true }));
};

// Words of a form that were sent stand in it on; they are no draft any more.
const sent = new WeakMap();
const send = (event) => {
  const submits = event.type === "click" ? event.target.closest && event.target.closest("[data-testid=stFormSubmitButton]") : event.key === "Enter";
  const form = submits && event.target.closest("[data-testid=stForm]");
  if (form) for (const field of form.querySelectorAll(FIELDS)) sent.set(field, field.value);
};

const leave = () => {
  const drafts = Object.entries(fieldsByName()).filter(([, field]) => field.value && field.value !== sent.get(field));
  const typed = drafts.map(([name, field]) => [name, field.value]);
  try {
    typed.length ? sessionStorage.setItem(DRAFTS, JSON.stringify({ path: location.pathname, typed })) : sessionStorage.removeItem(DRAFTS);
  } catch { /* a browser that keeps nothing */ }
};

const kept = () => {
  try {
    const found = JSON.parse(sessionStorage.getItem(DRAFTS) || "null"), [entry] = performance.getEntriesByType("navigation");
    sessionStorage.removeItem(DRAFTS);
    return found && entry && entry.type === "reload" && found.path === location.pathname ? new Map(found.typed) : new Map();
  } catch {
    return new Map();
  }
};

// A field may be drawn more than once before its page rests: it has its words again when it holds them while nothing runs.
function watchDrafts() {
  window.addEventListener("pagehide", leave);
  for (const press of ["click", "keydown"]) document.addEventListener(press, send, true);
  const waiting = kept(), path = location.pathname;
  if (!waiting.size) return true;
  const restore = () => {
    if (location.pathname !== path) waiting.clear();
    const app = document.querySelector("[data-testid=stApp]"), rests = app && app.dataset.testScriptState === "notRunning";
    const fields = fieldsByName();
    for (const [name, value] of waiting) {
      const field = fields[name];
      if (!field) continue;
      if (field.value !== value && field !== document.activeElement) put(field, value);
      if (rests || field === document.activeElement) waiting.delete(name);
    }
    if (!waiting.size) observer.disconnect();
  };
  const observer = new MutationObserver(restore);
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-test-script-state"] });
  restore();
  return true;
}

window.memoirDrafts ??= watchDrafts(); // once in a tab
