#!/usr/bin/env python3
"""Set up a private environment for conformance, once, and run something in it.

The environment lives in the user's cache directory, never in the system's Python. It is filled from the
package index that pip is configured for; where none answers, from Debian's packages. A start that finds
it ready reads one small file and hands over; everything below the line is for the others.

Python's standard library only. The syntax, the top-level imports and the annotations that Python evaluates
are those of Python 3.6, so that an old interpreter can still find a newer one, or say what to install.
"""

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

USAGE = """\
usage: python3 bootstrap.py [OPTIONS] run [ARGS]        conformance run ARGS
       python3 bootstrap.py [OPTIONS] test [ARGS]       the project's own tests: pytest ARGS, in the repository
       python3 bootstrap.py [OPTIONS] test full [ARGS]  these with Debian's packages, then with the index's newest
       python3 bootstrap.py [OPTIONS] exec CMD [ARGS]   any command, the environment's programs first on PATH

  --yes           install missing Debian packages without asking
  --from SOURCE   fill the environment from `index` and never from Debian's packages, or from `debian` only
  --pwsh VERSION  run with this PowerShell, whatever else is installed: 7.6.3, 7.5.5 or 7.4.14 from their
                  release archives, any other version with the .NET SDK
  --help          show this text

The first start sets up a private environment in the user's cache directory (XDG_CACHE_HOME), from the
package index that pip is configured for or, where none answers, from Debian's packages. PowerShell comes
from CONFORMANCE_PWSH, from PATH, from NuGet with the .NET SDK or, without that, from its release archive,
whose SHA-256 is checked; CONFORMANCE_PWSH_ARCHIVES is the URL of a mirror of these archives. Exit code:
that of the command; 2 wrong usage, 3 set-up failed, 126 or 127 the command of exec could not be started,
130 interrupted.
"""

NAME = "shell-exit-conformance"
REPO = Path(__file__).resolve().parent
OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.14", "python3.15", "python3", "python")
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that sees Debian's packages; `python3` on PATH may be another
PWSH = "pwsh.exe" if sys.platform == "win32" else "pwsh"
PWSH_TOOL = "7.6.9"  # the default where there is a .NET SDK
PWSH_ARCHIVE = "7.6.3"  # the default elsewhere
PWSH_ARCHIVES = "https://github.com/PowerShell/PowerShell/releases/download"
# Each release comes with its digests (hashes.sha256). Read for 7.6.3 in github.com/PowerShell/Homebrew-Tap,
# Formula/powershell.rb (those for Windows in several other lists of pins, which agree), and for the others in
# github.com/periareon/rules_powershell, powershell/private/versions.bzl.
PWSH_DIGESTS = """
7.6.3 linux-arm64 7a14a385eca7dc5bedc1c8aa3d8b765f449ada30aabe5785a9fd331266eb062d
7.6.3 linux-x64 856d0765d2332377f9d7a4aea76efdfde4de51446e7738dde2dfda41dba9e2a7
7.6.3 osx-arm64 f0263c2072fe7d0953781c60497a574bea99b37237f2554a59ce4bad07de8d36
7.6.3 osx-x64 f02073a442515877aa5a8f361f55866800100c41b665cfb64883b77dbba09412
7.6.3 win-arm64 2ece90557c370bb5ee03275ef41f2a49e26ea85defcf2052aca32c20dadb62c2
7.6.3 win-x64 07ddb0d00b660459560ef82a9841da7705b27cd5dcca5a0d7b025a98eca29eca
7.5.5 linux-arm64 e22e0f005b61ce3ba5e4898700f69c3e06dda2fde071f382ab15670d68f0e4a7
7.5.5 linux-x64 39a62f466956e3606aee6637ed0d0735c1ed27612a76de973b111530ddff2e77
7.5.5 osx-arm64 dbf3fdd3fb360eba359580fdc7223d679a15f9484d2f163fab07422779a47f52
7.5.5 osx-x64 24829bda587ea390c0275a981de5ff9d2595f273e4948d9e69e762c2d4e77a79
7.5.5 win-arm64 e36b5a5f9b1511beebe1b7589e5a5adff955349f635e411021c03aef4432c505
7.5.5 win-x64 9d4c9247fa5d8b090470b5c676b1ce6e22029eeab8a5cb1d11480e3840172c99
7.4.14 linux-arm64 1cfae022c7dc352abeac14ca25daa8513e7cb11dba00a7c643f1ed6f2006b992
7.4.14 linux-x64 a3afb86bf556b8fd5af8b0bf6a7f5d70b7c8850cff025b317f890fc7639bb12d
7.4.14 osx-arm64 6c8282cae469ca2549d3777c188839f392047fa013c855126ff429e451f42d38
7.4.14 osx-x64 638488953894347ffb08b6df30ef5f1277f5fa855f0716d082dbb7e8b26aa859
7.4.14 win-arm64 3ab5a40594892e10631613671a25c1e86c51735a7b47869f3c57731fc4b67e05
7.4.14 win-x64 eb678ecfcd1690f03a0bce9d06495c100ce57c3680cd8d2d011eb1f59ef153ae
"""
NO_ANSWER = 1 << 32  # instead of the exit code of a step that could not be started or did not end
INVARIANT = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"
SOURCES = {"debian": "Debian's packages", "index": "the newest versions that the package index serves"}
RECIPE = "1"  # part of the key: a new number makes every user's next start build a new environment
PROBE_SECONDS = 20  # bounds what pip's own time-outs do not: a name look-up, an answer that never ends
DOTNET_SECONDS = 300
PWSH_SECONDS = 120  # a first start under a virus scanner takes its time
SILENCE_SECONDS = 30  # how long a download may stand still
ARCHIVE_BYTES = 1 << 29  # more than any archive of PowerShell has
UNUSED_SECONDS = 30 * 24 * 3600  # an environment that nobody started for so long is removed


class UsageError(Exception):
    """The command line cannot be understood (exit code 2); its text is one sentence for the user."""


class SetupError(Exception):
    """Set-up cannot go on (exit code 3); its text is one sentence: what was expected, what to do."""


class MissingSourceError(SetupError):
    """What should fill the environment is not to be had on this machine."""


class IndexUnusable(Exception):  # noqa: N818 - an answer that leads to Debian's packages, not yet an error
    """The environment cannot be filled from a package index; its text is the reason, a few words."""


class IndexMissing(IndexUnusable):
    """There is no package index, or no way to ask it."""


class Request:
    """What the command line asks for."""

    def __init__(self, words: "list[str]") -> None:
        self.words = words  # the verb and its arguments
        self.yes = False
        self.source = ""  # a key of SOURCES; empty: the index or, where none answers, Debian's packages
        self.pwsh = ""  # a version; empty: the PowerShell that is there, or the default


def main(argv: "list[str]") -> int:
    """Set up and run what `argv` (without the program's name) asks for.

    Returns the exit code; on POSIX it does not return when the command could be started.
    """
    try:
        return start(argv)
    except UsageError as error:
        say(f"{error} (--help shows the usage)")
        return 2
    except SetupError as error:
        say(str(error))
    except OSError as error:
        say(f"set-up failed: {error}; {way_out(error)}, then start again")
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 3


def start(argv: "list[str]") -> int:
    """Do the work of `main`; raises UsageError, SetupError, OSError."""
    request = parse(argv)
    if request is None:
        sys.stdout.write(USAGE)
        return 0
    if sys.version_info < OLDEST_PYTHON:
        return hand_over([*find_newer_python(), str(Path(__file__).resolve()), *argv], dict(os.environ))
    cache = open_cache()
    verb, arguments = request.words[0], request.words[1:]
    if verb == "test" and arguments[:1] == ["full"]:
        return test_with_every_source(cache, request)
    environment = ready_environment(cache, request.source, yes=request.yes)
    variables = {**child_variables(environment), **pwsh_variables(cache, request.pwsh)}
    if verb == "run":
        return hand_over([str(program(environment, "conformance")), "run", *arguments], variables)
    if verb == "exec":
        return hand_over(arguments, variables)
    os.chdir(str(REPO))
    return hand_over(pytest_command(environment, arguments), variables)


def parse(argv: "list[str]") -> "Request | None":
    """Return what `argv` asks for; None stands for --help."""
    words = list(argv)
    request = Request(words)
    while words and words[0].startswith("-"):
        option, equals, value = words.pop(0).partition("=")
        if option in ("-h", "--help"):
            return None
        if option == "--yes" and not equals:
            request.yes = True
            continue
        if option not in ("--from", "--pwsh"):
            expected = "--yes, --from, --pwsh or --help before run, test or exec"
            raise UsageError(f"unknown option {option!r}: expected {expected}")
        if not equals and words:
            value = words.pop(0)
        if option == "--from":
            if value not in SOURCES:
                raise UsageError(f"--from expects index or debian, not {value!r}")
            request.source = value
        else:
            if not is_version(value):
                raise UsageError(f"--pwsh expects a version such as {PWSH_ARCHIVE}, not {value!r}")
            request.pwsh = value
    if not words:
        raise UsageError("expected what to do: run, test or exec")
    if words[0] not in ("run", "test", "exec"):
        raise UsageError(f"unknown verb {words[0]!r}: expected run, test or exec")
    if words == ["exec"]:
        raise UsageError("exec expects a command, for example: exec conformance list")
    if words[:2] == ["test", "full"] and request.source:
        raise UsageError("test full takes no --from: it tests with every source there is")
    return request


def is_version(text: str) -> bool:
    """Tell whether `text` is a released version of PowerShell, such as 7.6.3."""
    numbers = text.split(".")
    return len(numbers) == 3 and all(set(number) <= set("0123456789") and number for number in numbers)


def say(sentence: str) -> None:
    """Tell the user on stderr, the home as ~, since logs are pasted; never fails, not even with stderr closed."""
    home = os.path.expanduser("~").rstrip(os.sep) + os.sep  # noqa: PTH111 - Path.home fails where there is none
    if home != os.sep:
        sentence = sentence.replace(home, "~" + os.sep)
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print("bootstrap: " + sentence, file=sys.stderr, flush=True)


def way_out(error: OSError) -> str:
    """Return what the user can do about `error`."""
    if is_disk_full(error):
        return "free some space, or set XDG_CACHE_HOME and TMPDIR to folders on another disk"
    return "mend that or set XDG_CACHE_HOME to another folder"


def is_disk_full(error: OSError) -> bool:
    """Tell whether `error` says that a disk is full, or the user's share of it."""
    import errno

    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def find_newer_python() -> "list[str]":
    """Return the command of the first Python on this machine that is new enough, or raise SetupError."""
    import subprocess

    oldest = ".".join(map(str, OLDEST_PYTHON))
    question = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON!r})"
    candidates = [[name] for name in (*NEWER_PYTHONS, SYSTEM_PYTHON)] + [["py", "-3"]]
    null = subprocess.DEVNULL
    for name, *options in candidates:
        path = shutil.which(name)
        if path is None:
            continue
        command = [path, *options]
        with contextlib.suppress(OSError):
            # Asked, not guessed from its name: pyenv puts a python3.12 on PATH that runs nothing.
            if subprocess.call([*command, "-c", question], stdin=null, stdout=null, stderr=null) == 0:
                return command
    running = ".".join(map(str, sys.version_info[:3]))
    raise SetupError(
        f"this is Python {running} and no Python {oldest} or newer was found on PATH: "
        f"install one (from python.org, or on Debian 12, Ubuntu 24.04 or newer: apt-get install python3) "
        f"and start again"
    )


def pytest_command(environment: Path, arguments: "list[str]") -> "list[str]":
    """Return the command that runs the project's tests in `environment`."""
    return [str(program(environment, "python")), "-m", "pytest", *worker_options(arguments), *arguments]


def worker_options(arguments: "list[str]") -> "list[str]":
    """Return pytest's option for a worker per CPU, unless the user's `arguments` decide that themselves."""
    given = [*os.environ.get("PYTEST_ADDOPTS", "").split(), *arguments]
    decided = ("-n", "--numprocesses", "--dist", "--pdb", "-pno:xdist", "no:xdist")
    if any(argument.startswith(decided) for argument in given):
        return []
    if sys.platform == "linux":
        return ["-n", str(len(os.sched_getaffinity(0)))]  # fewer than cpu_count() in a container
    return ["-n", str(os.cpu_count() or 1)]


def hand_over(command: "list[str]", variables: "dict[str, str]") -> int:
    """Become `command` with the environment `variables`; it is searched on the PATH in them.

    On POSIX this process turns into it, so its signals and its exit status are native. Windows has no such
    thing: there the code is returned, all 32 bits. Returns 127 or 126 where the command cannot be started.
    """
    try:
        if sys.platform == "win32":
            return wait_for(command, variables)
        restore_signals()
        os.execvpe(command[0], command, variables)
    except FileNotFoundError:
        say(f"command not found: {command[0]}")
        return 127
    except OSError as error:
        say(f"cannot start {command[0]}: {error.strerror}")
    return 126


def wait_for(command: "list[str]", variables: "dict[str, str]") -> int:
    """Run `command` to its end as a child and return its exit code as sys.exit takes it.

    The keyboard's Ctrl-C reaches the child as well, which decides; other ends are passed on to it.
    """
    import signal
    import subprocess

    path = shutil.which(command[0], path=variables.get("PATH"))
    if path is None:
        raise FileNotFoundError(command[0])
    children: list[subprocess.Popen[bytes]] = []
    early = []  # signals that came before the child was known

    def pass_on(number: int, _: object) -> None:
        early.append(number)
        for child in children:
            child.send_signal(number)

    handlers = {signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None)}  # the child would inherit SIG_IGN
    if sys.platform != "win32":
        handlers.update({name: signal.signal(name, pass_on) for name in (signal.SIGTERM, signal.SIGHUP)})
    try:
        children.append(subprocess.Popen([path, *command[1:]], env=variables))
        for number in early:
            children[0].send_signal(number)
        code = children[0].wait()
    finally:
        for name, handler in handlers.items():
            signal.signal(name, handler)
    if sys.platform == "win32":
        return code - 2**32 if code >= 2**31 else code  # sys.exit takes a signed C int
    return 128 - code if code < 0 else code


def restore_signals() -> None:
    """Undo what Python ignored for itself at its start: an ignored signal stays ignored across exec."""
    import signal

    for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def open_cache() -> Path:
    """Return the cache directory, made if missing; raises SetupError where others could write into it.

    What it holds is executed, so nobody but its user may be able to put something there.
    """
    cache = cache_base() / NAME
    cache.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        cache.mkdir(mode=0o700)
    if sys.platform != "win32":
        status = cache.stat()
        if status.st_uid != os.geteuid():
            raise SetupError(
                f"{cache} belongs to user id {status.st_uid}, expected your own ({os.geteuid()}): "
                f"set XDG_CACHE_HOME to a directory of your own"
            )
        if status.st_mode & 0o022:
            raise SetupError(f"{cache} can be written by other users: run chmod 700 on it or remove it")
    return cache


def cache_base() -> Path:
    """Return the directory in which programs of this user keep their caches, an absolute path."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and Path(base).is_absolute():  # the specification: a relative one is to be ignored
        return Path(base)
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    except (RuntimeError, KeyError) as error:
        message = "no home directory is known: set HOME or XDG_CACHE_HOME to a directory of your own"
        raise SetupError(message) from error


def base_python() -> str:
    """Return the running interpreter's path or, in a virtual environment, that of the one below it."""
    return getattr(sys, "_base_executable", "") or sys.executable


def ready_environment(cache: Path, source: str, *, yes: bool) -> Path:
    """Return the environment from `source`, built if it is not there; `yes`: Debian packages without asking."""
    key = environment_key(source)
    return find_environment(cache, key) or build_environment(cache, key, source, yes=yes)


def environment_key(source: str) -> str:
    """Return a digest of all that an environment depends on and that can be told without a search."""
    try:
        project = (REPO / "pyproject.toml").read_bytes()
    except OSError as error:
        message = f"expected pyproject.toml in {REPO}, beside bootstrap.py: start it from a clone"
        raise SetupError(message) from error
    parts = [RECIPE, str(REPO), str(Path(base_python()).resolve()), sys.version, *([source] if source else [])]
    return hashlib.sha256(b"\0".join([*map(os.fsencode, parts), project])).hexdigest()[:16]


def find_environment(cache: Path, key: str) -> "Path | None":
    """Return the finished environment for `key`, or None.

    Its stamp is written last, so that a set-up that was killed has none. It lists the environment and what
    that leans on: a Debian package that was removed or replaced, or a Python that is gone, unmakes it.
    """
    stamp = cache / f"env-{key}.stamp"
    try:
        paths = stamp.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        if not all(map(os.path.exists, paths)):
            return None
    except OSError:
        return None
    with contextlib.suppress(OSError):  # in a cache that is read-only nothing is swept either
        os.utime(str(stamp))  # its age tells `sweep` that it is in use
    return Path(paths[0])


def program(environment: Path, name: str) -> Path:
    """Return the path of the environment's program `name`."""
    if sys.platform == "win32":
        return environment / "Scripts" / f"{name}.exe"
    return environment / "bin" / name


def child_variables(environment: Path) -> "dict[str, str]":
    """Return the variables for a command that runs in `environment`."""
    variables = dict(os.environ)
    variables.pop("PYTHONHOME", None)
    variables["PYTHONNOUSERSITE"] = "1"  # with system packages visible, the user's own would be as well
    variables["VIRTUAL_ENV"] = str(environment)
    programs = str(program(environment, "python").parent)
    variables["PATH"] = os.pathsep.join([programs, variables.get("PATH") or os.defpath])
    return variables


def pwsh_variables(cache: Path, version: str) -> "dict[str, str]":
    """Return the variable that tells conformance of the cache's PowerShell, where the user has none.

    Installs it if need be. Where that cannot be done it says so and conformance judges whether it matters,
    unless the user asked for that `version`, which also wins over any PowerShell that is there.
    """
    if not version and ("CONFORMANCE_PWSH" in os.environ or shutil.which("pwsh")):
        return {}
    try:
        return {"CONFORMANCE_PWSH": str(find_pwsh(cache, version) or install_pwsh(cache, version))}
    except SetupError as error:
        if version:
            raise
        say(str(error))
    return {}


def find_pwsh(cache: Path, version: str) -> "Path | None":
    """Return the cache's PowerShell of that `version`, of one of the defaults if it is empty, or None."""
    for candidate in [version] if version else [PWSH_TOOL, PWSH_ARCHIVE]:
        found = cache / f"pwsh-{candidate}" / PWSH
        if found.exists():
            return found
    return None


# ---- From here on: only where something is missing, and for `test full`. ----


def test_with_every_source(cache: Path, request: Request) -> int:
    """Run the tests in an environment from each source there is; returns the first failure's exit code."""
    arguments = request.words[2:]
    stages = ["debian", "index"] if shutil.which("apt-get") else ["index"]
    pwsh = pwsh_variables(cache, request.pwsh)
    endings = []
    os.chdir(str(REPO))
    for number, source in enumerate(stages, 1):
        say(f"test full, stage {number} of {len(stages)}: the tests with {SOURCES[source]}")
        try:
            environment = ready_environment(cache, source, yes=request.yes)
        except MissingSourceError as reason:
            say(f"skipped: {reason}")
            endings.append("skipped")
            continue
        code = wait_for(pytest_command(environment, arguments), {**child_variables(environment), **pwsh})
        if code:
            say(f"test full: failed with {SOURCES[source]}")
            return code
        endings.append("passed")
    if "passed" not in endings:
        raise SetupError("test full: no stage could run, for the reasons above")
    results = (f"{ending} with {SOURCES[source]}" for ending, source in zip(endings, stages, strict=True))
    say(f"test full: {', '.join(results)}")
    return 0


@contextlib.contextmanager
def set_up_lock(cache: Path) -> "Iterator[None]":
    """Hold the one lock under which anything in `cache` is built; it ends with this process at the latest."""
    import time

    with (cache / "lock").open("a") as file:
        if not take_lock(file.fileno()):
            say("another set-up is running: waiting for it")
            while not take_lock(file.fileno()):
                time.sleep(0.2)
        yield


def take_lock(descriptor: int) -> bool:
    """Take the lock on an open file, unless another process has it; tells whether it was taken."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def build_environment(cache: Path, key: str, source: str, *, yes: bool) -> Path:
    """Build the environment for `key` from `source` and return it.

    Each try gets a directory with a name of its own, since the pip of a killed set-up may still be writing
    into the last one, and a virtual environment cannot be renamed.
    """
    import tempfile

    with set_up_lock(cache):
        built = find_environment(cache, key)  # by the set-up that this one waited for
        if built:
            return built
        stamp = cache / f"env-{key}.stamp"
        stamp.unlink(missing_ok=True)
        sweep(cache)
        environment = Path(tempfile.mkdtemp(prefix=f"env-{key}-", dir=cache))
        say(f"setting up a private environment in {environment}")
        try:
            write_stamp(stamp, environment, fill(environment, source, yes=yes))
        except BaseException:
            shutil.rmtree(environment, ignore_errors=True)
            raise
        return environment


def write_stamp(stamp: Path, environment: Path, leans_on: "list[Path]") -> None:
    """Declare `environment` finished; see `find_environment`."""
    command = program(environment, "conformance")
    if not command.exists():
        raise SetupError(f"expected pip to make {command}: declare it in [project.scripts]")
    part = stamp.with_suffix(".part")
    lines = [environment, command, Path(base_python()).resolve(), *leans_on]
    part.write_text("\n".join(map(str, lines)), encoding="utf-8", errors="surrogateescape")
    part.replace(stamp)


def sweep(cache: Path) -> None:
    """Remove what killed set-ups left and what nobody uses any more; needs the lock."""
    import time

    for killed in cache.glob("part-*"):
        shutil.rmtree(killed, ignore_errors=True)
    for stamp in cache.glob("env-*.stamp"):
        if stamp.stat().st_mtime < time.time() - UNUSED_SECONDS:
            stamp.unlink()
    stamps = [stamp.read_text(encoding="utf-8", errors="replace") for stamp in cache.glob("env-*.stamp")]
    in_use = {text.split("\n", 1)[0] for text in stamps}
    for folder in cache.glob("env-*-*"):
        if str(folder) not in in_use:
            shutil.rmtree(folder, ignore_errors=True)


def fill(environment: Path, source: str, *, yes: bool) -> "list[Path]":
    """Make a virtual environment with the project and all it needs in the directory `environment`.

    Returns the paths outside it that it leans on. Raises SetupError.
    """
    import tomllib

    try:
        project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
        tools = project["build-system"]["requires"]
        needs = project["project"]["dependencies"] + project["project"]["optional-dependencies"]["test"]
    except (ValueError, KeyError) as error:
        raise SetupError(f"cannot use {REPO / 'pyproject.toml'} ({error!r}): mend or restore it") from error
    has_debian = shutil.which("apt-get") is not None
    if source != "debian":
        try:
            fill_from_index(environment, tools)
        except IndexUnusable as reason:
            if source == "index" or not has_debian:
                failure = MissingSourceError if isinstance(reason, IndexMissing) else SetupError
                no_debian = "" if source else ", and Debian's packages are not to be had here"
                raise failure(
                    f"{reason}{no_debian}: connect to an index (behind a proxy, set https_proxy), "
                    f"or set PIP_NO_INDEX=1 and PIP_FIND_LINKS to a folder of wheels"
                ) from reason
            say(f"{reason}: using Debian's packages")
        else:
            return []
    elif not has_debian:
        raise MissingSourceError("Debian's packages are not to be had here, there is no apt-get: use --from index")
    return fill_from_debian(environment, [*tools, *needs], yes=yes)


def fill_from_index(environment: Path, tools: "list[str]") -> None:
    """Fill `environment` from the index or folder that pip is configured for; raises IndexUnusable.

    `tools`, the build requirements, serve as the probe: small, and needed in any case.
    """
    from importlib.util import find_spec

    if find_spec("ensurepip") is None:
        raise IndexMissing("this Python has no ensurepip to make an environment with pip")
    if find_spec("pip"):
        probe_index(sys.executable, tools)
    python = str(program(environment, "python"))
    code, output = call([base_python(), "-I", "-m", "venv", "--without-pip", str(environment)])
    if not code:  # asked for by itself, as venv would keep to itself why it failed
        code, output = call([python, "-I", "-m", "ensurepip", "--default-pip"])
    if code:
        raise IndexMissing(f"this Python makes no environment ({telling_line(output)})")
    if not find_spec("pip"):
        probe_index(python, tools)
    say("installing the project and what it needs from the package index")
    install = [python, "-I", "-m", "pip", "install", "-q"]
    code, output = call([*install, *tools])
    if not code:
        # Without isolation, as hatchling asks for `editables` otherwise, which this project does not need.
        code, output = call([*install, "--no-build-isolation", "-e", ".[test]"])
    if code:
        raise IndexUnusable(f"the package index did not serve ({telling_line(output)})")


def probe_index(python: str, tools: "list[str]") -> None:
    """Raise IndexMissing unless pip's index serves `tools` now.

    Only pip knows its index, its proxies and its certificates, so pip is asked, but without the patience
    (retries, PIP_DEFAULT_TIMEOUT) that would cost minutes where there is no index.
    """
    import tempfile

    options = ["--retries", "0", "--timeout", "3", "--no-deps", "--only-binary", ":all:", "-vv"]  # -vv: why not
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-I", "-m", "pip", "download", *options, "-d", folder, *tools]
        code, output = call(command, seconds=PROBE_SECONDS)
    if code:
        raise IndexMissing(f"no Python package index answers ({telling_line(output)})")


def fill_from_debian(environment: Path, requirements: "list[str]", *, yes: bool) -> "list[Path]":
    """Fill `environment` with the project, on top of Debian's packages; returns the paths it leans on."""
    needs = ["pip", *map(bare_name, requirements)]
    records = find_system_packages(needs)
    missing = [f"python3-{name}" for name in needs if name not in records]
    if missing:  # Debian's naming rule holds for all of them
        base = [] if Path(SYSTEM_PYTHON).exists() else ["python3"]
        install_debian_packages([*base, *sorted(missing)], yes=yes)
        records = find_system_packages(needs)
    say(f"installing the project on top of Debian's packages, for {SYSTEM_PYTHON}")
    venv = ["-I", "-m", "venv", "--clear", "--system-site-packages", "--without-pip", str(environment)]
    code, output = call([SYSTEM_PYTHON, *venv])
    if not code:
        # With dependencies: pip, which fetches nothing here, checks the versions.
        install = ["-I", "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "-e", ".[test]"]
        code, output = call([str(program(environment, "python")), *install])
    if code:
        raise SetupError(f"Debian's packages do not serve ({telling_line(output)}): use a package index")
    return [Path(SYSTEM_PYTHON).resolve(), *map(Path, records.values())]


def bare_name(requirement: str) -> str:
    """Return the normalized distribution name in a requirement such as `pytest_xdist>=3.1`."""
    import re

    name = re.split(r"[^A-Za-z0-9._-]", requirement.strip(), maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def find_system_packages(names: "list[str]") -> "dict[str, str]":
    """Return, for each distribution of `names` that the system's Python sees, the path of its record."""
    import json

    script = (
        "import sys, json, importlib.metadata as m; assert sys.version_info >= (3, 11), 'it is too old'\n"
        "found = ((name, list(m.distributions(name=name))) for name in sys.argv[1:])\n"
        "print(json.dumps({name: str(d[0]._path) for name, d in found if d}))"
    )
    if not Path(SYSTEM_PYTHON).exists():
        return {}
    code, output = call([SYSTEM_PYTHON, "-I", "-c", script, *names])
    if code:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        raise MissingSourceError(
            f"expected {SYSTEM_PYTHON} to be Python {oldest} or newer ({telling_line(output)}): "
            f"use a newer Debian or a Python package index (PIP_INDEX_URL)"
        )
    return dict(json.loads(output))


def install_debian_packages(packages: "list[str]", *, yes: bool) -> None:
    """Install `packages` with apt-get, if that is allowed; raises SetupError."""
    install = ["apt-get", "install", "--no-install-recommends", "-y", *packages]
    prefix = [*ask_permission(install, yes=yes), "env", "DEBIAN_FRONTEND=noninteractive"]
    say(f"installing with apt-get: {' '.join(packages)}")
    patient = ["-o", "DPkg::Lock::Timeout=120"]  # another apt-get may be running
    code, output = call([*prefix, *install, *patient])
    if code:  # no package lists yet, or old ones
        call([*prefix, "apt-get", "update", *patient])
        code, output = call([*prefix, *install, *patient])
    if code:
        raise MissingSourceError(f"apt-get failed ({telling_line(output)}): run `{' '.join(install)}` as root")


def ask_permission(install: "list[str]", *, yes: bool) -> "list[str]":
    """Return what goes before `install` to run it as root; raises SetupError where that is not allowed."""
    if sys.platform == "win32":
        return []
    root = os.geteuid() == 0
    terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    allowed = yes or (root and (not terminal or bool(os.environ.get("CI"))))
    if not allowed and terminal:
        say(f"missing packages would be installed with: {'' if root else 'sudo '}{' '.join(install)}")
        sys.stderr.write("bootstrap: do that now? [y/N] ")
        sys.stderr.flush()
        allowed = sys.stdin.readline().strip().lower() in ("y", "yes")
    if allowed and root:
        return []
    if allowed and shutil.which("sudo"):
        return ["sudo"] if terminal else ["sudo", "-n"]
    raise MissingSourceError(f"Debian packages are missing: run `{' '.join(install)}` as root, then start again")


def install_pwsh(cache: Path, version: str) -> Path:
    """Install PowerShell of that `version`, a default if it is empty, and return its program."""
    ways = [(version, install_tool)]
    if version in known_archives():
        ways = [(version, install_archive)]  # it brings the .NET runtime that it needs
    elif not version:
        ways = [(PWSH_TOOL, install_tool), (PWSH_ARCHIVE, install_archive)]
    failure = None
    with set_up_lock(cache):
        found = find_pwsh(cache, version)  # by the set-up that this one waited for
        if found:
            return found
        sweep(cache)
        for candidate, install in ways:
            if failure:
                say(str(failure))
            try:
                return install_complete(cache / f"pwsh-{candidate}", candidate, install)
            except SetupError as error:
                failure = error
    if version:
        known = ", ".join(known_archives()) or "none"
        advice = f"mend that, or ask for a version that needs no .NET SDK on {archive_platform()} ({known})"
    else:
        advice = "install PowerShell 7 or the .NET SDK 10, or set CONFORMANCE_PWSH to a pwsh"
    raise SetupError(f"PowerShell {version or 7} cannot be installed: {failure}: {advice}") from failure


def install_complete(folder: Path, version: str, install: "Callable[[Path, str], None]") -> Path:
    """Install PowerShell in `folder`, which appears complete or not at all; returns its program."""
    import tempfile

    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder.parent))
    try:
        install(part, version)
        shutil.rmtree(folder, ignore_errors=True)
        rename(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder / PWSH


def rename(folder: Path, target: Path) -> None:
    """Rename `folder`, patiently on Windows, where a virus scanner may still have its new files open."""
    import time

    for _ in range(20 if sys.platform == "win32" else 0):
        with contextlib.suppress(PermissionError):
            folder.rename(target)
            return
        time.sleep(0.5)
    folder.rename(target)


def install_tool(folder: Path, version: str) -> None:
    """Install the .NET tool PowerShell from NuGet in `folder`; raises SetupError."""
    dotnet = shutil.which("dotnet")
    if dotnet is None:
        raise SetupError(f"there is no dotnet on PATH to install PowerShell {version} with")
    say(f"installing PowerShell {version} with dotnet")
    settings = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE") or ""
    if "DOTNET_CLI_HOME" not in os.environ and not os.access(home, os.W_OK):
        settings["DOTNET_CLI_HOME"] = str(folder.parent / "dotnet-home")  # dotnet does nothing without a home
    # Detailed, as dotnet would keep to itself why a download failed.
    install = ["tool", "install", "PowerShell", "--version", version, "-v", "d", "--tool-path", str(folder)]
    # Started in the cache, so that no global.json or nuget.config of the current directory has a say.
    code, output = call([dotnet, *install], cwd=folder.parent, seconds=DOTNET_SECONDS, variables=settings)
    if code:
        raise SetupError(f"dotnet did not install PowerShell {version} ({telling_line(output)})")
    # As conformance will start it.
    check_pwsh(folder / PWSH, version, os.environ.get("DOTNET_ROOT") or str(Path(dotnet).resolve().parent))


def install_archive(folder: Path, version: str) -> None:
    """Unpack PowerShell's release archive into `folder`; raises SetupError."""
    system = archive_platform()
    if version not in known_archives():
        raise SetupError(f"there is no known release archive of PowerShell {version} for {system}")
    digest = known_archives()[version]
    name = f"PowerShell-{version}-{system}.zip" if system.startswith("win") else f"powershell-{version}-{system}.tar.gz"
    base = os.environ.get("CONFORMANCE_PWSH_ARCHIVES") or PWSH_ARCHIVES
    url = f"{base.rstrip('/')}/v{version}/{name}"
    say(f"installing PowerShell {version} from {url}")
    archive = folder / name
    found = download(url, archive)
    if found != digest:
        raise SetupError(f"{url} has the SHA-256 {found}, expected {digest}, so nothing was installed")
    (unpack_zip if archive.suffix == ".zip" else unpack_tar)(archive, folder)
    archive.unlink()
    (folder / PWSH).chmod(0o755)
    check_pwsh(folder / PWSH, version, None)


def known_archives() -> "dict[str, str]":
    """Return the SHA-256 of the release archives for this machine, by version."""
    system = archive_platform()
    pins = (line.split() for line in PWSH_DIGESTS.strip().splitlines())
    return {version: digest for version, pinned_system, digest in pins if pinned_system == system}


def archive_platform() -> str:
    """Return this machine's name in those of the release archives, such as linux-x64."""
    import platform

    machine = platform.machine().lower()
    processor = {"amd64": "x64", "x86_64": "x64", "aarch64": "arm64"}.get(machine, machine)
    if sys.platform == "linux":
        return f"linux-{processor}" if platform.libc_ver()[0] == "glibc" else f"Linux without glibc, {processor}"
    return {"darwin": "osx", "win32": "win"}.get(sys.platform, sys.platform) + "-" + processor


def download(url: str, target: Path) -> str:
    """Write what `url` holds to `target` and return its SHA-256; raises SetupError."""
    import http.client
    import urllib.error
    import urllib.request

    digest = hashlib.sha256()
    size = 0
    try:
        with urllib.request.build_opener().open(url, timeout=SILENCE_SECONDS) as answer, target.open("wb") as file:
            for chunk in iter(lambda: answer.read(1 << 16), b""):
                digest.update(chunk)
                size += file.write(chunk)
                if size > ARCHIVE_BYTES:
                    raise SetupError(f"{url} is too long to be an archive of PowerShell")
            length = int(answer.headers.get("Content-Length", size))
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, OSError) and is_disk_full(error):
            raise
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise SetupError(f"{url} {why_not_downloaded(error)}") from error
    if size != length:
        raise SetupError(f"{url} was cut off after {size} of {length} bytes, so start again")
    return digest.hexdigest()


def why_not_downloaded(error: Exception) -> str:
    """Return what `error` says of a download, and what to do."""
    reason = " ".join(str(getattr(error, "reason", error)).split())
    status = getattr(error, "code", None)
    if status is not None and status != 407:
        return f"answers {status} {reason}"
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        mac = "run `Install Certificates.command` in the folder of your Python, or " if sys.platform == "darwin" else ""
        return f"has a certificate that this Python does not trust ({mac}set SSL_CERT_FILE to a file with its issuer)"
    return f"cannot be fetched ({reason}; behind a proxy, set https_proxy)"


def unpack_tar(archive: Path, folder: Path) -> None:
    """Unpack the tar file `archive` into `folder`.

    By hand: not every Python 3.11 has tarfile's filters, without which it would take over owners and modes.
    """
    import tarfile

    with tarfile.open(str(archive)) as tar:
        for member in tar:
            if member.isdir():
                continue
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                raise SetupError(f"{archive.name} holds {member.name}, expected files only, so nothing was installed")
            with content, new_file(folder, member.name).open("xb") as file:
                shutil.copyfileobj(content, file)


def unpack_zip(archive: Path, folder: Path) -> None:
    """Unpack the zip file `archive` into `folder`."""
    import zipfile

    with zipfile.ZipFile(str(archive)) as zipped:
        for member in zipped.infolist():
            if not member.is_dir():
                with zipped.open(member) as content, new_file(folder, member.filename).open("xb") as file:
                    shutil.copyfileobj(content, file)


def new_file(folder: Path, name: str) -> Path:
    """Return the path of an archive's member `name` in `folder`, ready to be written."""
    path = folder / name
    if folder not in path.parents or ".." in path.parts[len(folder.parts) :]:
        raise SetupError(f"the archive holds {name!r}, which leads out of its folder, so nothing was installed")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def check_pwsh(pwsh: Path, version: str, dotnet_root: "str | None") -> None:
    """Raise SetupError unless `pwsh` starts as conformance will start it, and is PowerShell `version`."""
    command = [str(pwsh), "-NoLogo", "-NoProfile", "-NonInteractive"]
    command += ["-Command", "$PSVersionTable.PSVersion.ToString()"]
    variables = {"DOTNET_ROOT": dotnet_root, INVARIANT: None, "POWERSHELL_TELEMETRY_OPTOUT": "1"}
    code, output = call(command, seconds=PWSH_SECONDS, variables=variables)
    if (
        code not in (0, NO_ANSWER)
        and not call(command, seconds=PWSH_SECONDS, variables={**variables, INVARIANT: "1"})[0]
    ):
        libicu = "libicu is missing: install it, for example with apt-get install libicu-dev or dnf install libicu"
        raise SetupError(f"PowerShell {version} does not start here ({libicu})")
    first_line = next((line for line in output.splitlines() if line.strip()), "it said nothing")[:300]
    if code:
        raise SetupError(f"PowerShell {version} does not start here ({first_line})")
    if output.strip() != version:
        raise SetupError(f"what was installed as PowerShell {version} says that it is {first_line}")


def call(
    command: "list[str]",
    *,
    cwd: Path = REPO,
    seconds: "float | None" = None,
    variables: "Mapping[str, str | None] | None" = None,
) -> "tuple[int, str]":
    """Run one step of the set-up, without stdin, for at most `seconds`; returns its exit code and output.

    A variable that is None is taken out. The output goes through a file: a pipe would have to wait for whatever
    the step leaves running behind it. Raises OSError where the step says that a disk is full.
    """
    import errno
    import subprocess
    import tempfile

    pip = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_NO_INPUT": "1"}
    elsewhere = dict.fromkeys(("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"))  # where these would lead an installation
    wanted = {**os.environ, **pip, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **elsewhere, **(variables or {})}
    environment = {name: value for name, value in wanted.items() if value is not None}
    with tempfile.TemporaryFile() as file:
        try:
            code = subprocess.run(
                command,
                cwd=cwd,
                env=environment,
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            ).returncode
        except subprocess.TimeoutExpired:
            return NO_ANSWER, f"no answer in {seconds} seconds"
        except OSError as error:
            return NO_ANSWER, f"cannot start {command[0]}: {error.strerror}"
        file.seek(0)
        output = file.read().decode("utf-8", "replace")
    if code and os.strerror(errno.ENOSPC) in output:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return code, output


def telling_line(output: str) -> str:
    """Return the line of `output` that best says what went wrong, cut to 300 characters."""
    import re

    lines = [line.strip() for line in output.splitlines() if line.strip()]
    lines.sort(key=lambda line: "error" in line.lower() and not line.startswith("note: "))
    own = ("ERROR: ", "E: ", "Unhandled exception: ")  # those of pip, apt and dotnet; the last one wins
    lines.sort(key=lambda line: line.startswith(own))
    lines.sort(key=lambda line: line.startswith("Could not fetch URL "))  # pip's, on why it found nothing
    cause = lines[-1].rpartition("(Caused by ")[2] if lines else "it said nothing"
    return re.sub(r"<[^<>]* object at [^<>]*>: ", "", cause)[:300]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
