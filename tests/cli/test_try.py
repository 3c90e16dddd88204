"""`conformance try`: what a maintainer with a launcher and no file sees."""

from __future__ import annotations

from conftest import run_cli, valid_lines

BASH_FIXTURES = ("--fixture", "exit-codes/exit-7", "--fixture", "native-codes/native-*")


def test_a_launcher_that_adds_exit_0_is_told_what_its_users_lose() -> None:
    finished = run_cli("try", *BASH_FIXTURES, "--", "bash", "-c", "{{body}}; exit 0")
    assert finished.code == 1
    first, second, third = finished.out.splitlines()[:3]
    assert first.startswith("bash -c '{{body}}; exit 0' (bodies written in bash or sh) does not keep ")
    assert second == "- the failure is reported as success, so a hook that denies lets the tool run:"
    assert "native-codes/native-7" in third


def test_a_faithful_launcher_is_told_so() -> None:
    finished = run_cli("try", "--", "sh", "-c", "{{body}}")
    assert finished.code == 0, finished.out
    assert "(bodies written in sh) keeps the exact status and bytes of all" in finished.out.splitlines()[0]


def test_a_launcher_of_files_is_tried_as_well() -> None:
    finished = run_cli("try", *BASH_FIXTURES, "--", "bash", "{{body_file}}")
    assert finished.code == 0, finished.out


def test_the_dialect_can_be_named() -> None:
    finished = run_cli("try", "--dialect", "sh", *BASH_FIXTURES, "--", "bash", "-c", "{{body}}")
    assert finished.code == 0
    assert "(bodies written in sh)" in finished.out


def test_json_is_the_report() -> None:
    finished = run_cli("try", "--json", "--fixture", "exit-codes/exit-7", "--", "sh", "-c", "{{body}}")
    header, result, footer = valid_lines(finished.out)
    assert (header["kind"], result["kind"], footer["kind"]) == ("header", "result", "footer")
    assert (result["id"], result["result"]) == ("exit-codes/exit-7/try", "pass")
    assert result["status"] == {"kind": "exited", "code": 7}


def test_a_command_without_a_body_is_a_usage_error() -> None:
    finished = run_cli("try", "--", "bash", "-c", "exit 0")
    assert finished.code == 2
    assert "{{body}}" in finished.err
    assert "Traceback" not in finished.err


def test_a_launcher_that_runs_nothing_is_broken_and_not_wrong() -> None:
    finished = run_cli("try", "--", "true", "{{body}}")
    assert finished.code == 3
    assert "ran no body in any dialect" in finished.err


def test_a_launcher_that_does_not_exist_is_named() -> None:
    finished = run_cli("try", "--", "nosuchlauncher-zz", "{{body}}")
    assert finished.code == 3
    assert finished.err.startswith("conformance: nosuchlauncher-zz cannot be started")
