"""Scripts for PowerShell 5.1 or newer, in ASCII: Windows PowerShell reads nothing else without a byte order mark."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

from conformance import witness
from conformance.errors import UsageError
from conformance.payload import Literal, Payload, Repeat
from conformance.repro import FILLER, Recipe, Text, comment_lines, program_names
from conformance.repro.writer import ScriptWriter
from conformance.runners.local_windows import OF_THE_MACHINE
from conformance.shells import shell_variables
from conformance.template import Placeholder

_USAGE = """
Run it with PowerShell: pwsh -NoProfile -File FILE, or powershell -NoProfile -ExecutionPolicy Bypass -File FILE.
It needs {programs}. It works in a private folder in TEMP, which it removes, and stops what it started.
It prints how the launch ended, what came on stdout and stderr (length, SHA-256, and the bytes where they are few) and
whether the body left a mark. Exit codes: 0 the contract was kept, 1 it was broken, 3 a program is missing.
"""
_START = """
$ErrorActionPreference = 'Stop'
$onWindows = $env:OS -eq 'Windows_NT'
$folder = $null
trap {
    [Console]::Error.WriteLine("This script can show nothing: $_")
    if ($folder) { Remove-Item -LiteralPath $folder -Recurse -Force -ErrorAction Ignore }
    exit 3
}

# Windows has programs called bash and python of its own, which start something else.
function Find-Program([string] $name) {
    $found = @(Get-Command -Name $name -CommandType Application -All -ErrorAction Ignore |
            Where-Object Source -NotMatch '\\\\(System32|SysWOW64|WindowsApps)\\\\(bash|python3?)\\.exe$')
    if (-not $found) { throw "$name is missing. Install it, or mend PATH." }
    $found[0].Source
}

# The paths stand in the body without quotes, so they must be plain ones; Windows may keep a short name of others.
function Get-PlainPath([string] $path) {
    if ($onWindows -and $path -notmatch '^[\\w./\\\\:~-]+$') {
        $files = New-Object -ComObject Scripting.FileSystemObject
        $path = if (Test-Path $path -PathType Container) { $files.GetFolder($path) } else { $files.GetFile($path) }
        $path = $path.ShortPath
    }
    if ($path -notmatch '^[\\w./\\\\:~-]+$') { throw "$path needs quotes. Move TEMP, or Python." }
    $path.Replace('\\', '/')
}

function Expand-Text([string] $text) { $text.Replace('MARKER-PYTHON', $python).Replace('MARKER', $folder) }

# A script that was stored with CR LF still gives the lines of a text as they were.
function Expand-Lines([string] $text) { Expand-Text $text.Replace("`r`n", "`n") }

function Write-Text([string] $name, [string] $text) {
    $path = Join-Path $folder "case/$name"
    [IO.File]::WriteAllBytes($path, [Text.Encoding]::UTF8.GetBytes($text))
    $path
}
"""
_FOLDER = """
$folder = (New-Item -ItemType Directory (Join-Path ([IO.Path]::GetTempPath()) "repro-$([guid]::NewGuid())")).FullName
$folder = Get-PlainPath $folder
$names = @('home', 'case/work', 'case/tmp'; if ($onWindows) { 'home/AppData/Roaming', 'home/AppData/Local' })
foreach ($name in $names) { [void] (New-Item -ItemType Directory "$folder/$name") }
$token = "repro-$([guid]::NewGuid())"
"""
_PYTHON = """\
$python = Find-Program $(if ($onWindows) { 'python' } else { 'python3' })
$python = Get-PlainPath (& $python -c 'import sys; print(getattr(sys, ''_base_executable'', sys.executable))')
"""
_OF_THE_MACHINE = """\
$kept = @(
    'DOTNET_ROOT'
    if ($onWindows) { NAMES } else { 'PATH' }
)
foreach ($name in $kept) {
    if (Test-Path "Env:$name") { $environment[$name] = [Environment]::GetEnvironmentVariable($name) }
}
if ($onWindows) {
    $environment.USERPROFILE = "$folder/home"
    $environment.APPDATA = "$folder/home/AppData/Roaming"
    $environment.LOCALAPPDATA = "$folder/home/AppData/Local"
    $environment.TEMP = $environment.TMP = "$folder/case/tmp"
} else {
    $environment.TMPDIR = "$folder/case/tmp"
    # The real pwsh of a .NET tool does not find the runtime by itself.
    $dotnet = Get-Command dotnet -CommandType Application -ErrorAction Ignore
    if ($dotnet -and -not $env:DOTNET_ROOT) { $environment.DOTNET_ROOT = Split-Path (readlink -f $dotnet[0].Source) }
}
"""
_SHELLS = {
    "cmd": "$cmd = if ($env:COMSPEC) { $env:COMSPEC } else { throw 'cmd is a shell of Windows alone.' }\n",
    "pwsh": """\
$pwsh = Find-Program $(if ($env:CONFORMANCE_PWSH) { $env:CONFORMANCE_PWSH } else { 'pwsh' })
# `dotnet tool install` puts a small program on PATH that starts the real one, and hides how that ended.
$store = Join-Path (Split-Path $pwsh) '.store/powershell/*/powershell/*/tools/*/any/*'
$real = @(Get-ChildItem -Force -Path (Join-Path $store (Split-Path $pwsh -Leaf)) -ErrorAction Ignore)
if ($real) { $pwsh = $real[-1].FullName }
""",
}
_FILTERS = {
    "ps-quote": """function ConvertTo-PsQuote([string] $text) { $text.Replace("'", "''") }""",
    "ps-escape": "function ConvertTo-PsEscape([string] $text) { $text.Replace('`', '``').Replace('\"', '`\"')"
    ".Replace('$', '`$').Replace(\"`r\", '').Replace(\"`n\", '`n').Replace(\"`e\", '`e') }",
    "sh-quote": """function ConvertTo-ShQuote([string] $text) { $text.Replace("'", "'\\''") }""",
    "base64": "function ConvertTo-Base64([string] $text) "
    "{ [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($text)) }",
    "base64-utf16": "function ConvertTo-Base64Utf16([string] $text) "
    "{ [Convert]::ToBase64String([Text.Encoding]::Unicode.GetBytes($text)) }",
    "crlf": 'function ConvertTo-Crlf([string] $text) { $text.Replace("`r`n", "`n").Replace("`n", "`r`n") }',
}
_RUN_OF_PRINTABLE = re.compile(r"[ -~]+|[^ -~]+")


class ScriptNatives:
    """The witness, which plays the native as well: Windows starts no script by its name alone."""

    def __init__(self, folder: str) -> None:
        self._program = f"{folder}-PYTHON -I -S {folder}/witness.py"

    def native(self, code: str, record: str) -> str:
        """Return the command that exits with `code`."""
        return f"{self._program} {record} exit {code}"

    def witness(self, record: str) -> str:
        """Return the command that starts the witness."""
        return f"{self._program} {record}"


def powershell_script(recipe: Recipe) -> str:
    """Return the script that shows what `recipe` says.

    Raises UsageError where PowerShell cannot launch it.
    """
    if recipe.wiring:
        streams = " and ".join(recipe.wiring)
        raise UsageError(f"PowerShell starts no program with its {streams} closed or full. Use --shell bash.")
    return _Script(recipe).text()


class _Script(ScriptWriter):
    def text(self) -> str:
        recipe = self.recipe
        self._body()
        argv = [self.expression(text) for text in recipe.argv]
        stdin = self._stdin(recipe.stdin)
        supervise = Path(__file__).with_name("supervise.ps1").read_text(encoding="utf-8")
        comments = comment_lines(recipe, _USAGE.format(programs=program_names([*recipe.shells, "Python 3"])))
        return "".join(
            [
                comments.encode("ascii", "backslashreplace").decode(),
                _START.replace("MARKER", recipe.folder),
                *self._finding(),
                _FOLDER,
                *(f"\n{_FILTERS[name]}\n" for name in sorted(recipe.filters)),
                '\n[IO.File]::WriteAllText("$folder/witness.py", @\'\n',
                Path(witness.__file__).read_text(encoding="utf-8"),
                "'@)\n\n",
                *(f"{line}\n" for line in self.lines),
                "\n$argv = @(\n" + "".join(f"    ({word})\n" for word in argv) + ")\n",
                f"$stdin = [byte[]] ({stdin})\n",
                *self._environment(),
                *self._expectations(),
                supervise,
            ]
        )

    def _finding(self) -> Iterator[str]:
        yield "\n"
        if self.own_launcher is not None:
            yield f"[void] (Find-Program {_literal(self.own_launcher)})\n"
        for name in self.recipe.shells:
            yield _SHELLS.get(name, f"${name} = Find-Program {name}\n")
        yield _PYTHON

    def _body(self) -> None:
        self.lines.append(self.assigned("body", self.recipe.body))

    def assigned(self, name: str, text: str) -> str:
        """Return the lines that set the variable `name` to `text`, as lines of their own where nothing is hidden."""
        runs = FILLER.findall(text)
        if not runs and all(" " <= char <= "~" or char == "\n" for char in text) and "\n'@" not in f"\n{text}":
            return f"${name} = Expand-Lines @'\n{text}\n'@"
        pieces = [
            f"'x' * {len(piece)}" if FILLER.fullmatch(piece) else _literal(piece)
            for piece in re.split(f"({FILLER.pattern})", text)
            if piece
        ]
        return f"${name} = Expand-Text ({' + '.join(f'({piece})' for piece in pieces) or _literal('')})"

    def expression(self, text: Text) -> str:
        """Return one expression for `text`, after the lines that set what stands in it."""
        parts = [_literal(part) if isinstance(part, str) else self._filtered(part) for part in text]
        return " + ".join(parts) or "''"

    def reference(self, name: str) -> str:
        """Return the expression that is the value of the variable `name`."""
        return f"${name}"

    def store(self, name: str, file: str, content: str) -> None:
        """Add the line that writes `content` to `file`, and sets the variable `name` to its path."""
        self.lines.append(f"${name} = Write-Text {_literal(file)} ({content})")

    def _filtered(self, placeholder: Placeholder) -> str:
        value = self.reference(self.variable_of(placeholder))
        for filter_ in placeholder.filters:
            value = f"(ConvertTo-{''.join(map(str.capitalize, filter_.split('-')))} {value})"
        return value

    def _stdin(self, stdin: Payload | Text) -> str:
        if isinstance(stdin, tuple):
            return f"[Text.Encoding]::UTF8.GetBytes({self.expression(stdin)})"
        if isinstance(stdin, Literal):
            return f"[Convert]::FromBase64String('{base64.b64encode(stdin.data).decode()}')"
        if isinstance(stdin, Repeat):
            unit = base64.b64encode(stdin.unit).decode()
            made = f"base64.b64decode('{unit}') * {stdin.length // len(stdin.unit) + 1}"
            setting = "import base64"
        else:
            name = getattr(stdin, "name", "")
            made = f"witness.stream_slice('{name}', 0, {stdin.length})"
            setting = f"import sys; sys.path.insert(0, '{self.recipe.folder}'); import witness"
        program = f"{setting}; open('{self.recipe.folder}/stdin', 'wb').write(({made})[:{stdin.length}])"
        self.lines.append(f"& $python -I -S -c (Expand-Text {_literal(program)}) | Out-Null")
        return '[IO.File]::ReadAllBytes("$folder/stdin")'

    def _environment(self) -> Iterator[str]:
        variables = {name: _literal(value) for name, value in shell_variables().items() if name != "DOTNET_ROOT"}
        variables["CONFORMANCE_CASE"] = "$token"
        yield "\n# TERM and NO_COLOR are not in it: they would hide what a launcher adds to a hook's output.\n"
        yield '$environment = @{\n    HOME = "$folder/home"\n'
        yield from (f"    {_literal(name)} = {value}\n" for name, value in variables.items())
        yield "}\n"
        yield _OF_THE_MACHINE.replace("NAMES", ", ".join(map(_literal, OF_THE_MACHINE)))
        for name, value in self.recipe.environment.items():
            yield f"$environment[{_literal(name)}] = {_literal(value)}\n"

    def _expectations(self) -> Iterator[str]:
        recipe, expected = self.recipe, self.recipe.expected
        after_start = recipe.after_start_seconds
        yield f"\n$totalSeconds = {recipe.total_seconds + (after_start or 0):g}\n"
        yield f"$secondsAfterStart = {'$null' if after_start is None else f'{after_start:g}'}\n"
        yield f"$lingerSeconds = {recipe.linger_seconds:g}\n"
        yield f"$expected = @{{\n    status = @({', '.join(map(_literal, expected.statuses))})\n"
        for name in ("stdout", "stderr", "started", "received"):
            yield f"    {name} = {_literal(getattr(expected, name))}\n"
        yield "}\n"


def _literal(text: str) -> str:
    """Return one expression that means `text`, in ASCII in which nothing is invisible."""
    pieces = [
        "'" + piece.replace("'", "''") + "'" if " " <= piece[0] <= "~" else _characters(piece)
        for piece in _RUN_OF_PRINTABLE.findall(text)
    ]
    return f"({' + '.join(pieces)})" if len(pieces) > 1 else "".join(pieces) or "''"


def _characters(text: str) -> str:
    if text == "\n":
        return '"`n"'
    units = text.encode("utf-16-be")
    codes = [f"0x{units[index] << 8 | units[index + 1]:04x}" for index in range(0, len(units), 2)]
    return f"(-join [char[]] ({', '.join(codes)}))"
