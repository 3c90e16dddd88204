// What is known of one case.

const WHOLE_TEXT_BYTES = 400;
const SIDE_WIDTH = 8;
const DUMP_WIDTH = 16;

/** Return the parts of the panel on a result. */
function caseParts(fixture, result) {
  const [outcome, ...rest] = result[BLOCKS].map(blockOf);
  const again = rest.pop();
  const reason = rest.pop();
  const kind = kindOf(result);
  return [
    make("p", { class: "outcome" }, make("b", { class: kind.name }, cellOf(result)), pool.texts[result[TITLE]].replace(/^: /, " ")),
    blockParts(outcome),
    elsewhere(fixture, result),
    make("section", {}, make("h3", {}, "why"), make("pre", { class: "reason" }, reason.text)),
    ...result[STEPS].flatMap((step, number) => stepParts(stepOf(step), number, fixture, result)),
    ...rest.map(blockParts),
    blockParts(again),
  ];
}

function blockParts({ kind, rows, name, text }) {
  if (kind === "sentences") return make("p", {}, text);
  if (kind === "verbatim") return make("section", {}, make("h3", {}, name), make("pre", {}, text));
  return fields(rows);
}

function fields(rows) {
  return make("dl", {}, ...rows.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, linked(value))]));
}

/** Return `value`, as a link where it is an address of the web and nothing else. */
function linked(value) {
  if (typeof value !== "string" || !/^https?:\/\/[^\s<>"\\]+$/.test(value)) return value;
  return make("a", { href: value, rel: "noopener noreferrer" }, value);
}

/** Return links to the same case in the other environments that the report has. */
function elsewhere(fixture, result) {
  const id = idOf(fixture, result);
  const others = resultsOf(id).filter((other) => other !== result);
  if (!others.length) return "";
  return fields(others.map((other) => {
    const { environment } = columns[other[COLUMN]];
    const href = addressOf({ ...asked(location.hash), case: id, on: environment });
    return ["elsewhere", make("a", { href }, `${cellOf(other)} on ${environment}`)];
  }));
}

function stepParts(step, number, fixture, result) {
  const several = result[STEPS].length > 1 || step.repetition > 1;
  const repetition = step.repetition > 1 ? `, its repetition ${step.repetition}` : "";
  const rows = fixture.stdin[number] ? [["stdin holds", fixture.stdin[number]]] : [];
  rows.push(["stdin", `${counted(step.sent, "byte")} sent${step.broken ? ", until the reader closed the pipe" : ""}`]);
  for (const { bytes, sha256 } of step.received) rows.push(["witness read", `${counted(bytes, "byte")}, SHA-256 ${sha256}`]);
  rows.push(["witness marks", String(step.marks)]);
  if (step.decision) rows.push(["decision", step.decision]);
  for (const command of step.leftovers) rows.push(["left running, killed", command]);
  rows.push(["took", `${result[SECONDS][number]} s`]);
  return [
    make("h3", {}, several ? `step ${number + 1} of ${result[STEPS].length}${repetition}: ${step.status}` : `what came: ${step.status}`),
    streamParts("stdout", step.stdout),
    streamParts("stderr", step.stderr),
    fields(rows),
  ];
}

function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function streamParts(name, stream) {
  const section = make("section", { class: "stream" }, make("h4", {}, `${name}: ${stream.bytes ? counted(stream.bytes, "byte") : "empty"}`));
  section.append(make("p", { class: "digest" }, `SHA-256 ${stream.sha256}`));
  if (stream.difference) section.append(...sides(stream.difference));
  if (stream.bytes) section.append(...ends(stream));
  return section;
}

/** Return both hexdumps around the first difference, next to each other. */
function sides([offset, window, expected, observed]) {
  const [left, right] = [bytesOf(expected), bytesOf(observed)];
  const differs = (index) => left[index] !== right[index];
  const side = (name, bytes) => make("figure", {}, make("figcaption", {}, name), hexdump(bytes, window, SIDE_WIDTH, differs));
  return [
    make("p", {}, `The first difference is at byte offset ${offset}${offset > 9 ? ` (0x${hex(offset, 0)})` : ""}.`),
    make("div", { class: "sides" }, side("expected", left), side("came", right)),
  ];
}

function ends({ bytes, head, tail }) {
  if (head.length >= bytes) return part(bytes <= WHOLE_TEXT_BYTES ? "all of it" : "all of it, as text", head, 0);
  return [
    ...part(`the first ${counted(head.length, "byte")}`, head, 0),
    ...(tail.length ? part(`the last ${counted(tail.length, "byte")}`, tail, bytes - tail.length) : []),
  ];
}

function part(name, bytes, first) {
  return [
    make("details", { open: bytes.length <= WHOLE_TEXT_BYTES }, make("summary", {}, name), make("pre", {}, escapedBytes(bytes))),
    later("hexdump", () => hexdump(bytes, first, DUMP_WIDTH)),
  ];
}

/** Return something folded, which is made when it is opened. */
function later(name, content) {
  const details = make("details", {}, make("summary", {}, name));
  details.addEventListener("toggle", () => details.append(content()), { once: true });
  return details;
}

/** Return the Markdown of a result for a bug report. */
function citation(fixture, result) {
  return asMarkdown(idOf(fixture, result) + pool.texts[result[TITLE]], result[BLOCKS].map(blockOf));
}

function reproCommand(fixture, result) {
  return `conformance repro ${idOf(fixture, result)}`;
}

/** Put `text` on the clipboard; where that is not allowed, show it selected, to be copied by hand. */
async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
    said.replaceChildren("Copied.");
  } catch {
    const area = make("textarea", { readonly: true, rows: 8, "aria-label": "To be copied" });
    area.value = text;
    said.replaceChildren("Copy what is selected here: ", area);
    area.focus();
    area.select();
  }
}
