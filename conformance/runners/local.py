"""The local runner: cases run as processes of this machine."""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from conformance import process
from conformance.errors import HarnessError, ShellError
from conformance.model import LOCAL, EnvironmentKey, Route
from conformance.observation import Leftover, WitnessRecord
from conformance.process import Conversation, Session, Talk
from conformance.process.launch import TOKEN_VARIABLE, Cancellation, Completed, Launch
from conformance.runners import Availability, Stage
from conformance.runners.conversation import WrappedConversation
from conformance.runners.witness_record import read_witness_record
from conformance.shells import Shell, find_program, probe_shell
from conformance.systems.installed import installed_folder

if sys.platform == "win32":
    from conformance.runners import local_windows as system
else:
    from conformance.runners import local_posix as system

child_environment = system.child_environment
plain_temporary_folder = system.plain_temporary_folder
OPERATING_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}

WORKING, TEMPORARY = "work", "tmp"
PRIVATE = 0o700


def local_os() -> str:
    """Return the name that conditions use for this operating system."""
    return OPERATING_SYSTEMS.get(sys.platform, sys.platform)


class LocalRunner:
    """Runs cases on this machine. Shells are probed once for all places."""

    name = LOCAL

    def __init__(self, cancellation: Cancellation) -> None:
        """Launches end at once when `cancellation` is thrown."""
        self._cancellation = cancellation
        self._lock = threading.Lock()
        self._shells: dict[str, Shell | ShellError] = {}

    def probe(self) -> Availability:
        """Tell that this machine is there."""
        return Availability(available=True)

    def sessions(self) -> Availability:
        """Tell whether this operating system has what sessions need."""
        return Availability(system.NO_SESSIONS == "", system.NO_SESSIONS)

    def prepared(self) -> AbstractContextManager[None]:
        """Make this process a good parent for hooks while the runner is used, and undo it on leaving."""
        return process.prepared_for_children()

    def shell(self, name: str) -> Shell:
        """Return the shell called `name`.

        Raises ShellError where it is missing or is not that shell, the same one each time.
        """
        with self._lock:
            if name not in self._shells:
                self._shells[name] = self._probe(name)
            found = self._shells[name]
        if isinstance(found, ShellError):
            raise found
        return found

    def _probe(self, name: str) -> Shell | ShellError:
        # On Windows a folder cannot be removed while a program that just ended is still being cleared away.
        with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
            try:
                return probe_shell(name, child_environment(Path(folder), Path(folder)))
            except ShellError as error:
                return error

    def program(self, name: str) -> Path:
        """Return the program called `name`; raises MissingShellError where it is not on PATH."""
        return find_program(name)

    def system(self, name: str) -> Path:
        """Return the folder where the system called `name` was installed.

        Raises MissingSystemError where it is not, HarnessError where others can change it.
        """
        return installed_folder(name)

    def environment_key(self, route: Route) -> EnvironmentKey:
        """Return the environment key of results that `route` gets here."""
        shell = next(iter((*route.shells, *route.programs)), Path(route.argv[0]).name)
        version = "unknown"
        if route.shells:
            with suppress(ShellError):
                probed = self.shell(shell)
                shell, version = probed.name, probed.version
        return EnvironmentKey(local_os(), platform.machine().lower(), shell, version, self.name)

    @contextmanager
    def open(self) -> Iterator[LocalPlace]:
        """Open a place: a private folder with a home, which is removed with everything in it.

        Raises HarnessError where the folder cannot be made.
        """
        with ExitStack() as stack:
            try:
                folder = Path(tempfile.mkdtemp(prefix="conformance-", dir=plain_temporary_folder()))
                stack.callback(shutil.rmtree, folder, ignore_errors=True)
                place = LocalPlace(folder, self._cancellation)
            except OSError as error:
                raise HarnessError(
                    f"no private folder can be made for the cases: {error.strerror}. Make room, or set TMPDIR."
                ) from error
            yield place


class LocalPlace:
    """A private folder of this machine."""

    def __init__(self, folder: Path, cancellation: Cancellation) -> None:
        self._folder = folder
        self._cancellation = cancellation
        self._spare: Path | None = None
        system.make_home(folder / "home")
        self._environment = child_environment(folder / "home", folder)
        self._natives = system.Natives(folder)

    @contextmanager
    def stage(self) -> Iterator[Stage]:
        """Lend a folder to one case, with a working directory and a temporary directory that are empty.

        A folder that a case left as it got it serves the next one: making and removing three takes as long as a bash
        case. It gets another name, so that a path which a case handed to somebody leads nowhere.
        """
        token = uuid.uuid4().hex[:12]
        folder = self._new_folder(token)
        working, temporary = folder / WORKING, folder / TEMPORARY
        own = dict.fromkeys(system.TEMPORARY_VARIABLES, str(temporary))
        environment = {**self._environment, **own, TOKEN_VARIABLE: token}
        try:
            yield Stage(folder, working, environment, folder / f"witness-{token}")
        finally:
            if _cleared(folder):
                self._spare = folder
            else:
                shutil.rmtree(folder, ignore_errors=True)

    def _new_folder(self, name: str) -> Path:
        spare, self._spare = self._spare, None
        if spare is not None:
            return spare.rename(self._folder / name)
        folder = self._folder / name
        for path in (folder, folder / WORKING, folder / TEMPORARY):
            path.mkdir(mode=PRIVATE)
        return folder

    def body(self, text: str, dialect: str, stage: Stage) -> str:
        """Return the body `text` with its templates rendered.

        Raises InexpressibleError where this operating system lacks what the body asks for.
        """
        return self._natives.body(text, dialect, stage.witness_file)

    def wired(self, argv: tuple[str, ...], wiring: Mapping[str, str]) -> tuple[str, ...]:
        """Return the command that runs `argv` with the standard streams of `wiring` closed or full.

        Raises InexpressibleError where this operating system has no such stream.
        """
        return system.wired(argv, wiring)

    def run(self, launch: Launch) -> Completed:
        """Run a process of this machine to its end.

        Raises CancelledError when the run is cancelled meanwhile.
        """
        return _public(process.run(launch, self._cancellation))

    @contextmanager
    def session(self, launch: Launch) -> Iterator[Session]:
        """Hold a session on this machine; raises OSError where it cannot be started."""
        with process.open_session(launch, self._cancellation) as session:
            yield _PublicSession(session)

    @contextmanager
    def conversation(self, launch: Launch) -> Iterator[Conversation]:
        """Talk with a program of this machine; raises OSError where it cannot be started."""
        with process.open_conversation(launch, self._cancellation) as conversation:
            yield WrappedConversation(
                conversation, lambda launch, question: _public(conversation.perform(launch, question))
            )

    def witnessed(self, stage: Stage) -> WitnessRecord:
        """Read the case's witness record."""
        return read_witness_record(stage.witness_file)


def _cleared(folder: Path) -> bool:
    """Delete the files of a case, and tell whether its folder is as new; what a hook did to it must meet no other."""
    kept = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name not in (WORKING, TEMPORARY):
                    os.unlink(entry)  # noqa: PTH108 - a Path costs as much again, six times for each body of a session
                elif _is_as_made(entry.path) and _is_empty(entry.path):
                    kept += 1
        return kept == 2 and _is_as_made(str(folder))
    except OSError:
        return False


def _is_as_made(folder: str) -> bool:
    status = os.lstat(folder)
    plain = sys.platform != "linux" or not os.listxattr(folder, follow_symlinks=False)
    return stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == PRIVATE and plain


def _is_empty(folder: str) -> bool:
    with os.scandir(folder) as entries:
        return next(entries, None) is None


class _PublicSession:
    """A session whose leftovers are fit for a report."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.launch = session.launch

    @property
    def serves(self) -> bool:
        return self._session.serves

    def perform(self, launch: Launch, talk: Talk) -> Completed:
        return _public(self._session.perform(launch, talk))


def _public(completed: Completed) -> Completed:
    return replace(completed, leftovers=tuple(_public_leftover(leftover) for leftover in completed.leftovers))


def _public_leftover(leftover: Leftover) -> Leftover:
    return replace(leftover, command=public_path(leftover.command))


def public_path(path: Path | str) -> str:
    """Return `path` for a report: what is private of this machine (home, cache) is named, not shown."""
    text = str(path)
    with suppress(RuntimeError):  # this user has no home
        text = re.sub(system.home_pattern(), "~", text)
    # Looked for at the beginning of each word only, or a word of 100,000 characters would take minutes.
    return re.sub(
        r"(?<![^\s=])[^\s=]*[\\/]+shell-exit-conformance[\\/]+(?=(pwsh|env)-|reports|systems)", "{{cache}}/", text
    )


def documented_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment given to children, fit for a report."""
    return {
        name: os.pathsep.join(public_path(part) for part in value.split(os.pathsep))
        for name, value in environment.items()
    }
