// Keeps files that are chosen and not added yet over a refresh of the page: the browser holds them for this tab, and their place gets
// them back as if they were chosen again. Nothing of it reaches the server before; it is over with the refresh, or within the hour.
// A folder is not kept: what its files are called within it would be lost.
const UPLOADER = "[data-testid=stFileUploader]", NAME = "[data-testid=stFileChipName]", INPUT = "input[type=file]:not([webkitdirectory])";
const CHOSEN = "memoir-chosen", TAB = "memoir-tab", MOST_BYTES = 200e6, KEPT_MS = 3600e3;

// The key of an uploader, without the number that counts how often it was emptied.
const placeOf = (uploader) => {
  const box = uploader.closest("[class*=st-key-]"), found = box && /st-key-([\w-]*?)-?\d*(?=\s|$)/.exec(box.className);
  return found ? found[1] : "";
};
const namesIn = (uploader) => [...uploader.querySelectorAll(NAME)].map((chip) => chip.title);
const uploaders = () => [...document.querySelectorAll(UPLOADER)].filter((uploader) => uploader.querySelector(INPUT));

const stored = (mode, what) => new Promise((done, failed) => {
  const opening = indexedDB.open(CHOSEN, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("files");
  opening.onerror = () => failed(opening.error);
  opening.onsuccess = () => {
    const work = opening.result.transaction("files", mode), asked = what(work.objectStore("files"));
    work.oncomplete = () => { opening.result.close(); done(asked && asked.result); };
    work.onabort = work.onerror = () => { opening.result.close(); failed(work.error); };
  };
});

const ofThisTab = () => {
  const known = sessionStorage.getItem(TAB) ?? crypto.getRandomValues(new Uint32Array(4)).join("-");
  sessionStorage.setItem(TAB, known);
  return known;
};

const forgetOld = (files) => {
  files.openCursor().onsuccess = ({ target }) => {
    if (!target.result) return;
    if (Date.now() - target.result.value.at > KEPT_MS) target.result.delete();
    target.result.continue();
  };
};

const giveBack = (files, wanted) => {
  const waiting = new Map(Object.entries(wanted)), path = location.pathname;
  const restore = () => {
    const app = document.querySelector("[data-testid=stApp]");
    if (location.pathname !== path) waiting.clear();
    else if (!app || app.dataset.testScriptState !== "notRunning") return;
    for (const uploader of uploaders()) {
      const names = waiting.get(placeOf(uploader)), input = uploader.querySelector(INPUT), chosen = new DataTransfer();
      if (!names || !waiting.delete(placeOf(uploader)) || namesIn(uploader).length) continue;
      for (const file of files[placeOf(uploader)] ?? []) if (names.includes(file.name)) chosen.items.add(file);
      input.files = chosen.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (!waiting.size) observer.disconnect();
  };
  const observer = new MutationObserver(restore);
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-test-script-state"] });
  restore();
};

async function watchFiles() {
  const tab = ofThisTab(), held = {}, left = JSON.parse(sessionStorage.getItem(CHOSEN) || "null");
  const choose = ({ target, dataTransfer }) => {
    const uploader = target.closest && target.closest(UPLOADER), input = uploader && uploader.querySelector(INPUT);
    if (!input || (!dataTransfer && target !== input)) return;
    const names = namesIn(uploader), place = placeOf(uploader), fresh = [...(dataTransfer ? dataTransfer.files : input.files)];
    held[place] = [...(input.multiple ? (held[place] ?? []).filter((file) => names.includes(file.name)) : []), ...fresh];
    const bytes = Object.values(held).flat().reduce((sum, file) => sum + file.size, 0), at = Date.now();
    stored("readwrite", (files) => (bytes > MOST_BYTES ? files.delete(tab) : files.put({ at, held }, tab))).catch(() => {});
  };
  const leave = () => {
    const there = uploaders().map((uploader) => [placeOf(uploader), namesIn(uploader)]).filter(([, names]) => names.length);
    const shown = Object.fromEntries(there), isEmpty = !there.length;
    isEmpty ? sessionStorage.removeItem(CHOSEN) : sessionStorage.setItem(CHOSEN, JSON.stringify({ path: location.pathname, shown }));
    if (isEmpty) stored("readwrite", (files) => files.delete(tab)).catch(() => {});
  };
  for (const chosen of ["change", "drop"]) document.addEventListener(chosen, choose, true);
  window.addEventListener("pagehide", leave);
  sessionStorage.removeItem(CHOSEN);
  const [entry] = performance.getEntriesByType("navigation"), isBack = left && left.path === location.pathname && entry.type === "reload";
  const found = await stored("readonly", (files) => files.get(tab));
  await stored("readwrite", (files) => { files.delete(tab); forgetOld(files); });
  if (isBack && found) giveBack(found.held, left.shown);
}

window.memoirFiles ??= watchFiles().catch(() => {}); // once in a tab; a browser that keeps nothing gives nothing back
