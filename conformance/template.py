"""`{{name}}`, `{{name:argument}}` and `{{name|filter}}` in bodies, argv and files.

The names are a closed set, and `{x}` stays legal PowerShell. Text in double braces that starts with a letter is always
taken for a template, so that a misspelt one cannot pass for shell code; `{{ x }}`, with a space, is left alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

_TEMPLATE = re.compile(r"\{\{(?P<name>[A-Za-z][\w-]*)(?::(?P<argument>[^{}|\n]*))?(?P<filters>(?:\|[\w-]+)*)\}\}")
_LOOKS_LIKE_ONE = re.compile(r"\{\{[A-Za-z][^{}\n]*\}\}")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One template of a text, for example `{{body|ps-quote}}`."""

    name: str
    argument: str | None
    filters: tuple[str, ...]


def _powershell_quote(text: str) -> str:
    return text.replace("'", "''")


def _powershell_escape(text: str) -> str:
    """Return `text` for a string in double quotes on one line (about_Quoting_Rules, about_Special_Characters)."""
    for character, escape in (("`", "``"), ('"', '`"'), ("$", "`$"), ("\r", ""), ("\n", "`n"), ("\x1b", "`e")):
        text = text.replace(character, escape)
    return text


def _posix_quote(text: str) -> str:
    return text.replace("'", "'\\''")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _base64_utf16(text: str) -> str:
    return base64.b64encode(text.encode("utf-16-le")).decode()


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


FILTERS: Mapping[str, Callable[[str], str]] = {
    "ps-quote": _powershell_quote,
    "ps-escape": _powershell_escape,
    "sh-quote": _posix_quote,
    "base64": _base64,
    "base64-utf16": _base64_utf16,
    "crlf": _crlf,
}


def placeholders(text: str, names: Collection[str]) -> tuple[Placeholder, ...]:
    """Return the templates of `text`, in order.

    Raises ValueError for a name outside `names`, an unknown filter, or braces that only look like a template.
    """
    found = []
    for candidate in _LOOKS_LIKE_ONE.finditer(text):
        match = _TEMPLATE.fullmatch(candidate.group())
        if match is None:
            raise ValueError(
                f"{candidate.group()} is no template: write {{{{name}}}}, {{{{name:argument}}}} or {{{{name|filter}}}}"
            )
        placeholder = _placeholder(match)
        if placeholder.name not in names:
            raise ValueError(f"unknown template {candidate.group()}: the names here are {', '.join(sorted(names))}")
        for name in placeholder.filters:
            if name not in FILTERS:
                raise ValueError(
                    f"unknown filter |{name} in {candidate.group()}: the filters are {', '.join(sorted(FILTERS))}"
                )
        found.append(placeholder)
    return tuple(found)


def parts(text: str) -> Iterator[str | Placeholder]:
    """Yield `text` cut into its templates and what stands between them, which is never empty."""
    end = 0
    for match in _TEMPLATE.finditer(text):
        if match.start() > end:
            yield text[end : match.start()]
        yield _placeholder(match)
        end = match.end()
    if end < len(text):
        yield text[end:]


def render(text: str, value: Callable[[Placeholder], str]) -> str:
    """Return `text` with every template replaced by its value, passed through its filters from left to right."""

    def replacement(match: re.Match[str]) -> str:
        placeholder = _placeholder(match)
        result = value(placeholder)
        for name in placeholder.filters:
            result = FILTERS[name](result)
        return result

    return _TEMPLATE.sub(replacement, text)


def _placeholder(match: re.Match[str]) -> Placeholder:
    filters = tuple(match["filters"].split("|")[1:])
    return Placeholder(match["name"], match["argument"], filters)
