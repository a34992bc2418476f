// Tells the browser which language the page is in, and has it keep the choice of a person for the next visit.
const YEAR_S = 31536000;

export default function (component) {
  const { data, parentElement: root } = component, page = root.ownerDocument;
  page.documentElement.lang = data.language; // screen readers and the shapes of Chinese characters go by it
  if (data.kept) page.cookie = `${data.cookie}=${data.language}; path=/; max-age=${YEAR_S}; SameSite=Lax`;
}
