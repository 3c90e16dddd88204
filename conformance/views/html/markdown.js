// A citation as Markdown that can be pasted into an issue, exactly as `conformance cite` writes it. All texts of the page
// are printable already; nothing in them can break out of its place.

const NEEDS_NO_ESCAPE = /^(?:(?!\p{Nd}+[.)])[\p{L}\p{N}](?:[\p{L}\p{N}]|[ .,:;'"()/?=+%-])*)?$/u;
const BECOMES_A_LINK = /www\.|:\/\/|(?<![\p{L}\p{N}_])GH-\p{Nd}/iu; // what GitHub makes a link of wherever it stands

function asMarkdown(title, blocks) {
  return `### ${escaped(title)}\n\n${blocks.map(blockAsMarkdown).join("\n")}`;
}

function blockAsMarkdown({ kind, rows, name, text }) {
  if (kind === "sentences") return `${escaped(text)}\n`;
  if (kind === "verbatim") return `${escaped(name)}:\n\n${fenced(text)}`;
  return rows.map(([field, value]) => `- ${escaped(field)}: ${escaped(value)}\n`).join("");
}

function fenced(text) {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}text\n${text}\n${fence}\n`;
}

function escaped(text) {
  const line = text.replaceAll("\n", " ");
  if (/^https?:\/\/[^\s<>]+$/.test(line)) return `<${line}>`;
  return NEEDS_NO_ESCAPE.test(line) && !BECOMES_A_LINK.test(line) ? line : code(line);
}

function code(text) {
  const line = text || " ";
  const ticks = "`".repeat(longestRun(line) + 1);
  const pad = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return ticks + pad + line + pad + ticks;
}

function longestRun(text) {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
