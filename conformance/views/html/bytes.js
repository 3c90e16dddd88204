// Bytes of hooks, made visible. Whatever is not plain ASCII is shown as an escape.

/** Return the bytes that `text` holds in base64. */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** Return a string that shows `bytes` exactly, with line breaks and tabs as they are. */
function escapedBytes(bytes) {
  return Array.from(bytes, (byte) => {
    if (byte === 0x5c) return "\\\\";
    return isPlain(byte) || byte === 0x0a || byte === 0x09 ? String.fromCharCode(byte) : `\\x${hex(byte, 2)}`;
  }).join("");
}

function isPlain(byte) {
  return byte >= 0x20 && byte < 0x7f;
}

function hex(number, digits) {
  return number.toString(16).padStart(digits, "0");
}

/** Return a `<pre>` with a row for each `width` bytes; the bytes that `marked(index)` names stand out. */
function hexdump(bytes, first, width, marked = () => false) {
  const pre = make("pre", { class: "dump" });
  const digits = Math.max(4, hex(first + bytes.length, 0).length);
  for (let start = 0; start < bytes.length; start += width) {
    const row = Array.from(bytes.subarray(start, start + width));
    pre.append(`${hex(first + start, digits)} `);
    row.forEach((byte, column) => pre.append(" ", mark(hex(byte, 2), marked(start + column))));
    pre.append("   ".repeat(width - row.length), "  ");
    row.forEach((byte, column) => pre.append(mark(isPlain(byte) ? String.fromCharCode(byte) : ".", marked(start + column))));
    pre.append("\n");
  }
  if (!bytes.length) pre.append("(no byte)");
  pre.normalize();
  return pre;
}

function mark(text, stands) {
  return stands ? make("mark", {}, text) : text;
}
