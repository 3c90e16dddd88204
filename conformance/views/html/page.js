"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const [CAME_COLUMN, KIND, FLAGS, CELL, DETAIL, SECONDS] = [0, 1, 2, 3, 4, 5];
  const PROVISIONAL = 1, ON_TEXT = 2, ROWS_AT_ONCE = 60, NO_DIALECT = "";

  /** Make an element; what is given as text is never markup. */
  function make(name, properties = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }
  const link = (url) => /^https?:\/\/\S+$/.test(url) ? make("a", { href: url, rel: "noreferrer noopener" }, url) : url;

  // ---- what is shown, as the address tells it

  const several = {};
  for (const [route] of data.columns) several[route] = (several[route] || 0) + 1;
  let state = {};

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    state = {
      text: given.get("q") || "", route: given.get("route") || "", environment: given.get("environment") || "",
      results: new Set((given.get("result") || "").split(",").filter((kind) => data.kinds.includes(kind))),
      differs: given.get("differs") === "1", case: given.get("case") || "", on: given.get("on") || "",
    };
  }

  function address(changes) {
    const wanted = { ...state, ...changes };
    const given = new URLSearchParams();
    for (const [name, value] of [
      ["q", wanted.text], ["result", [...wanted.results].join(",")], ["route", wanted.route], ["environment", wanted.environment],
      ["differs", wanted.differs ? "1" : ""], ["case", wanted.case], ["on", wanted.case ? wanted.on : ""],
    ]) if (value) given.set(name, value);
    return "#" + given.toString().replaceAll("%2F", "/").replaceAll("%2C", ",");
  }

  /** Go to another address; typing into a filter leaves no trail of steps to go back. */
  function go(changes, replace = false) {
    const wanted = address(changes);
    if (replace) { history.replaceState(null, "", wanted); follow(); } else location.hash = wanted;
  }

  // ---- the filters

  const search = make("input", { type: "search", placeholder: "fixture, route or text", "aria-label": "Text in a fixture or a reason",
    oninput: () => go({ text: search.value }, true) });
  const routes = choice("route", "every route", [...new Set(data.columns.map(([route]) => route))]);
  const environments = choice("environment", "every environment", [...new Set(data.columns.map(([, key]) => key))]);
  const differs = make("button", { type: "button", onclick: () => go({ differs: !state.differs }) }, "only where columns differ");
  const kinds = data.kinds.filter((kind) => data.counts[kind]).map((kind) => make("button",
    { type: "button", class: kind, title: data.meanings[kind], "data-kind": kind, onclick: () => {
      const results = new Set(state.results);
      if (!results.delete(kind)) results.add(kind);
      go({ results });
    } }, `${data.counts[kind]} ${kind}`));
  $("filters").append(search, routes, environments, ...kinds, differs,
    make("button", { type: "button", onclick: () => go({ text: "", route: "", environment: "", results: new Set(), differs: false }) }, "show all"));

  function choice(name, all, values) {
    const select = make("select", { "aria-label": name, onchange: () => go({ [name]: select.value }) },
      make("option", { value: "" }, all), ...values.map((value) => make("option", { value }, value)));
    return select;
  }

  function showFilters() {
    if (document.activeElement !== search) search.value = state.text;
    routes.value = state.route;
    environments.value = state.environment;
    differs.setAttribute("aria-pressed", state.differs);
    for (const button of kinds) button.setAttribute("aria-pressed", state.results.has(button.dataset.kind));
  }

  // ---- the grid

  const cellText = (result) => data.cells[result[CELL]];
  let shown = { columns: [], rows: [] }, drawn = "", drawing = 0;

  function select() {
    const columns = data.columns.map((column, number) => number).filter((number) =>
      (!state.route || data.columns[number][0] === state.route) && (!state.environment || data.columns[number][1] === state.environment));
    const visible = new Set(columns);
    const text = state.text.toLowerCase();
    const wanted = (fixture, result) => {
      if (state.results.size && !state.results.has(data.kinds[result[KIND]])) return false;
      if (!text || fixture.toLowerCase().includes(text)) return true;
      const [route] = data.columns[result[CAME_COLUMN]];
      return `${fixture}/${route}`.toLowerCase().includes(text) || (data.details[result[DETAIL]].reason || "").toLowerCase().includes(text);
    };
    const rows = [];
    for (const [fixture, results] of data.rows) {
      const here = results.filter((result) => visible.has(result[CAME_COLUMN]));
      if (!here.some((result) => wanted(fixture, result))) continue;
      if (state.differs && new Set(here.map(cellText)).size < 2) continue;
      rows.push([fixture, here]);
    }
    const filled = new Set(rows.flatMap(([, results]) => results.map((result) => result[CAME_COLUMN])));
    return { columns: columns.filter((number) => filled.has(number)), rows };
  }

  function draw() {
    const mark = ++drawing;
    shown = select();
    const table = $("grid");
    table.replaceChildren(make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "fixture"), ...shown.columns.map(heading))));
    table.setAttribute("aria-rowcount", shown.rows.length + 1);
    const count = shown.rows.reduce((sum, [, results]) => sum + results.length, 0);
    $("shown").textContent = shown.rows.length ? `${shown.rows.length} fixtures, ${shown.columns.length} columns, ${count} results`
      : "Nothing matches these filters.";
    let next = 0, topic = null, body = null;
    const some = () => {
      if (mark !== drawing) return;
      for (const end = Math.min(next + ROWS_AT_ONCE, shown.rows.length); next < end; next++) {
        const [fixture] = shown.rows[next];
        if (fixture.split("/")[0] !== topic) {
          topic = fixture.split("/")[0];
          body = make("tbody", { class: "topic" }, make("tr", {}, make("th", { scope: "rowgroup" }, topic)));
          table.append(body);
        }
        body.append(row(next));
      }
      if (next < shown.rows.length) setTimeout(some);
    };
    some();
    const first = table.querySelector("td[data-at]");
    if (first) first.tabIndex = 0;
  }

  function heading(number) {
    const [route, key] = data.columns[number];
    const small = several[route] > 1 ? make("small", {}, key.replaceAll("/", "\n")) : null;
    return make("th", { scope: "col", title: key }, route.replace("-", "\n"), small);
  }

  function row(number) {
    const [fixture, results] = shown.rows[number];
    const byColumn = new Map(results.map((result) => [result[CAME_COLUMN], result]));
    return make("tr", {}, make("th", { scope: "row" }, fixture.slice(fixture.indexOf("/") + 1)), ...shown.columns.map((column, place) => {
      const result = byColumn.get(column);
      if (!result) return make("td", {});
      return make("td", { class: data.kinds[result[KIND]], tabindex: "-1", "data-at": `${number},${place}` }, cellText(result));
    }));
  }

  function at(cell) {
    const [number, place] = cell.dataset.at.split(",").map(Number);
    return { number, place };
  }

  function open(cell) {
    const { number, place } = at(cell);
    const [route, on] = data.columns[shown.columns[place]];
    go({ case: `${shown.rows[number][0]}/${route}`, on });
  }

  function focus(cell) {
    for (const old of $("grid").querySelectorAll('td[tabindex="0"]')) old.tabIndex = -1;
    cell.tabIndex = 0;
    cell.focus();
  }

  const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  $("grid").addEventListener("click", (event) => { const cell = event.target.closest("td[data-at]"); if (cell) open(cell); });
  $("grid").addEventListener("keydown", (event) => {
    const cell = event.target.closest("td[data-at]");
    if (!cell) {
      if (event.key === "ArrowDown" && event.target === $("grid")) { const first = $("grid").querySelector("td[data-at]"); if (first) { focus(first); event.preventDefault(); } }
      return;
    }
    if (event.key === "Enter" || event.key === " ") { open(cell); event.preventDefault(); return; }
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    let { number, place } = at(cell);
    for (;;) {
      [number, place] = [number + move[0], place + move[1]];
      if (number < 0 || place < 0 || number >= shown.rows.length || place >= shown.columns.length) return;
      const next = $("grid").querySelector(`td[data-at="${number},${place}"]`);
      if (next) { focus(next); return; }
    }
  });

  // ---- the panel of a case

  const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const hex = (number, width) => number.toString(16).padStart(width, "0");

  function dump(bytes, offset, differing) {
    const lines = [];
    for (let start = 0; start < bytes.length; start += 16) {
      const part = [...bytes.slice(start, start + 16)];
      const codes = part.map((byte) => hex(byte, 2)).join(" ").padEnd(48);
      const letters = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
      const line = `${hex(offset + start, 8)}  ${codes} ${letters}\n`;
      const here = differing !== undefined && differing >= offset + start && differing < offset + start + 16;
      lines.push(here ? make("mark", {}, line) : line);
    }
    return make("pre", { class: "dump", tabindex: "0" }, ...(lines.length ? lines : [`${hex(offset, 8)}  (nothing)\n`]));
  }

  function stream(name, value) {
    const size = value.bytes ? `${value.bytes} bytes, SHA-256 ${value.sha256}` : "nothing";
    const parts = [make("h3", {}, name), make("p", {}, size)];
    const difference = value.difference;
    if (difference) {
      parts.push(make("p", {}, `The first difference is at byte ${difference.offset}.`), make("div", { class: "sides" },
        ...[["expected", difference.expected], ["came", difference.observed]].map(([side, bytes]) =>
          make("div", {}, make("h3", {}, side), dump(bytesOf(bytes), difference.window_offset, difference.offset)))));
    } else if (value.head) {
      parts.push(dump(bytesOf(value.head), 0));
      if (value.tail) { const tail = bytesOf(value.tail); parts.push(make("p", {}, "… and its end:"), dump(tail, value.bytes - tail.length)); }
    }
    return parts;
  }

  function find(id, on) {
    const slash = id.lastIndexOf("/");
    const [fixture, route] = [id.slice(0, slash), id.slice(slash + 1)];
    const found = data.rows.find(([name]) => name === fixture);
    const results = found ? found[1].filter((result) => data.columns[result[CAME_COLUMN]][0] === route) : [];
    const result = results.find((one) => data.columns[one[CAME_COLUMN]][1] === on) || (on ? undefined : results[0]);
    return result && { id, fixture, route, result, environment: data.columns[result[CAME_COLUMN]][1], detail: data.details[result[DETAIL]] };
  }

  function hook({ fixture, route }) {
    const told = data.fixtures[fixture], launched = data.routes.find((one) => one.id === route.split("+")[0]);
    const steps = told ? told.steps : [];
    const dialect = launched ? launched.dialects.find((name) => steps.every((step) => name in step.bodies)) : undefined;
    return { told, launched, steps, dialect: dialect || NO_DIALECT };
  }

  const list = (pairs) => make("dl", {}, ...pairs.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...[value].flat())]));

  function shell(environment) {
    for (const run of data.runs) for (const one of run.shells) {
      const [place, told, runner] = environment.split("/");
      if (run.environment === `${place}/${runner}` && told === `${one.name}-${one.version}`)
        return `${one.name} ${one.version}, ${one.path} (${one.found}); ${run.system.distribution} (release ${run.system.release})`;
    }
    return "";
  }

  function show() {
    const panel = $("panel");
    if (!state.case) {
      if (!panel.hidden) { panel.hidden = true; panel.replaceChildren(); (openedFrom && openedFrom.isConnected ? openedFrom : $("grid")).focus(); }
      return;
    }
    if (panel.hidden) openedFrom = document.activeElement;
    const found = find(state.case, state.on);
    const bar = make("div", { class: "bar" });
    const title = make("h2", { id: "panel-title" }, state.case);
    if (!found) {
      bar.append(make("button", { type: "button", class: "close", onclick: () => go({ case: "" }) }, "close"));
      panel.replaceChildren(bar, title, make("p", {}, "This report has no such case."));
    } else panel.replaceChildren(bar, title, ...content(found, bar));
    panel.hidden = false;
    panel.scrollTop = 0;
    panel.focus();
  }
  let openedFrom = null;

  function content(found, bar) {
    const { result, detail, environment } = found, { told, launched, steps, dialect } = hook(found);
    const kind = data.kinds[result[KIND]];
    const said = make("p", { role: "status" });
    bar.append(
      make("button", { type: "button", onclick: () => copy(citation(found), said) }, "copy as citation"),
      make("button", { type: "button", onclick: () => copy(`conformance repro ${found.id}`, said) }, "copy repro command"),
      make("button", { type: "button", title: "key p", onclick: () => step(-1) }, "previous"),
      make("button", { type: "button", title: "key n", onclick: () => step(1) }, "next"),
      make("button", { type: "button", class: "close", title: "key Esc", onclick: () => go({ case: "" }) }, "close"));
    const notes = [result[FLAGS] & PROVISIONAL ? "provisional: not seen before on this shell and system, so it fails no run" : "",
      result[FLAGS] & ON_TEXT ? "judged on text: the system hands on no exact bytes" : ""].filter(Boolean).join("; ");
    const parts = [said, list([
      ["result", make("span", { class: kind }, `${kind}: ${data.meanings[kind]}`)], ["", notes], ["note", notes],
      ["expected", detail.expected], ["came", detail.came], ["so", (detail.losses || []).map((loss) => loss.meaning).join("; ")],
      ["environment", environment], ["shell", shell(environment)], ["system", detail.system && `${detail.system.name} ${detail.system.version}`],
      ["seconds", detail.steps ? String(result[SECONDS]) : ""],
    ].filter(([name]) => name))];
    parts.push(make("h3", {}, "Why"), make("pre", {}, detail.reason || ""));
    if (detail.rule) parts.push(list([["rule", detail.rule.reason], ["source", link(detail.rule.url)]]));
    if (detail.deviation) parts.push(list([["documented deviation", detail.deviation.reason], ["source", link(detail.deviation.url)], ["stands at", detail.deviation.origin]]));
    if (told) parts.push(make("h3", {}, "The hook"), list([["what it is", told.summary], ["source", link(told.source)]]));
    steps.forEach((one, number) => { if (dialect) parts.push(make("h3", {}, steps.length > 1 ? `Body of step ${number + 1}, in ${dialect}` : `Body, in ${dialect}`), make("pre", {}, one.bodies[dialect])); });
    if (launched) {
      parts.push(make("h3", {}, "What the route launches"), make("pre", {}, launched.argv.map((word) => JSON.stringify(word)).join("\n")));
      if (launched.stdin !== null) parts.push(make("h3", {}, "What the route feeds on stdin"), make("pre", {}, launched.stdin));
      if (launched.source) parts.push(list([["source", link(launched.source)]]));
    }
    (detail.steps || []).forEach((one, number) => {
      const place = detail.steps.length > 1 ? ` of step ${number + 1}` : "";
      if (place) parts.push(make("h3", {}, `What came${place}`), make("p", {}, one.status));
      parts.push(...stream(`stdout${place}`, one.stdout), ...stream(`stderr${place}`, one.stderr));
      const received = one.received.map((got) => `${got.bytes} bytes, SHA-256 ${got.sha256}`).join("; ");
      parts.push(list([["stdin", `${one.sent} bytes sent${one.broke ? ", then the pipe broke" : ""}`], ["a witness received", received],
        ["marks of the body", String(one.marks)], ["decision", one.decision], ["left running, and killed", one.leftovers.join("; ")]]));
    });
    return parts;
  }

  function step(by) {
    const ids = shown.rows.flatMap(([fixture, results]) => results.map((result) => [fixture, data.columns[result[CAME_COLUMN]]]));
    const here = ids.findIndex(([fixture, [route, key]]) => `${fixture}/${route}` === state.case && (!state.on || key === state.on));
    const next = ids[(here + by + ids.length) % ids.length];
    if (next) go({ case: `${next[0]}/${next[1][0]}`, on: next[1][1] });
  }

  document.addEventListener("keydown", (event) => {
    if ($("panel").hidden || event.target.closest("input, textarea, select") && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { Escape: () => go({ case: "" }), n: () => step(1), p: () => step(-1) }[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  // ---- citations

  const longestRun = (text) => Math.max(0, ...(text.match(/`+/g) || []).map((run) => run.length));
  function code(text) {
    const line = text.replaceAll("\n", " "), ticks = "`".repeat(longestRun(line) + 1), pad = /^`|`$/.test(line) ? " " : "";
    return ticks + pad + line + pad + ticks;
  }
  function fenced(text) {
    const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
    return `${fence}text\n${text}\n${fence}\n`;
  }
  function citation(found) {
    const { detail, environment, id, result } = found, { told, launched, steps, dialect } = hook(found);
    const rows = [["case", id], ["suite", `${data.tool.name} ${data.tool.version}, SHA-256 ${data.suite.digest}`],
      ["result", data.kinds[result[KIND]]], ["expected", detail.expected], ["came", detail.came], ["environment", environment], ["shell", shell(environment)],
      ["rule", detail.rule && detail.rule.reason], ["source of the rule", detail.rule && detail.rule.url],
      ["documented deviation", detail.deviation && detail.deviation.reason], ["source of the deviation", detail.deviation && detail.deviation.url],
      ["hook", told && told.summary], ["repro", `conformance repro ${id}`]];
    const parts = [`### ${code(id)}\n`, rows.filter(([, value]) => value).map(([name, value]) => `- ${name}: ${code(value)}`).join("\n") + "\n"];
    for (const one of steps) if (dialect) parts.push(`body in ${dialect}:\n`, fenced(one.bodies[dialect]));
    if (launched) parts.push("argv of the route, an argument a line:\n", fenced(launched.argv.join("\n")));
    parts.push("in full:\n", fenced(detail.reason || ""));
    return parts.join("\n");
  }

  async function copy(text, said) {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied.";
    } catch {
      const area = make("textarea", { readonly: true, "aria-label": "To be copied" });
      area.value = text;
      said.replaceChildren(area);
      area.focus();
      area.select();
      let copied = false;
      try { copied = document.execCommand("copy"); } catch { /* then the reader copies it */ }
      said.prepend(copied ? "Copied." : "Copy this:");
    }
  }

  // ---- what was run

  $("about").querySelector("div").append(list([["suite", `${data.tool.name} ${data.tool.version}, SHA-256 ${data.suite.digest}`], ["matrices", data.suite.matrices.join(", ")]]),
    ...data.runs.flatMap((run) => [make("h3", {}, `${run.environment}, shard ${run.shard.part}/${run.shard.of}`), list([
      ["selection", run.selection], ["cases", String(run.cases)], ["started", run.started_at], ["system", `${run.system.distribution} (release ${run.system.release}), Python ${run.system.python}`],
      ...run.shells.map((one) => [`shell ${one.asked}`, one.unavailable || `${one.name} ${one.version}, ${one.path} (${one.found})`])])]));

  // ---- light and dark

  function remembered(value) {
    try { if (value) localStorage.setItem("conformance-theme", value); else return localStorage.getItem("conformance-theme"); } catch { /* not from here */ }
    return null;
  }
  const root = document.documentElement;
  const theme = remembered();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  $("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remembered(root.dataset.theme);
  });

  // ---- from the address to the page

  function follow() {
    read();
    showFilters();
    const wanted = address({ case: "", on: "" });
    if (wanted !== drawn) { drawn = wanted; draw(); }
    show();
  }
  for (const id of ["filters", "scroller", "about"]) $(id).hidden = false;
  addEventListener("hashchange", () => { if (location.hash !== "#grid") follow(); });
  follow();
})();
