"""Words and texts of bash, in which nothing is invisible."""

from __future__ import annotations

import shlex
import string
from collections.abc import Iterable


def lines(texts: tuple[str, ...]) -> str:
    """Return one word of bash that means `texts`, a line each."""
    return quoted("\n".join(texts))


def array(name: str, words: Iterable[str]) -> str:
    """Return the lines that set the array `name` to `words`, which are quoted already."""
    return f"{name}=(\n" + "".join(f"  {word}\n" for word in words) + ")\n"


def heredoc(command: str, text: str, word: str) -> str:
    """Return the lines that feed `text`, which ends in a newline, to `command` as it stands."""
    while f"{word}\n" in text:
        word += "_"
    return f"{command} <<'{word}'\n{text}{word}\n"


def quoted(text: str) -> str:
    """Return one word of bash that means `text`, in which nothing is invisible."""
    if text.isprintable():
        return shlex.quote(text)
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "$'" + "".join(escapes.get(char) or _octal(char) for char in text) + "'"


def _octal(char: str) -> str:
    return char if char.isprintable() else "".join(f"\\{byte:03o}" for byte in char.encode())


def printf_format(data: bytes) -> str:
    """Return the format with which printf writes `data`."""
    plain = frozenset((string.ascii_letters + string.digits + " !#$&()*+,-./:;<=>?@[]^_{|}~").encode())
    named = {10: "\\n", 13: "\\r", 9: "\\t"}
    return "".join(chr(byte) if byte in plain else named.get(byte, f"\\{byte:03o}") for byte in data)
