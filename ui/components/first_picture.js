// Says in words what the picture shows; the picture itself is drawn in first_picture.html.
export default function (component) {
  const { data: [data], parentElement: root } = component;
  root.querySelector("title").textContent = data.about;
  root.querySelectorAll(".step").forEach((step, at) => { step.textContent = data.steps[at]; });
}
