// What is shown, as the address of the page says it: a link brings it back.

const LISTS = ["result", "route", "environment"];
const TEXTS = ["fixture", "text", "case", "on"];
const NOTHING_ASKED = { result: [], route: [], environment: [], fixture: "", text: "", differs: false, case: "", on: "" };

/** Return what a `location.hash` asks for. A `+` in it is a plus, as in the ids of cases. */
function asked(hash) {
  const found = { ...NOTHING_ASKED, result: [], route: [], environment: [] };
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [name, ...rest] = part.split("=");
    const value = decoded(rest.join("="));
    if (LISTS.includes(name)) found[name].push(value);
    else if (TEXTS.includes(name)) found[name] = value;
    else if (name === "differs") found.differs = value === "yes";
  }
  return found;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}

/** Return the `location.hash` that asks for `what`. */
function addressOf(what) {
  const parts = [];
  for (const name of LISTS) for (const value of what[name]) parts.push(`${name}=${encoded(value)}`);
  for (const name of TEXTS) if (what[name]) parts.push(`${name}=${encoded(what[name])}`);
  if (what.differs) parts.push("differs=yes");
  return `#${parts.join("&")}`;
}

function encoded(text) {
  return encodeURIComponent(text).replace(/%(2F|2B|3A|2C)/g, decodeURIComponent);
}
