"""Templates: what is one, what is none, and that the filters say to a shell what they should."""

from __future__ import annotations

import base64
import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.template import FILTERS, Placeholder, placeholders, render

NAMES = ("body", "body_file", "native", "mark", "file", "ps-host")
PLACEHOLDERS = st.builds(
    Placeholder,
    st.sampled_from(NAMES),
    st.one_of(st.none(), st.text("ABCabc 0123456789-_./:=$'\"\\", max_size=8)),
    st.lists(st.sampled_from(sorted(FILTERS)), max_size=3).map(tuple),
)
PLAIN = st.one_of(
    st.text("ab {}|:\n$", max_size=12).filter(lambda text: "{{a" not in text and "{{b" not in text),
    st.sampled_from(
        [
            "$x = @{a = 1}",
            "{ {0} }",
            "% { $_ }",
            "&{{ throw }}",
            "{{ body }}",
            "{{$_}}",
            "{{\nbody}}",
            "{{}}",
            "}}",
            "{{",
        ]
    ),
)


def written(placeholder: Placeholder) -> str:
    argument = "" if placeholder.argument is None else f":{placeholder.argument}"
    return "{{" + placeholder.name + argument + "".join(f"|{name}" for name in placeholder.filters) + "}}"


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[str], list[Placeholder]]:
    """Return plain parts, and the templates that stand between them; a brace beside a template changes nothing."""
    found = draw(st.lists(PLACEHOLDERS, max_size=4))
    return draw(st.lists(PLAIN, min_size=len(found) + 1, max_size=len(found) + 1)), found


def joined(parts: list[str], between: list[str]) -> str:
    return parts[0] + "".join(text + part for text, part in zip(between, parts[1:], strict=True))


@settings(max_examples=200, deadline=None)
@given(texts())
def test_templates_are_found_and_replaced_one_by_one(text: tuple[list[str], list[Placeholder]]) -> None:
    parts, found = text
    template = joined(parts, [written(placeholder) for placeholder in found])
    assert list(placeholders(template, NAMES)) == found
    asked: list[Placeholder] = []

    def value(placeholder: Placeholder) -> str:
        asked.append(placeholder)
        return f"<{placeholder.name} {{{{mark}}}}>"

    expected = []
    for placeholder in found:
        result = f"<{placeholder.name} {{{{mark}}}}>"
        for name in placeholder.filters:
            result = FILTERS[name](result)
        expected.append(result)
    assert render(template, value) == joined(parts, expected)
    assert asked == found


@settings(max_examples=200, deadline=None)
@given(st.one_of(PLAIN, st.text("{}ab|:\n -", max_size=20)))
def test_what_is_checked_is_what_is_rendered(text: str) -> None:
    """No text passes the check and is then rendered with a name that was never checked."""
    try:
        checked = list(placeholders(text, NAMES))
    except ValueError:
        return
    rendered: list[Placeholder] = []

    def value(placeholder: Placeholder) -> str:
        rendered.append(placeholder)
        return ""

    render(text, value)
    assert rendered == checked


@pytest.mark.parametrize("text", ["a\nb\n", "a\r\nb\r\n", "a\nb\r\n"])
def test_crlf_ends_every_line_once(text: str) -> None:
    assert render("{{body|crlf}}", lambda _: text) == "a\r\nb\r\n"


@pytest.mark.parametrize(
    "text",
    [
        "if ($x) {{7}}",
        "{x}",
        "{{ body }}",
        "& {{ throw 'x' }}",
        "@{a={{1}}}",
        "$h = @{ a = @{ b = 1 }}",
        "${{a}",
        "'{0}' -f 1",
        "%{{$_}}",
        "{{}}",
        "function f {{\nGet-Date\n}}",
    ],
)
def test_braces_of_powershell_are_left_alone(text: str) -> None:
    assert placeholders(text, NAMES) == ()
    assert render(text, lambda _: "changed") == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{bdy}}", "unknown template {{bdy}}: the names here are body, body_file"),
        ("{{Body}}", "unknown template {{Body}}"),
        ("a {{native:7}} {{nativ:7}}", "unknown template {{nativ:7}}"),
        (
            "{{body|quote}}",
            "unknown filter |quote in {{body|quote}}: the filters are base64, base64-utf16, crlf, ps-escape, ps-quote",
        ),
        ("{{body|base64|quote}}", "unknown filter |quote"),
        ("{{body|}}", "{{body|}} is"),
        ("{{body |base64}}", "{{body |base64}} is"),
        ("{{body }}", "{{body }} is"),
        ("{{file:a|b:c}}", "{{file:a|b:c}} is"),
    ],
)
def test_what_only_looks_like_a_known_template_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"\{\{") as caught:
        placeholders(text, NAMES)
    assert message in str(caught.value)


TEXTS = st.text(max_size=30).map(lambda text: text.replace("\0", ""))


def through_sh(script: str) -> str:
    completed = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True, timeout=60)
    return completed.stdout.decode()


@settings(max_examples=25, deadline=None)
@given(st.one_of(TEXTS, st.text("a'\"\\$`\n {}|", max_size=20)))
def test_sh_quote_inside_single_quotes_gives_the_text_back(text: str) -> None:
    assert through_sh(render("printf '%s' '{{body|sh-quote}}'", lambda _: text)) == text


def test_a_body_that_is_quoted_for_a_shell_in_a_shell_runs_as_it_stands() -> None:
    body = "printf \"%s\" 'it'\"'\"'s {{ done }}'; exit 7"
    script = render("sh -c '{{body|sh-quote}}' || printf ' %s' $?", lambda _: body)
    assert through_sh(script) == "it's {{ done }} 7"
    twice = render("sh -c 'sh -c '\\''{{body|sh-quote|sh-quote}}'\\'' || printf \" %s\" $?'", lambda _: body)
    assert through_sh(twice) == "it's {{ done }} 7"


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_the_other_filters_can_be_undone(text: str) -> None:
    def filtered(name: str) -> str:
        return render(f"{{{{body|{name}}}}}", lambda _: text)

    assert base64.b64decode(filtered("base64"), validate=True).decode() == text
    assert base64.b64decode(filtered("base64-utf16"), validate=True).decode("utf-16-le") == text
    assert filtered("ps-quote").split("''") == text.split("'")
    escaped = filtered("ps-escape")
    assert not {"\r", "\n", "\x1b"} & set(escaped)
    meant = re.sub("`(.)", lambda match: {"n": "\n", "e": "\x1b"}.get(match[1], match[1]), escaped)
    assert meant == text.replace("\r", "")
    assert not re.search(r'["$]', re.sub("`.", "", escaped))
