// The page as a whole: it follows its address, and whatever is clicked or typed changes that.

/** Make an element. What is given as text becomes text; no string is ever read as markup. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

const panel = document.getElementById("panel");
const form = document.getElementById("filters");
const shownNow = document.getElementById("shown");
const grid = new Grid(document.getElementById("grid"), openCase);
const fillsWindow = matchMedia("(max-width: 41rem)"); // the width of the panel in page.css
const STEP_KEYS = { n: 1, p: -1 };
let current = asked("");
let opened = null; // the [fixture, result] of the panel

/** Ask for something else. A filter replaces the address, so that Back leaves the page; a case is a step of its own. */
function ask(changes) {
  const what = { ...current, ...changes };
  const address = addressOf(what);
  if (address === addressOf(current)) return;
  const opens = what.case !== "" && current.case === "";
  history[opens ? "pushState" : "replaceState"](null, "", address);
  follow();
}

function follow() {
  if (location.hash === "#grid") return; // the skip link
  const before = current;
  current = asked(location.hash);
  if (follow.first || addressOf({ ...before, case: "", on: "" }) !== addressOf({ ...current, case: "", on: "" })) drawGrid();
  follow.first = false;
  showCase();
}
follow.first = true;

function drawGrid() {
  const shown = selected(current);
  grid.draw(shown);
  const all = fixtures.reduce((sum, { results }) => sum + results.length, 0);
  shownNow.textContent = shown.hits.length
    ? `${shown.hits.length} of ${all} results: ${shown.rows.length} of ${fixtures.length} fixtures, ${shown.columns.length} of ${columns.length} columns`
    : all ? "No result is like that. “show all” brings them back." : "The report has no results.";
  form.elements.fixture.value = current.fixture;
  form.elements.text.value = current.text;
  form.elements.differs.checked = current.differs;
  for (const chip of form.querySelectorAll("[data-result]")) {
    chip.setAttribute("aria-pressed", String(current.result.includes(chip.dataset.result)));
  }
  for (const choice of form.querySelectorAll(".choice")) showChoice(choice, current[choice.dataset.key]);
}

function showChoice(choice, chosen) {
  const boxes = [...choice.querySelectorAll("input")];
  for (const box of boxes) box.checked = chosen.includes(box.value);
  const name = choice.dataset.key;
  choice.querySelector("summary").textContent =
    chosen.length === 0 ? `every ${name}` : chosen.length === 1 ? chosen[0] : `${chosen.length} of ${boxes.length} ${name}s`;
}

function openCase(fixture, result) {
  const id = idOf(fixture, result);
  ask({ case: id, on: resultsOf(id).length > 1 ? columns[result[COLUMN]].environment : "" });
}

function closeCase() {
  ask({ case: "", on: "" });
}

function showCase() {
  const results = current.case ? resultsOf(current.case) : [];
  const result = results.find((one) => columns[one[COLUMN]].environment === current.on) ?? results[0];
  const fixture = fixtureOf.get(partsOf(current.case)[0]);
  document.body.classList.toggle("with-panel", Boolean(current.case)); // first, since it moves the grid
  grid.markCurrent(fixture, result);
  if (!current.case) {
    const had = opened;
    opened = null;
    panel.hidden = true;
    coverRest();
    panel.replaceChildren();
    if (had) grid.focusOn(...had);
    return;
  }
  opened = result ? [fixture, result] : [];
  const said = make("div", { role: "status", class: "said" });
  panel.replaceChildren(
    bar(fixture, result, said), said, make("h2", { id: "case-title", tabindex: -1 }, ...breakable(current.case, "/")),
    ...(result ? caseParts(fixture, result) : [make("p", {}, "This report has no result of that case.")]),
  );
  panel.hidden = false;
  coverRest();
  panel.scrollTop = 0;
  panel.querySelector("h2").focus({ preventScroll: true });
}

/** Where the panel fills the window, what is behind it cannot be reached by keys either. */
function coverRest() {
  for (const part of document.querySelectorAll("header, main, .skip")) part.inert = !panel.hidden && fillsWindow.matches;
}

function bar(fixture, result, said) {
  const buttons = [button("close", "Esc", closeCase)];
  if (result) {
    const place = grid.shown.hits.findIndex(([, hit]) => hit === result);
    buttons.push(button("previous", "p", () => step(-1)), button("next", "n", () => step(1)));
    if (place >= 0) buttons.push(make("span", { class: "place" }, `${place + 1} of ${grid.shown.hits.length}`));
    buttons.push(
      button("copy as citation", "", () => copy(citation(fixture, result), said)),
      button("copy repro command", "", () => copy(reproCommand(fixture, result), said)),
    );
  }
  return make("div", { class: "bar" }, ...buttons);
}

function button(name, key, action) {
  const one = make("button", { type: "button", ...(key ? { title: `key ${key}`, "aria-keyshortcuts": key === "Esc" ? "Escape" : key } : {}) }, name);
  one.addEventListener("click", action);
  return one;
}

/** Go to another case of those that are shown; behind the last comes the first. */
function step(by) {
  const { hits } = grid.shown;
  if (!hits.length) return;
  const place = hits.findIndex(([, result]) => result === opened?.[1]);
  const next = place < 0 ? (by > 0 ? 0 : hits.length - 1) : (place + by + hits.length) % hits.length;
  const [{ fixture }, result] = hits[next];
  openCase(fixture, result);
}

function fillChoices() {
  const values = { route: columns.map(({ route }) => route), environment: columns.map(({ environment }) => environment) };
  for (const choice of form.querySelectorAll(".choice")) {
    const known = [...new Set(values[choice.dataset.key])];
    if (known.length < 2) choice.hidden = true;
    choice.querySelector("div").append(...known.map((value) => make("label", {}, make("input", { type: "checkbox", value }), ` ${value}`)));
  }
  const topics = [...new Set(fixtures.map(({ id }) => `${partsOf(id)[0]}/`))];
  document.getElementById("topics").append(...topics.map((value) => make("option", { value })));
}

function typed() {
  ask({ fixture: form.elements.fixture.value, text: form.elements.text.value, differs: form.elements.differs.checked });
}

function listen() {
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    ask({ ...NOTHING_ASKED, case: current.case, on: current.on });
  });
  form.addEventListener("input", (event) => {
    const key = event.target.closest(".choice")?.dataset.key;
    if (!key) typed();
    else ask({ [key]: [...form.querySelectorAll(`[data-key="${key}"] input:checked`)].map(({ value }) => value) });
  });
  form.addEventListener("click", (event) => {
    const kind = event.target.closest("[data-result]")?.dataset.result;
    if (kind) ask({ result: current.result.includes(kind) ? current.result.filter((one) => one !== kind) : [...current.result, kind] });
  });
  document.addEventListener("click", (event) => {
    for (const choice of form.querySelectorAll(".choice[open]")) if (!choice.contains(event.target)) choice.open = false;
  });
  document.addEventListener("keydown", onKey);
  fillsWindow.addEventListener("change", coverRest);
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const choice = event.target.closest(".choice[open]");
  if (event.key === "Escape" && choice) {
    choice.open = false;
    choice.querySelector("summary").focus();
  } else if (event.key === "Escape" && current.case) closeCase();
  else if (event.key in STEP_KEYS && current.case && !event.target.closest("input, textarea")) step(STEP_KEYS[event.key]);
  else return;
  event.preventDefault();
}

function offerTheme() {
  const theme = document.getElementById("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { theme.textContent = dark() ? "light" : "dark"; };
  const remembered = kept(() => localStorage.getItem("conformance-theme"));
  if (["dark", "light"].includes(remembered)) root.dataset.theme = remembered;
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    kept(() => localStorage.setItem("conformance-theme", root.dataset.theme));
    name();
  });
  system.addEventListener("change", name);
  name();
  theme.hidden = false;
}

/** Return what `action` gives of what the browser keeps, or null where it keeps nothing for such a page. */
function kept(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

offerTheme();
fillChoices();
form.querySelector(".fields").hidden = false;
listen();
follow();
