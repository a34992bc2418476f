// A page of a source as it looks: fitted to the width there is, scrolled to what is marked; a press shows it larger.
const shown = new WeakMap();

export default function (component) {
  const { data, parentElement: root } = component;
  const sheet = root.querySelector(".sheet"), picture = root.querySelector("img"), zoom = root.querySelector("button");
  const mine = shown.get(root) || { src: "", large: false };
  shown.set(root, mine);
  const toMark = () => {
    const top = data.top * picture.clientHeight;
    sheet.scrollTop = Math.max(0, top - sheet.clientHeight / 3);
    sheet.scrollLeft = mine.large ? Math.max(0, data.left * picture.clientWidth - 40) : 0;
  };
  const size = () => {
    sheet.classList.toggle("large", mine.large);
    zoom.textContent = mine.large ? data.words.smaller : data.words.larger;
    zoom.setAttribute("aria-pressed", String(mine.large));
  };
  sheet.style.maxHeight = data.height + "px";
  sheet.setAttribute("aria-label", data.alt);
  picture.style.aspectRatio = `${data.width} / ${data.tall}`;
  zoom.onclick = () => { mine.large = !mine.large; size(); toMark(); };
  size();
  if (mine.src === data.src) return;
  mine.src = data.src;
  picture.alt = data.alt;
  picture.onload = toMark;
  picture.src = data.src;
}
