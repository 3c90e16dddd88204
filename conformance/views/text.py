"""Text of others, made safe to show."""

from __future__ import annotations

import re

_LOG_COMMAND = re.compile(r"(?<!\S):(?=:)|#(?=#\w*\[)")
"""The first character of what a CI system would take from a log for a command.

GitHub takes `::` at the beginning of a line, after blanks, and `##[` anywhere in it; Azure Pipelines takes `##vso[`,
TeamCity `##teamcity[`. A `::` behind any blank counts, since whatever prints it may break the line there.
Sources: https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
https://www.jetbrains.com/help/teamcity/service-messages.html
"""
_KEPT = str.maketrans("", "", "\n\t")


def printable(text: str) -> str:
    r"""Return `text` with what could play with a terminal, or command a CI system that reads the log, as escapes.

    These are control and bidirectional characters, and the beginnings of commands: `\x3a:error::`, `\x23#[error]`.
    """
    if not text.translate(_KEPT).isprintable():
        text = "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)
    return _LOG_COMMAND.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def shortened(text: str, characters: int) -> str:
    """Return `text`, or its beginning and how much is left out where it has more than `characters`."""
    left_out = len(text) - characters
    return text if left_out <= 0 else f"{text[:characters]}[... and {left_out} characters more]"
