"""What the command costs before it does anything: it loads the subcommand that was asked for, and no other."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from conftest import call_cli, command_environment

from conformance.cli import SUBCOMMANDS

HEAVY = {"conformance.catalog", "importlib.metadata", "jsonschema", "packaging", "psutil", "rich"}
PROGRAM = """
import contextlib, io, json, sys
before = set(sys.modules)
from conformance.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
json.dump(sorted(set(sys.modules) - before), sys.stdout)
"""


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that `conformance ARGUMENTS` loads."""
    program = [sys.executable, "-c", PROGRAM, *arguments]
    run = subprocess.run(program, env=command_environment(), stdout=subprocess.PIPE, check=True, timeout=60)
    return set(json.loads(run.stdout))


def test_the_version_is_said_without_loading_anything_heavy() -> None:
    loaded = loaded_by("--version")
    assert {name for name in loaded if name.startswith("conformance")} == {
        "conformance",
        "conformance.cli",
        "conformance.cli.subcommands",
        "conformance.errors",
        "conformance.views",
        "conformance.views.text",
    }
    assert "click" in loaded
    assert not HEAVY & loaded


def test_a_schema_is_printed_without_loading_anything_heavy() -> None:
    assert not HEAVY & loaded_by("schema", "report")


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_table_of_subcommands_is_right(name: str) -> None:
    assert SUBCOMMANDS[name].name == name


def test_a_wrong_subcommand_is_a_usage_error() -> None:
    finished = call_cli("lst")
    assert (finished.code, finished.out) == (2, "")
    assert "No such command 'lst'" in finished.err
