// Writes a cookie that this origin's pages send along; an empty value takes it away.
const YEAR_S = 365 * 24 * 3600;

export default function (component) {
  const { name, value } = component.data, age = value ? YEAR_S : 0;
  const safe = window.location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${age}; SameSite=Lax${safe}`;
}
