"""Scripts for bash 3.2 or newer, which is what macOS has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from conformance import witness
from conformance.payload import Literal, Payload, Repeat, Stream
from conformance.repro import FILLER, Recipe, Text, comment_lines, program_names
from conformance.repro.bash_words import array, heredoc, lines, printf_format, quoted
from conformance.repro.writer import ScriptWriter, plain
from conformance.runners.local_posix import NATIVE_SCRIPT, child_environment, wired
from conformance.template import Placeholder
from conformance.witness import BLOCK_BYTES

TICKS_PER_SECOND = 20
_LAUNCH = """\
env_options=(-i)
# A signal that is ignored here would be ignored in the hook as well, if env cannot undo that.
if env --default-signal true 2>/dev/null; then env_options+=(--default-signal); fi
launch() { cd "$folder/case/work" && exec env "${env_options[@]}" "${environment[@]}" "${argv[@]}"; }

"""
_USAGE = """
Run it with bash, from a file or from a pipe: bash FILE, or bash -s < FILE. It needs {programs}.
It works in a private folder in TMPDIR or /tmp, which it removes, and stops what it started.
It prints how the launch ended, what came on stdout and stderr (length, SHA-256, and the bytes where they are few) and
whether the body left a mark. Exit codes: 0 the contract was kept, 1 it was broken, 3 a program is missing.
"""
_FOLDER = """
# The folder's path stands in the body without quotes, so it must be a plain one.
folder=
for parent in "${TMPDIR:-}" /tmp /var/tmp; do
  case $parent in
    *[!A-Za-z0-9._/-]*) continue ;;
    /*) folder=$(mktemp -d "$parent/repro-XXXXXXXX" 2>/dev/null) && break ;;
  esac
done
[ -n "$folder" ] || fail 'No folder can be made in TMPDIR, /tmp or /var/tmp. Make room there.'
running=
clean_up() {
  if [ -n "$running" ]; then kill_tree "$running" 2>/dev/null; fi
  rm -rf -- "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$folder/home" "$folder/case" "$folder/case/work" "$folder/case/tmp"
token=repro-$$-$RANDOM-$RANDOM
"""
_REAL_PWSH = """\
# `dotnet tool install` puts a small program on PATH that starts the real one, and hides how that ended.
for real in "${pwsh%/*}"/.store/powershell/*/powershell/*/tools/*/any/unix/pwsh; do
  if [ -x "$real" ]; then pwsh=$real; fi
done
"""
_DOTNET_ROOT = """\
# The real pwsh of a .NET tool does not find the runtime by itself.
if [ -z "${DOTNET_ROOT:-}" ] && dotnet=$(type -P dotnet); then
  dotnet=$(readlink -f -- "$dotnet") && DOTNET_ROOT=${dotnet%/*}
fi
if [ -n "${DOTNET_ROOT:-}" ]; then environment+=(DOTNET_ROOT="$DOTNET_ROOT"); fi
"""
_PYTHON = """\
# The program itself: what a version manager puts on PATH may need the home of its user.
python=$("$python3" -c 'import sys; print(sys.executable)' </dev/null) || fail 'python3 does not run.'
"""
_WITNESS = """\
printf '#!/bin/sh\\nexec "%s" -I -S "%s" "$@"\\n' "$python" "$folder/witness.py" >"$folder/witness"
"""
_STREAM = """\
# Print the first $2 bytes of the endless stream called $1, whose blocks are digests of their numbers.
stream() {
  "$python" -I -S -c '
import hashlib, sys
name, size = sys.argv[1], int(sys.argv[2])
for start in range(0, size, BLOCK):
    digest = hashlib.shake_128(f"conformance {name} {start // BLOCK}".encode())
    sys.stdout.buffer.write(digest.digest(BLOCK)[: size - start])' "$1" "$2" </dev/null
}
""".replace("BLOCK", str(BLOCK_BYTES))
_REPEAT = """\
# Print $1 over and over, cut to $2 bytes.
repeat() {
  "$python" -I -S -c '
import os, sys
unit, size = os.fsencode(sys.argv[1]), int(sys.argv[2])
sys.stdout.buffer.write((unit * (size // len(unit) + 1))[:size])' "$1" "$2" </dev/null
}
"""
_FILTERS = {
    "ps-quote": "ps_quote() { REPLY=${1//\\'/\\'\\'}; }",
    "ps-escape": (
        'ps_escape() { REPLY=${1//\\`/\\`\\`}; REPLY=${REPLY//\\"/\\`\\"}; REPLY=${REPLY//\\$/\\`\\$}; '
        "REPLY=${REPLY//$'\\r'/}; REPLY=${REPLY//$'\\n'/\\`n}; REPLY=${REPLY//$'\\e'/\\`e}; }"
    ),
    "sh-quote": 'sh_quote() { local q=\\\'; REPLY=${1//$q/"$q\\\\$q$q"}; }',
    "base64": "base64_() { REPLY=$(printf '%s' \"$1\" | base64 | tr -d '\\n'); }",
    "base64-utf16": (
        "base64_utf16() { REPLY=$(printf '%s' \"$1\" | iconv -f UTF-8 -t UTF-16LE | base64 | tr -d '\\n'); }"
    ),
    "crlf": "crlf() { REPLY=${1//$'\\r\\n'/$'\\n'}; REPLY=${REPLY//$'\\n'/$'\\r\\n'}; }",
}
_FUNCTIONS = {"base64": "base64_"}


def bash_script(recipe: Recipe) -> str:
    """Return the script that shows what `recipe` says."""
    return _Script(recipe).text()


class _Script(ScriptWriter):
    def text(self) -> str:
        recipe = self.recipe
        self._body()
        argv = [self.expression(text) for text in recipe.argv]
        prefix = [quoted(word) for word in wired((), recipe.wiring)] if recipe.wiring else []
        feed = self._feed(recipe.stdin)
        return "".join(
            [
                "#!/usr/bin/env bash\n",
                comment_lines(recipe, _USAGE.format(programs=program_names([*recipe.shells, *self._programs()]))),
                _shipped("start.bash").replace("@MARKER@", recipe.folder),
                *self._finding(),
                _FOLDER,
                *self._functions(),
                *self._natives(),
                "\n".join(["", *self.lines, ""]),
                array("argv", [*prefix, *argv]),
                "\n# TERM and NO_COLOR are not in it: they would hide what a launcher adds to a hook's output.\n",
                array("environment", self._environment()),
                _DOTNET_ROOT,
                *(f"environment+=({name}={quoted(value)})\n" for name, value in recipe.environment.items()),
                f"\nfeed() {{ {feed}; }}\n",
                _LAUNCH,
                *self._numbers(),
                _shipped("supervise.bash"),
            ]
        )

    def _programs(self) -> list[str]:
        return ["python3"] if self._needs_python else []

    @property
    def _needs_python(self) -> bool:
        return self.recipe.needs_witness or isinstance(self.recipe.stdin, Stream | Repeat)

    def _finding(self) -> Iterator[str]:
        yield "\n"
        if self.own_launcher is not None:
            yield f"find_program {quoted(self.own_launcher)}\n"
        for name in self.recipe.shells:
            wanted = '"${CONFORMANCE_PWSH:-pwsh}"' if name == "pwsh" else name
            yield f"find_program {wanted}\n{name}=$REPLY\n"
            if name == "pwsh":
                yield _REAL_PWSH
        if self._needs_python:
            yield f"find_program python3\npython3=$REPLY\n{_PYTHON}"

    def _functions(self) -> Iterator[str]:
        stdin = self.recipe.stdin
        if isinstance(stdin, Stream):
            yield f"\n{_STREAM}"
        if isinstance(stdin, Repeat):
            yield f"\n{_REPEAT}"
        for name in sorted(self.recipe.filters):
            yield f"\n{_FILTERS[name]}\n"

    def _natives(self) -> Iterator[str]:
        programs = []
        if f"{self.recipe.folder}/native " in self.recipe.body:
            yield f"\n{heredoc('cat', NATIVE_SCRIPT, 'NATIVE')[:-1]}\n".replace("cat <<", 'cat >"$folder/native" <<')
            programs.append("native")
        if self.recipe.needs_witness:
            source = Path(witness.__file__).read_text(encoding="utf-8")
            yield f"\n{heredoc('cat', source, 'WITNESS')}".replace("cat <<", 'cat >"$folder/witness.py" <<')
            yield _WITNESS
            programs.append("witness")
        for program in programs:
            yield f'chmod +x "$folder/{program}"\n'

    def _body(self) -> None:
        body, sizes = self.recipe.body, dict.fromkeys(len(run) for run in FILLER.findall(self.recipe.body))
        shown = FILLER.sub(lambda run: f"@FILLER-{len(run[0])}@", body)
        self.lines.append(self.assigned("body", shown))
        for size in sizes:
            self.lines += [f"printf -v filler '%{size}s' ''", f"body=${{body//@FILLER-{size}@/${{filler// /x}}}}"]

    def assigned(self, name: str, text: str) -> str:
        """Return the lines that set the variable `name` to `text`, as lines of their own where nothing is hidden."""
        if all(char.isprintable() or char == "\n" for char in text):
            return f"{heredoc('text', text + chr(10), name.upper())}{name}=$REPLY\n"
        folder = self.recipe.folder
        return f'{name}={quoted(text)}\n{name}=${{{name}//{folder}/"$folder"}}\n'

    def expression(self, text: Text) -> str:
        """Return one word of bash for `text`, after the lines that set what stands in it."""
        words = [quoted(part) if isinstance(part, str) else self._filtered(part) for part in text]
        return "".join(words) or "''"

    def reference(self, name: str) -> str:
        """Return the word that is the value of the variable `name`."""
        return f'"${name}"'

    def store(self, name: str, file: str, content: str) -> None:
        """Add the lines that write `content` to `file`, and set the variable `name` to its path."""
        self.lines += [f"{name}=$folder/{PurePosixPath('case', file)}", f"printf '%s' {content} >\"${name}\""]

    def _filtered(self, placeholder: Placeholder) -> str:
        name = self.variable_of(placeholder)
        for filter_ in placeholder.filters:
            filtered = f"{name}_{plain(filter_)}"
            if filtered not in self.known:
                self.known.add(filtered)
                function = _FUNCTIONS.get(filter_, plain(filter_))
                self.lines += [f'{function} "${name}"', f"{filtered}=$REPLY"]
            name = filtered
        return self.reference(name)

    def _feed(self, stdin: Payload | Text) -> str:
        if isinstance(stdin, tuple):
            return f"printf '%s' {self.expression(stdin)}"
        if isinstance(stdin, Stream):
            return f"stream {quoted(stdin.name)} {stdin.length}"
        if isinstance(stdin, Repeat):
            return f"repeat {quoted(stdin.unit.decode())} {stdin.length}"
        assert isinstance(stdin, Literal)
        return f"printf '{printf_format(stdin.data)}'" if stdin.data else ":"

    def _environment(self) -> Iterator[str]:
        folder = PurePosixPath("$folder")
        own = child_environment(Path(folder / "home"), Path(folder / "case" / "tmp"))
        for name, value in own.items():
            if name == "PATH":
                yield 'PATH="$PATH"'
            elif name != "DOTNET_ROOT":
                yield f'{name}="{value}"' if value.startswith("$folder") else f"{name}={quoted(value)}"
        yield 'CONFORMANCE_CASE="$token"'

    def _numbers(self) -> Iterator[str]:
        recipe, expected = self.recipe, self.recipe.expected
        after_start = recipe.after_start_seconds
        yield f"total_ticks={_ticks(recipe.total_seconds + (after_start or 0))} # 20 of them are a second\n"
        yield f"after_start_ticks={'' if after_start is None else _ticks(after_start)} # after the body's first mark\n"
        yield f"linger_ticks={_ticks(recipe.linger_seconds)}\n\n"
        yield f"expected_status={lines(expected.statuses)}\n"
        for name in ("stdout", "stderr", "started", "received"):
            yield f"expected_{name}={quoted(getattr(expected, name))}\n"


def _shipped(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _ticks(seconds: float) -> int:
    return round(seconds * TICKS_PER_SECOND)
