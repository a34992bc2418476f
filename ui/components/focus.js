// A form that was just opened has the focus in its first field; a form that is drawn again keeps it where it is.
const FIELD = "textarea:not([disabled]), input:not([disabled]):not([type=hidden])", OTHER = "[role=radio], button";
const WRITING = "textarea, input, [contenteditable=true]";
const FRAMES = 90;

export default function (component) {
  const { data, parentElement: root } = component, mark = root.querySelector("span");
  if (!mark || mark.dataset.form === data.form) return;
  mark.dataset.form = data.form;
  let left = FRAMES;
  const settle = () => {
    const form = root.ownerDocument.querySelector(`.st-key-${data.key}`), field = form && (form.querySelector(FIELD) || form.querySelector(OTHER));
    const active = root.ownerDocument.activeElement;
    if (active && active.matches(WRITING)) return;
    if (field) field.focus();
    else if (left-- > 0) requestAnimationFrame(settle);
  };
  settle();
}
