// Keys that open the palette before it is there: from the first moment of a page on they are kept, with what is typed behind them,
// until the palette takes them.
{
  let isOpen = false, typed = "";
  const onKey = (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    if (isShortcut) isOpen = !isOpen;
    if (isShortcut || event.key === "Escape") typed = "";
    if (event.key === "Escape") isOpen = false;
    if (!isShortcut && (!isOpen || event.ctrlKey || event.metaKey || event.altKey)) return;
    if (event.key === "Backspace") typed = typed.slice(0, -1);
    else if (event.key.length === 1 && !isShortcut) typed += event.key;
    else if (!isShortcut) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener("keydown", onKey, true);
  window.memoirFirstKeys = () => {
    removeEventListener("keydown", onKey, true);
    delete window.memoirFirstKeys;
    return isOpen ? typed : null;
  };
}
