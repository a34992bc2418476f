// The player in the app: it goes on where it was when the page is drawn again, and takes the focus when it is first drawn.
const ends = new WeakMap(), stamps = new WeakMap();

export default function (component) {
  const { data, parentElement: root } = component, place = root.querySelector(".player"), stamp = JSON.stringify(data);
  if (stamps.get(place) === stamp) return;
  const isFirst = !stamps.has(place);
  stamps.set(place, stamp);
  (ends.get(place) || (() => {}))();
  ends.set(place, player(place, data));
  if (isFirst) place.querySelector(".replay").focus({ preventScroll: true });
}
