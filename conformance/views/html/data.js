// The report, as the page holds it: results are lists of numbers, which refer to texts and lists that stand once.

const overview = jsonOf("overview");
const pool = jsonOf("pool");
const fixtures = jsonOf("results").map(([id, summary, stdin, ...results]) => ({
  id, summary: pool.texts[summary], stdin: stdin.map((words) => pool.texts[words]), results,
}));
const fixtureOf = new Map(fixtures.map((fixture) => [fixture.id, fixture]));
const columns = overview.columns.map(([route, environment]) => ({ route, environment }));
const COLUMN = 0, KIND = 1, PROVISIONAL = 2, CELL = 3, TITLE = 4, BLOCKS = 5, STEPS = 6, SECONDS = 7;
const NOT_RUN = ["skipped", "unavailable"];

function jsonOf(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

function kindOf(result) {
  return overview.kinds[result[KIND]];
}

function cellOf(result) {
  return pool.texts[result[CELL]];
}

function idOf(fixture, result) {
  return `${fixture.id}/${columns[result[COLUMN]].route}`;
}

/** Return what stands before the last slash of a case's id, which is its fixture, and what stands behind, its route. */
function partsOf(id) {
  const slash = id.lastIndexOf("/");
  return [id.slice(0, slash), id.slice(slash + 1)];
}

/** Return the results of the case `id`, each of its environment. */
function resultsOf(id) {
  const [fixture, route] = partsOf(id);
  return (fixtureOf.get(fixture)?.results ?? []).filter((result) => columns[result[COLUMN]].route === route);
}

/** Return a block of a citation: fields with `rows`, something verbatim with `name` and `text`, or sentences. */
function blockOf(number) {
  const [kind, ...parts] = pool.lists[number];
  if (kind === "fields") {
    return { kind, rows: parts.map((pair) => pool.lists[pair].map((text) => pool.texts[text])) };
  }
  const [name, text] = kind === "verbatim" ? parts : [null, ...parts];
  return { kind, name: name === null ? "" : pool.texts[name], text: pool.texts[text] };
}

function streamOf(number) {
  const [bytes, sha256, head, tail, difference] = pool.lists[number];
  return { bytes, sha256, head: bytesOf(head), tail: bytesOf(tail), difference };
}

function stepOf(number) {
  const [status, stdout, stderr, sent, broken, marks, received, leftovers, repetition, decision] = pool.lists[number];
  return {
    status: pool.texts[status], stdout: streamOf(stdout), stderr: streamOf(stderr), sent, broken: Boolean(broken), marks,
    received: received.map(([bytes, sha256]) => ({ bytes, sha256: pool.texts[sha256] })),
    leftovers: leftovers.map((command) => pool.texts[command]), repetition, decision,
  };
}

/** Return a test of whether a result says `text` anywhere; each text and block is looked into once. */
function mentioning(text) {
  const wanted = text.toLowerCase();
  if (!wanted) return () => true;
  const texts = pool.texts.map((one) => one.toLowerCase().includes(wanted));
  const blocks = new Map();
  const inBlock = (number) => {
    if (!blocks.has(number)) {
      const [kind, ...parts] = pool.lists[number];
      blocks.set(number, kind === "fields" ? parts.some((pair) => texts[pool.lists[pair][1]]) : texts[parts.at(-1)]);
    }
    return blocks.get(number);
  };
  return (result) => result[BLOCKS].some(inBlock); // the id is among them
}
