#!/usr/bin/env python3
"""Set up a private environment for conformance, once, and run something in it.

The environment lives in the user's cache directory, never in the system's Python. It is filled from the
package index that pip is configured for; where none answers, from Debian's packages. A start that finds
it ready reads one small file and hands over; everything below `build_environment` is for the others.

Python's standard library only. The syntax, the top-level imports and the annotations that Python evaluates
are those of Python 3.6, so that an old interpreter can still find a newer one, or say what to install.
"""

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

USAGE = """\
usage: python3 bootstrap.py [--yes] run [ARGS]       conformance run ARGS
       python3 bootstrap.py [--yes] test [ARGS]      the project's own tests: pytest ARGS, in the repository
       python3 bootstrap.py [--yes] exec CMD [ARGS]  any command, the environment's programs first on PATH

  --yes    install missing Debian packages without asking
  --help   show this text

The first start sets up a private environment in the user's cache directory (XDG_CACHE_HOME), from the
package index that pip is configured for or, where none answers, from Debian's packages. PowerShell comes
from CONFORMANCE_PWSH, from PATH, or from NuGet with the .NET SDK. Exit code: that of the command; 2 wrong
usage, 3 set-up failed, 126 or 127 the command of exec could not be started, 130 interrupted.
"""

NAME = "shell-exit-conformance"
REPO = Path(__file__).resolve().parent
OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.13", "python3.12", "python3.11", "python3.14", "python3.15", "python3", "python")
SYSTEM_PYTHON = "/usr/bin/python3"  # the one that sees Debian's packages; `python3` on PATH may be another
PWSH_VERSION = "7.6.9"
RECIPE = "1"  # part of the key: a new number makes every user's next start build a new environment
PROBE_SECONDS = 20  # bounds what pip's own time-outs do not: a name look-up, an answer that never ends
DOTNET_SECONDS = 300
UNUSED_SECONDS = 30 * 24 * 3600  # an environment that nobody started for so long is removed


class UsageError(Exception):
    """The command line cannot be understood (exit code 2); its text is one sentence for the user."""


class SetupError(Exception):
    """Set-up cannot go on (exit code 3); its text is one sentence: what was expected, what to do."""


class IndexUnusable(Exception):  # noqa: N818 - an answer that leads to Debian's packages, not yet an error
    """The environment cannot be filled from a package index; its text is the reason, a few words."""


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
        say(f"set-up failed: {error}; mend that or set XDG_CACHE_HOME to another folder, then start again")
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    return 3


def start(argv: "list[str]") -> int:
    """Do the work of `main`; raises UsageError, SetupError, OSError."""
    yes, words = parse(argv)
    if not words:
        sys.stdout.write(USAGE)
        return 0
    if sys.version_info < OLDEST_PYTHON:
        return hand_over([*find_newer_python(), str(Path(__file__).resolve()), *argv], dict(os.environ))
    cache = open_cache()
    key = environment_key()
    environment = find_environment(cache, key) or build_environment(cache, key, yes=yes)
    variables = child_variables(environment)
    variables.update(pwsh_variables(cache))
    verb, arguments = words[0], words[1:]
    if verb == "run":
        return hand_over([str(program(environment, "conformance")), "run", *arguments], variables)
    if verb == "exec":
        return hand_over(arguments, variables)
    os.chdir(str(REPO))
    pytest = [str(program(environment, "python")), "-m", "pytest"]
    return hand_over([*pytest, *worker_options(arguments), *arguments], variables)


def parse(argv: "list[str]") -> "tuple[bool, list[str]]":
    """Split `argv` into (whether --yes was given, the verb and its arguments); no words means --help."""
    yes = False
    words = list(argv)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-h", "--help"):
            return yes, []
        if option != "--yes":
            raise UsageError(f"unknown option {option!r}: expected --yes or --help before run, test or exec")
        yes = True
    if not words:
        raise UsageError("expected what to do: run, test or exec")
    if words[0] not in ("run", "test", "exec"):
        raise UsageError(f"unknown verb {words[0]!r}: expected run, test or exec")
    if words == ["exec"]:
        raise UsageError("exec expects a command, for example: exec conformance list")
    return yes, words


def say(sentence: str) -> None:
    """Tell the user on stderr; never fails, not even with stderr closed."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print("bootstrap: " + sentence, file=sys.stderr, flush=True)


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
        f"install one (Debian 12 or newer, Ubuntu 24.04 or newer: apt-get install python3) and start again"
    )


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
    """Run `command` to its end as a child (Windows) and return its exit code as sys.exit takes it."""
    import signal
    import subprocess

    path = shutil.which(command[0], path=variables.get("PATH"))
    if path is None:
        raise FileNotFoundError(command[0])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the console sends Ctrl-C to the child as well: it decides
    code = subprocess.Popen([path, *command[1:]], env=variables).wait()
    return code - 2**32 if code >= 2**31 else code  # sys.exit takes a signed C int


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


def environment_key() -> str:
    """Return a digest of all that an environment depends on and that can be told without a search."""
    try:
        project = (REPO / "pyproject.toml").read_bytes()
    except OSError as error:
        message = f"expected pyproject.toml in {REPO}, beside bootstrap.py: start it from a clone"
        raise SetupError(message) from error
    parts = (RECIPE, str(REPO), str(Path(base_python()).resolve()), sys.version)
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
        os.utime(str(stamp))  # its age tells `sweep` that it is in use
    except OSError:
        return None
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


def pwsh_variables(cache: Path) -> "dict[str, str]":
    """Return the variable that tells conformance of the cache's PowerShell, where the user has none.

    Installs it if need be. Where that cannot be done it says so; whether it matters, conformance judges.
    """
    if "CONFORMANCE_PWSH" in os.environ or shutil.which("pwsh"):
        return {}
    folder = cache / f"pwsh-{PWSH_VERSION}"
    shim = folder / ("pwsh.exe" if sys.platform == "win32" else "pwsh")
    if not shim.exists():
        try:
            with set_up_lock(cache):
                if not shim.exists():
                    install_pwsh(folder)
        except SetupError as error:
            say(str(error))
            return {}
    return {"CONFORMANCE_PWSH": str(shim)}


# ---- From here on: only where something is missing. ----


@contextlib.contextmanager
def set_up_lock(cache: Path) -> "Iterator[None]":
    """Hold the one lock under which anything in `cache` is built; it ends with this process at the latest."""
    with (cache / "lock").open("a") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            while True:
                with contextlib.suppress(OSError):  # gives up after 10 tries, a second apart
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("another set-up is running: waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build_environment(cache: Path, key: str, *, yes: bool) -> Path:
    """Build the environment for `key` and return it; `yes` allows to install Debian packages unasked.

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
        leans_on = fill(environment, yes=yes)
        command = program(environment, "conformance")
        if not command.exists():
            raise SetupError(f"expected pip to make {command}: declare it in [project.scripts]")
        part = stamp.with_suffix(".part")
        lines = [environment, command, Path(base_python()).resolve(), *leans_on]
        part.write_text("\n".join(map(str, lines)), encoding="utf-8", errors="surrogateescape")
        part.replace(stamp)
        return environment


def sweep(cache: Path) -> None:
    """Remove what killed set-ups left and what nobody uses any more; needs the lock."""
    import time

    for stamp in cache.glob("env-*.stamp"):
        if stamp.stat().st_mtime < time.time() - UNUSED_SECONDS:
            stamp.unlink()
    stamps = [stamp.read_text(encoding="utf-8", errors="replace") for stamp in cache.glob("env-*.stamp")]
    in_use = {text.split("\n", 1)[0] for text in stamps}
    for folder in cache.glob("env-*-*"):
        if str(folder) not in in_use:
            shutil.rmtree(folder, ignore_errors=True)


def fill(environment: Path, *, yes: bool) -> "list[Path]":
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
    try:
        fill_from_index(environment, tools)
    except IndexUnusable as reason:
        if shutil.which("apt-get") is None:
            way_out = "connect to an index, or set PIP_NO_INDEX=1 and PIP_FIND_LINKS to a folder of wheels"
            raise SetupError(f"{reason}, and Debian's packages are not to be had here: {way_out}") from reason
        say(f"{reason}: using Debian's packages")
        return fill_from_debian(environment, [*tools, *needs], yes=yes)
    return []


def fill_from_index(environment: Path, tools: "list[str]") -> None:
    """Fill `environment` from the index or folder that pip is configured for; raises IndexUnusable.

    `tools`, the build requirements, serve as the probe: small, and needed in any case.
    """
    from importlib.util import find_spec

    if find_spec("ensurepip") is None:
        raise IndexUnusable("this Python has no ensurepip to make an environment with pip")
    if find_spec("pip"):
        probe_index(sys.executable, tools)
    code, output = call([base_python(), "-I", "-m", "venv", str(environment)])
    if code:
        raise IndexUnusable(f"this Python makes no environment ({telling_line(output)})")
    python = str(program(environment, "python"))
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
    """Raise IndexUnusable unless pip's index serves `tools` now.

    Only pip knows its index, its proxies and its certificates, so pip is asked, but without the patience
    (retries, PIP_DEFAULT_TIMEOUT) that would cost minutes where there is no index.
    """
    import tempfile

    options = ["--retries", "0", "--timeout", "3", "--no-deps", "--only-binary", ":all:", "-q"]
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-I", "-m", "pip", "download", *options, "-d", folder, *tools]
        code, output = call(command, seconds=PROBE_SECONDS)
    if code:
        raise IndexUnusable(f"no Python package index answers ({telling_line(output)})")


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
        raise SetupError(
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
        raise SetupError(f"apt-get failed ({telling_line(output)}): run `{' '.join(install)}` as root")


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
    raise SetupError(f"Debian packages are missing: run `{' '.join(install)}` as root, then start again")


def install_pwsh(folder: Path) -> None:
    """Install PowerShell from NuGet into `folder`, which appears complete or not at all; needs the lock."""
    import tempfile

    way_out = "install PowerShell 7 or the .NET SDK 10, or set CONFORMANCE_PWSH to a pwsh"
    dotnet = shutil.which("dotnet")
    if dotnet is None:
        raise SetupError(f"neither pwsh nor dotnet is on PATH: {way_out}")
    for killed in folder.parent.glob("part-*"):
        shutil.rmtree(killed, ignore_errors=True)
    say(f"installing PowerShell {PWSH_VERSION} in {folder}, with dotnet")
    part = tempfile.mkdtemp(prefix="part-", dir=folder.parent)
    settings = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE") or ""
    if "DOTNET_CLI_HOME" not in os.environ and not os.access(home, os.W_OK):
        settings["DOTNET_CLI_HOME"] = str(folder.parent / "dotnet-home")  # dotnet does nothing without a home
    install = ["tool", "install", "PowerShell", "--version", PWSH_VERSION, "--tool-path", part]
    # Started in the cache, so that no global.json or nuget.config of the current directory has a say.
    code, output = call([dotnet, *install], cwd=folder.parent, seconds=DOTNET_SECONDS, variables=settings)
    if code:
        shutil.rmtree(part, ignore_errors=True)
        raise SetupError(f"dotnet did not install PowerShell ({telling_line(output)}): {way_out}")
    shutil.rmtree(folder, ignore_errors=True)
    Path(part).rename(folder)


def call(
    command: "list[str]",
    *,
    cwd: Path = REPO,
    seconds: "float | None" = None,
    variables: "dict[str, str] | None" = None,
) -> "tuple[int, str]":
    """Run one step of the set-up, without stdin, for at most `seconds`; returns its exit code and output.

    The output goes through a file: a pipe would have to wait for whatever the step leaves running behind it.
    """
    import subprocess
    import tempfile

    pip = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_NO_INPUT": "1"}
    environment = {**os.environ, **pip, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **(variables or {})}
    for name in ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT"):  # these would lead an installation elsewhere
        environment.pop(name, None)
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
            return -1, f"no answer in {seconds} seconds"
        file.seek(0)
        return code, file.read().decode("utf-8", "replace")


def telling_line(output: str) -> str:
    """Return the line of `output` that best says what went wrong, cut to 300 characters."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    lines.sort(key=lambda line: "error" in line.lower() and not line.startswith("note: "))
    lines.sort(key=lambda line: line.startswith(("ERROR: ", "E: ")))  # pip's and apt's own; the last one wins
    return lines[-1][:300] if lines else "it said nothing"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
