"""What is published: the wheel and the sdist, built without a network and used far from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from importlib.metadata import distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import Finished, call_cli, command_environment, valid_report
from packaging.requirements import Requirement

import conformance
from conformance.catalog import load_catalog

CHECKOUT = Path(__file__).resolve().parents[2]
CASE = "exit-codes/exit-7/bash-command"
DIST_INFO = f"shell_exit_conformance-{conformance.__version__}.dist-info"
IMPORT_ALL = """
import importlib, pkgutil, conformance
for module in pkgutil.walk_packages(conformance.__path__, "conformance."):
    if not module.name.startswith("conformance.pytest_plugin"):
        importlib.import_module(module.name)
        print(module.name)
try:
    import pytest
except ImportError:
    pass
else:
    raise SystemExit("pytest can be imported, so this proves nothing")
"""

pytestmark = [
    pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling, which builds the project, is not installed"),
    pytest.mark.skipif(not (CHECKOUT / "pyproject.toml").exists(), reason="there is nothing to build here"),
]


@dataclass(frozen=True)
class Built:
    wheel: Path
    sdist: Path


def build(source: Path, folder: Path) -> Built:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t", "sdist", "-t", "wheel"]
    subprocess.run(command, cwd=source, env=command_environment(), check=True, capture_output=True, timeout=120)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(CHECKOUT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="session")
def unpacked(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist as somebody finds it who downloaded it."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(built.sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # older ones have no filters, newer ones warn without
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder)
    (root,) = folder.iterdir()
    return root


@pytest.fixture(scope="session")
def metadata(built: Built) -> Message:
    with zipfile.ZipFile(built.wheel) as archive:
        return BytesParser().parsebytes(archive.read(f"{DIST_INFO}/METADATA"))


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel was installed into, by pip and without an index."""
    if find_spec("pip") is None:
        pytest.skip("pip, which installs the wheel, is missing")
    folder = tmp_path_factory.mktemp("installed")
    install = ["-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--target", str(folder)]
    subprocess.run([sys.executable, "-I", *install, str(built.wheel)], check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="session")
def dependencies(metadata: Message, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel requires, and what that requires, but no more: no pytest, for one."""
    folder = tmp_path_factory.mktemp("dependencies")
    modules = packages_distributions()
    for name in required(metadata.get_all("Requires-Dist", [])):
        for module in (module for module, names in modules.items() if name in map(normalized, names)):
            spec = find_spec(module)
            if spec is not None and spec.origin is not None:
                place = Path(spec.origin)
                place = place.parent if place.name == "__init__.py" else place
                (folder / place.name).symlink_to(place)
    return folder


def required(requirements: list[str]) -> set[str]:
    """Return the names of all distributions that `requirements` stand for here, directly or not."""
    names: set[str] = set()
    waiting = list(requirements)
    while waiting:
        requirement = Requirement(waiting.pop())
        name = normalized(requirement.name)
        if name not in names and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            names.add(name)
            waiting += distribution(name).requires or []
    return names


def normalized(name: str) -> str:
    return name.lower().replace("_", "-")


@dataclass(frozen=True)
class Elsewhere:
    """A Python that can import the installed package and what that requires, but nothing else, in a folder of its own.

    `packages` are the folders of the two.
    """

    packages: tuple[Path, Path]
    folder: Path

    def python(self, *arguments: str) -> Finished:
        run = subprocess.run(
            [sys.executable, "-S", "-s", *arguments],
            env=command_environment({"PYTHONPATH": os.pathsep.join(map(str, self.packages))}),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Finished(run.returncode, run.stdout, run.stderr)

    def conformance(self, *arguments: str) -> Finished:
        return self.python(str(self.packages[0] / "bin" / "conformance"), *arguments)


@pytest.fixture
def elsewhere(installed: Path, dependencies: Path, tmp_path: Path) -> Elsewhere:
    return Elsewhere((installed, dependencies), tmp_path)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def files_below(*folders: str, suffixes: tuple[str, ...] = ("",)) -> Iterator[str]:
    """Yield the files of the checkout that lie in `folders`, without what running them left behind."""
    for folder in folders:
        for path in (CHECKOUT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.name.endswith(suffixes):
                yield path.relative_to(CHECKOUT).as_posix()


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(built: Built) -> None:
    found = contents(built.wheel)
    data = {f"conformance/{name}": name for name in files_below("adapters", "fixtures", "matrices")}
    suffixes = (".py", ".schema.json", ".bash", ".ps1", ".html", ".css", ".js")
    code = {name: name for name in files_below("conformance", suffixes=suffixes)}
    code |= {name: name for name in files_below("conformance/starting")}
    records = {f"{DIST_INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    records.add(f"{DIST_INFO}/licenses/LICENSE")
    assert set(found) == records | set(data) | set(code)
    for name, source in {**data, **code}.items():
        assert found[name] == (CHECKOUT / source).read_bytes(), name
    for name in (
        "schemas/report.schema.json",
        "matrices/pwsh-preserving.ps1",
        "adapters/npm/launchers/package-lock.json",
        "repro/supervise.bash",
        "starting/adapter.mjs",
        "starting/route.toml",
        "pytest_plugin/__init__.py",
        "views/html/page.html",
    ):
        assert f"conformance/{name}" in found


def test_the_sdist_holds_what_its_tests_need(unpacked: Path) -> None:
    found = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    ours = set(files_below("adapters", "bench", "conformance", "docs", "fixtures", "matrices", "tests"))
    around = {"CITATION.cff", "LICENSE", "README.md", "bootstrap.py", "pyproject.toml", "tox.ini"}
    assert found - {".gitignore", "PKG-INFO"} == ours | around
    for name in ours | around:
        assert (unpacked / name).read_bytes() == (CHECKOUT / name).read_bytes(), name


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_checkout(built: Built, unpacked: Path, tmp_path: Path) -> None:
    assert contents(build(unpacked, tmp_path).wheel) == contents(built.wheel)


def test_the_metadata_say_what_is_needed(metadata: Message) -> None:
    assert (metadata["Name"], metadata["Version"]) == ("shell-exit-conformance", conformance.__version__)
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    always = {Requirement(text).name for text in metadata.get_all("Requires-Dist", []) if "extra ==" not in text}
    assert always == {"click", "fastjsonschema", "jsonschema", "packaging", "platformdirs", "psutil", "rich", "tomlkit"}


def test_the_entry_points_are_the_command_and_the_plugin(built: Built) -> None:
    lines = contents(built.wheel)[f"{DIST_INFO}/entry_points.txt"].decode().split("\n")
    assert [line for line in lines if line] == [
        "[console_scripts]",
        "conformance = conformance.cli:main",
        "[pytest11]",
        "conformance.pytest_plugin = conformance.pytest_plugin",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("list", "matrices"),
        ("list", "cases", "full"),
        ("show", CASE),
        ("schema", "report"),
        ("systems",),
    ],
)
def test_the_installed_command_answers_as_that_of_the_checkout(
    arguments: tuple[str, ...], elsewhere: Elsewhere
) -> None:
    finished = elsewhere.conformance(*arguments)
    assert (finished.code, finished.err) == (0, "")
    assert finished.out == call_cli(*arguments).out


def test_the_installed_command_runs_the_core_matrix(elsewhere: Elsewhere) -> None:
    finished = elsewhere.conformance("run", "core", "--route", "bash-command", "--report", "report.jsonl")
    assert finished.code == 0, finished.out + finished.err
    report = valid_report(elsewhere.folder / "report.jsonl")
    assert report.complete
    catalog = load_catalog(["core"])
    assert report.header["suite"] == {"digest": catalog.digest, "matrices": ["core"]}
    wanted = {case.id for case in catalog.cases() if case.route.id == "bash-command"}
    assert {line["id"] for line in report.results} == wanted


def test_every_module_is_imported_without_the_extras(elsewhere: Elsewhere) -> None:
    finished = elsewhere.python("-c", IMPORT_ALL)
    assert finished.code == 0, finished.err
    modules = {name.removesuffix(".py").replace("/", ".") for name in files_below("conformance", suffixes=(".py",))}
    packages = {name.removesuffix(".__init__") for name in modules} - {"conformance"}
    assert set(finished.out.split()) == {name for name in packages if not name.startswith("conformance.pytest_plugin")}


def test_the_plugin_of_the_installed_wheel_collects_the_cases(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nconformance_matrices = core\n")
    (tmp_path / "conftest.py").write_text(
        "from conformance import pytest_plugin\n"
        f"assert pytest_plugin.__file__.startswith({str(installed)!r}), pytest_plugin.__file__\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"],
        env=command_environment({"PYTHONPATH": str(installed)}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    collected = [line.partition("::")[2] for line in run.stdout.splitlines() if "::" in line]
    assert collected == call_cli("list").out.splitlines()
