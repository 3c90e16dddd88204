// Which results are shown, and the grid of them. Rows are made a screenful at a time, so a large report is there at once.

const ROWS_AT_FIRST = 60;
const SLICE_MS = 12;

/** Return the rows and columns that `what` asks for, and the hits: all [row, result] in the order of reading. */
function selected(what) {
  const allowed = columns.map(({ route, environment }) => among(what.route, route) && among(what.environment, environment));
  const says = mentioning(what.text);
  const fixtureText = what.fixture.toLowerCase();
  const rows = [];
  const hits = [];
  const used = new Set();
  for (const fixture of fixtures) {
    if (!fixture.id.includes(fixtureText)) continue;
    const results = fixture.results.filter((result) => allowed[result[COLUMN]]);
    if (what.differs && !differ(results)) continue;
    const hit = results.filter((result) => among(what.result, kindOf(result).name) && says(result));
    if (!hit.length) continue;
    const row = { fixture, results, hit: new Set(hit) };
    for (const result of hit) {
      used.add(result[COLUMN]);
      hits.push([row, result]);
    }
    rows.push(row);
  }
  return { rows, hits, columns: [...columns.keys()].filter((number) => used.has(number)) };
}

function among(wanted, value) {
  return !wanted.length || wanted.includes(value);
}

/** Tell whether what was run came out differently. */
function differ(results) {
  const ran = results.filter((result) => !NOT_RUN.includes(kindOf(result).name));
  return new Set(ran.map((result) => cellOf(result).replace(/[?~]/g, ""))).size > 1;
}

/** Draws what is selected into the table, and moves the focus in it. */
class Grid {
  constructor(table, open) {
    this.table = table;
    this.open = open;
    this.shown = { rows: [], hits: [], columns: [] };
    this.lines = []; // the <tr> of each row that was made
    this.focused = null; // the cell that Tab comes back to
    this.timer = 0;
    table.addEventListener("keydown", (event) => this.key(event));
    table.addEventListener("click", (event) => this.openCell(event.target.closest("td")));
  }

  draw(shown) {
    clearTimeout(this.timer);
    this.shown = shown;
    this.lines = [];
    this.focused = null;
    this.topic = null;
    this.table.replaceChildren();
    this.table.setAttribute("aria-rowcount", String(shown.rows.length + 1));
    this.table.setAttribute("aria-colcount", String(shown.columns.length + 1));
    if (!shown.rows.length) return;
    this.table.append(...this.heads());
    this.makeRows(ROWS_AT_FIRST);
    this.setFocusable(this.lines[0].querySelector("td"));
    this.makeRest();
  }

  makeRest() {
    if (this.lines.length === this.shown.rows.length) return;
    this.timer = setTimeout(() => {
      const end = performance.now() + SLICE_MS;
      while (this.lines.length < this.shown.rows.length && performance.now() < end) this.makeRows(this.lines.length + 20);
      this.makeRest();
    });
  }

  /** Make the first `count` rows, as far as they are not there. */
  makeRows(count) {
    for (let number = this.lines.length; number < Math.min(count, this.shown.rows.length); number += 1) {
      const row = this.shown.rows[number];
      const [topic, name] = partsOf(row.fixture.id);
      if (topic !== this.topic) this.startTopic(topic);
      const line = this.line(row, name, number);
      this.lines.push(line);
      this.body.append(line);
    }
  }

  startTopic(topic) {
    this.topic = topic;
    const head = make("th", { scope: "rowgroup", colspan: this.shown.columns.length + 1 }, make("span", {}, topic));
    this.body = make("tbody", {}, make("tr", { class: "topic" }, head));
    this.table.append(this.body);
  }

  line(row, name, number) {
    const byColumn = new Map(row.results.map((result) => [result[COLUMN], result]));
    const line = make("tr", { "aria-rowindex": number + 2 }, make("th", { scope: "row", title: row.fixture.summary }, name));
    for (const column of this.shown.columns) line.append(this.cell(row, byColumn.get(column)));
    return line;
  }

  cell(row, result) {
    if (result === undefined) return make("td", { tabindex: -1, class: "none", "aria-label": "no result" }, "-");
    const kind = kindOf(result).name;
    const td = make("td", { tabindex: -1, class: row.hit.has(result) ? kind : `${kind} other` }, cellOf(result));
    td.setAttribute("aria-label", `${kind} ${cellOf(result).split(" ").slice(1).join(" ")}${result[PROVISIONAL] ? " provisional" : ""}`);
    return td;
  }

  /** Return the widths of the columns and their heads: the routes, and the environments where a route has several. */
  heads() {
    const groups = [];
    for (const number of this.shown.columns) {
      const { route } = columns[number];
      if (groups.at(-1)?.route === route) groups.at(-1).numbers.push(number);
      else groups.push({ route, numbers: [number] });
    }
    const named = groups.filter(({ route }) => columns.filter((column) => column.route === route).length > 1);
    const routes = make("tr", {}, make("th", { scope: "col", rowspan: named.length ? 2 : 1, class: "corner" }, "fixture"));
    const environments = make("tr", { class: "environments" });
    for (const group of groups) {
      const several = named.includes(group);
      routes.append(make("th", {
        scope: several ? "colgroup" : "col", colspan: group.numbers.length, rowspan: named.length && !several ? 2 : 1,
        title: several ? group.route : `${group.route} on ${columns[group.numbers[0]].environment}`,
      }, make("span", {}, ...breakable(group.route, "-"))));
      if (!several) continue;
      for (const number of group.numbers) {
        const { environment } = columns[number];
        environments.append(make("th", { scope: "col", title: environment }, ...breakable(environment, "/")));
      }
    }
    return [this.widths(named), make("thead", {}, routes, ...(named.length ? [environments] : []))];
  }

  /** A column is as wide as its longest cell, and the longest part of its head. */
  widths(named) {
    const width = new Map(this.shown.columns.map((number) => [number, this.headWidth(number, named)]));
    for (const row of this.shown.rows) {
      for (const result of row.results) {
        const column = result[COLUMN];
        if (width.has(column)) width.set(column, Math.max(width.get(column), cellOf(result).length));
      }
    }
    const group = make("colgroup", {}, make("col", { class: "fixture" }));
    for (const characters of width.values()) {
      const col = make("col");
      col.style.width = `calc(${characters}ch + 1rem + 2px)`;
      group.append(col);
    }
    this.table.style.setProperty("--columns", `${[...width.values()].reduce((sum, one) => sum + one, 0)}ch`);
    this.table.style.setProperty("--count", width.size);
    return group;
  }

  headWidth(number, named) {
    const { route, environment } = columns[number];
    const parts = named.some((group) => group.route === route) ? environment.split("/") : route.split("-");
    return Math.min(24, Math.max(5, ...parts.map((part) => part.length + 1)));
  }

  key(event) {
    const td = event.target.closest("td");
    if (!td || event.altKey || event.metaKey) return;
    const [row, column] = this.placeOf(td);
    const last = this.shown.columns.length - 1;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [Math.max(0, row - 10), column], PageDown: [Math.min(this.shown.rows.length - 1, row + 10), column],
      Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? this.shown.rows.length - 1 : row, last],
    }[event.key];
    if (to) this.focus(...to);
    else if (event.key === "Enter" || event.key === " ") this.openCell(td);
    else return;
    event.preventDefault();
  }

  placeOf(td) {
    return [this.lines.indexOf(td.parentElement), td.cellIndex - 1];
  }

  openCell(td) {
    if (!td) return;
    const [row, column] = this.placeOf(td);
    const { fixture, results } = this.shown.rows[row];
    const result = results.find((one) => one[COLUMN] === this.shown.columns[column]);
    this.setFocusable(td);
    if (result) this.open(fixture, result);
  }

  focus(row, column) {
    this.makeRows(row + 1);
    const td = this.lines[row]?.cells[column + 1];
    if (!td || column < 0) return;
    this.setFocusable(td);
    td.focus();
  }

  /** Let Tab come to the cell of a result, and to no other. */
  setFocusable(td) {
    if (this.focused) this.focused.tabIndex = -1;
    this.focused = td;
    td.tabIndex = 0;
  }

  /** Put the focus on the cell of a result, or on the one that last had it. */
  focusOn(fixture, result) {
    const row = this.shown.rows.findIndex((one) => one.fixture === fixture);
    const column = result ? this.shown.columns.indexOf(result[COLUMN]) : -1;
    if (row >= 0 && column >= 0) this.focus(row, column);
    else (this.focused ?? this.table).focus();
  }

  /** Show which cell the panel is about. */
  markCurrent(fixture, result) {
    this.table.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
    const row = this.shown.rows.findIndex((one) => one.fixture === fixture);
    const column = result ? this.shown.columns.indexOf(result[COLUMN]) : -1;
    if (row < 0 || column < 0) return;
    this.makeRows(row + 1);
    const td = this.lines[row].cells[column + 1];
    td.setAttribute("aria-selected", "true");
    td.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

function breakable(text, where) {
  return text.split(where).flatMap((part, number) => (number ? [where, make("wbr"), part] : [part]));
}
