// Puts a link into the clipboard, and says so.
export default function (component) {
  const { data, parentElement: root } = component;
  const button = root.querySelector("button");
  button.textContent = data.label;
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(data.link);
      button.textContent = data.copied;
    } catch {
      window.prompt(data.label, data.link);
    }
    setTimeout(() => { button.textContent = data.label; }, 1800);
  };
}
