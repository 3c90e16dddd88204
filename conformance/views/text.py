"""Text of others, made safe to show."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return `text` with control and bidirectional characters escaped, so that it cannot play with a terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)
