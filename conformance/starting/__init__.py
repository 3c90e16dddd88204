"""What an adapter and its route file start from: working files, which their user makes their own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from conformance.errors import UsageError

NAME = "my-launcher"
"""What the launcher is called in the files that are shipped."""
_SHIPPED = Path(__file__).resolve().parent
_ID = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Language:
    """What an adapter can be written in."""

    suffix: str
    """That of its program, with the point."""
    interpreter: str
    """What users call its interpreter."""
    template: str
    """What stands for the interpreter in a route file."""
    options: tuple[str, ...]
    """What the interpreter needs before the program."""
    dialects: tuple[str, ...]
    """What its program has hooks run in, and which shell that is: the first."""
    loss: str
    """What its program loses as it is shipped: the last keys of a deviation."""

    def argv(self, program: str) -> tuple[str, ...]:
        """Return what starts `program`, as a route file has it."""
        return (self.template, *self.options, program, f"{{{{{self.dialects[0]}}}}}")

    def command(self, program: str) -> tuple[str, ...]:
        """Return what starts `program`, as a user writes it."""
        return (self.interpreter, *self.options, program)


_WAITS_FOR_THE_PIPES = """\
fixtures = ["posix/child-holds-pipes-beyond-deadline"]
observed.timed_out = true
reason = "It waits for whoever holds the pipes: the code of a hook is lost because of a child that it left behind"
url = "{}"
"""
_COLLAPSES_TO_1 = """\
fixtures = [
  "mixtures/native-7-then-return", "native-codes/native-[27]", "native-codes/killed-by-kill",
  "nesting/exit-in-called-script", "processes/background-child-holds-stdout", "text/comment-*", "text/crlf",
  "text/here-string", "text/no-final-newline", "text/quoted-path-first",
]
observed.exit = 1
reason = "-Command ends with 1 whatever the last native exited with: a hook that blocks looks like one that broke"
url = "https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_pwsh#-command---c"
"""
LANGUAGES: Mapping[str, Language] = {
    "python": Language(
        suffix=".py",
        interpreter="python3",
        template="{{python}}",
        options=(),
        dialects=("bash", "sh"),
        loss=_WAITS_FOR_THE_PIPES.format("https://docs.python.org/3/library/subprocess.html#subprocess.run"),
    ),
    "node": Language(
        suffix=".mjs",
        interpreter="node",
        template="{{node}}",
        options=(),
        dialects=("bash", "sh"),
        loss=_WAITS_FOR_THE_PIPES.format("https://nodejs.org/api/child_process.html#event-close"),
    ),
    "powershell": Language(
        suffix=".ps1",
        interpreter="pwsh",
        template="{{pwsh}}",
        options=("-NoLogo", "-NoProfile", "-File"),
        dialects=("pwsh",),
        loss=_COLLAPSES_TO_1,
    ),
}


@dataclass(frozen=True, slots=True)
class StartingFiles:
    """The two files of a launcher called `id`, which stand beside each other."""

    id: str
    language: Language

    @property
    def program(self) -> str:
        """The name of the adapter."""
        return self.id + self.language.suffix

    @property
    def route(self) -> str:
        """The name of the route file."""
        return f"{self.id}.toml"

    def texts(self) -> Mapping[str, str]:
        """Return what each of the files holds, by name."""
        written = {
            "@DIALECTS@": json.dumps(self.language.dialects),
            "@ARGV@": json.dumps(self.language.argv(f"{{{{folder}}}}/{self.program}")),
            "@LOSS@\n": indent(self.language.loss, "# "),
        }
        route = _shipped("route.toml")
        for placeholder, text in written.items():
            route = route.replace(placeholder, text)
        return {
            self.route: route.replace(NAME, self.id),
            self.program: _shipped(f"adapter{self.language.suffix}").replace(NAME, self.id),
        }

    def write(self, folder: Path) -> None:
        """Write the files into `folder`, which is made where it is missing.

        Raises UsageError where one of them is there already, or cannot be written; then nothing that was there has
        changed.
        """
        paths = {folder / name: text for name, text in self.texts().items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in paths:
                if path.is_symlink() or path.exists():
                    raise UsageError(f"{path}: it is there already. Move it away, or choose another --id or FOLDER.")
            for path, text in paths.items():
                with path.open("xb") as file:
                    file.write(text.encode())
        except OSError as error:
            place = error.filename or folder
            raise UsageError(f"{place}: cannot be written: {error.strerror}. Choose another FOLDER.") from error


def starting_files(language: str, launcher_id: str) -> StartingFiles:
    """Return the files that an adapter in `language` starts from.

    Raises UsageError where no route can have that id.
    """
    if not _ID.fullmatch(launcher_id):
        raise UsageError(
            f"--id: {launcher_id!r} cannot be the id of a route: "
            f"lower-case letters, digits, - and . are expected, as in {NAME}"
        )
    return StartingFiles(launcher_id, LANGUAGES[language])


def _shipped(name: str) -> str:
    return (_SHIPPED / name).read_bytes().decode()
