"""No case id that was published is ever lost, and each that is new is written down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, command_environment

from conformance.catalog import Catalog, load_catalog, matrix_names

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not installed", allow_module_level=True)

from docs.released_cases import ids_of, lost, read_released, released_page, unreleased

FILE = Path(__file__).parents[1] / "data" / "released-cases.txt"
COMMAND = "python3 -m docs released-cases tests/data/released-cases.txt"


def test_every_released_id_names_a_case_and_every_case_is_released() -> None:
    catalog = load_catalog(matrix_names())
    text = FILE.read_text(encoding="utf-8")
    released = read_released(text)
    missing = lost(released, catalog)
    assert not missing, (
        f"{len(missing)} released ids name no case any more, such as {missing[0]}: ids are permanent, so give the "
        "fixture or the route its former id as one of its `aliases`, or bring the case back"
    )
    new = unreleased(released, catalog)
    assert not new, f"{len(new)} cases are new, such as {new[0]}: add them with `{COMMAND}`"
    assert released_page(text, catalog) == text, "somebody edited it by hand"
    assert len(ids_of(released)) > 5000


FIXTURE = """
[[fixture]]
id = "{id}"
{aliases}
summary = "s"
source = "https://example.org/"
body.sh = "{{{{mark}}}}"
[[fixture.expect]]
exit = 0
reason = "r"
"""
MATRIX = """
fixtures = ["topic/*"]
[[route]]
id = "{id}"
{aliases}
kind = "one-shot"
dialects = ["sh"]
argv = ["sh", "-c", "{{{{body}}}}"]
source = "https://example.org/"
"""


def catalog_of(folder: Path, fixture: str, route: str, *, fixture_was: str = "", route_was: str = "") -> Catalog:
    (folder / "topic.toml").write_text(
        FIXTURE.format(id=fixture, aliases=f'aliases = ["topic/{fixture_was}"]' if fixture_was else "")
    )
    text = MATRIX.format(id=route, aliases=f'aliases = ["{route_was}"]' if route_was else "")
    (folder / "matrix").mkdir(exist_ok=True)
    matrix = folder / "matrix" / "m.toml"
    matrix.write_text(text)
    return load_catalog([str(matrix)], fixture_folder=folder)


OLD = "topic/a: r s\n"


def test_an_id_that_is_gone_is_found_unless_it_leads_to_todays(tmp_path: Path) -> None:
    released = read_released("topic/a: r\n")
    assert lost(released, catalog_of(tmp_path, "a", "r")) == ()
    for fixture, route in (("b", "r"), ("a", "s"), ("b", "s")):
        assert lost(released, catalog_of(tmp_path, fixture, route)) == ("topic/a/r",)
    assert lost(released, catalog_of(tmp_path, "b", "r", fixture_was="a")) == ()
    assert lost(released, catalog_of(tmp_path, "a", "s", route_was="r")) == ()
    assert lost(released, catalog_of(tmp_path, "b", "s", fixture_was="a", route_was="r")) == ()
    assert lost(released, catalog_of(tmp_path, "b", "s", fixture_was="a")) == ("topic/a/r",)


def test_a_case_that_is_new_is_found(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, "b", "r", fixture_was="a")
    assert unreleased(read_released(OLD), catalog) == ("topic/b/r",)
    assert unreleased(read_released(OLD + "topic/b: r\n"), catalog) == ()


def test_cases_are_only_ever_added(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, "b", "r")
    assert released_page(OLD, catalog) == "topic/a: r s\ntopic/b: r\n"
    assert released_page("topic/b: z\n", catalog) == "topic/b: r z\n"
    assert released_page("", catalog) == "topic/b: r\n"


def run_docs(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "docs", "released-cases", path],
        cwd=ROOT,
        env=command_environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_the_program_adds_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    path.write_text("a/gone: forever\n")
    written = run_docs(path)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("a/gone: forever\n")
    assert set(FILE.read_text(encoding="utf-8").splitlines()) <= set(text.splitlines())


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    refused = run_docs(tmp_path / "cases.txt")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "cannot be read or written" in refused.stderr
    assert not (tmp_path / "cases.txt").exists()
