"""What a report shows of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from conformance.process import Cancellation
from conformance.process.launch import TOKEN_VARIABLE
from conformance.runners.local import LocalRunner, child_environment, documented_environment, public_path


@pytest.mark.parametrize("home", ["/home/dev", "/Users/Jane Doe"])
def test_home_and_cache_are_named_and_not_shown(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    assert public_path(f"{home}/bin/pwsh") == "~/bin/pwsh"
    assert public_path(f"{home}/.cache/shell-exit-conformance/pwsh-7.6.9/pwsh") == "{{cache}}/pwsh-7.6.9/pwsh"
    assert public_path("/var/cache/shell-exit-conformance/systems/a-1/x.js") == "{{cache}}/systems/a-1/x.js"
    assert public_path("/var/cache/shell-exit-conformance/pwsh-7.6.9/pwsh") == "{{cache}}/pwsh-7.6.9/pwsh"
    assert public_path(f"CONFORMANCE_PWSH={home}/pwsh is no program") == "CONFORMANCE_PWSH=~/pwsh is no program"
    assert public_path("/usr/bin/bash") == "/usr/bin/bash"
    assert public_path(f"{home}-not/x") == f"{home}-not/x"
    assert public_path("x" * 500_000) == "x" * 500_000, "in a moment, not in an hour"


def test_the_environment_of_children_is_small_and_lacks_what_hides_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    monkeypatch.setenv("PATH", "/home/dev/bin:/usr/bin")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    environment = child_environment(Path("/place/home"), Path("/case/tmp"))
    assert not {"TERM", "NO_COLOR"} & set(environment)
    assert (environment["HOME"], environment["TMPDIR"], environment["LANG"]) == ("/place/home", "/case/tmp", "C.UTF-8")
    assert documented_environment(environment)["PATH"] == "~/bin:/usr/bin"


SET_ATTRIBUTE = (
    f'{sys.executable} -c \'import os; os.setxattr(".", "user.made", b"1")\' 2>/dev/null || echo there are none here'
)


def attributes(path: Path) -> list[str]:
    return os.listxattr(path) if sys.platform == "linux" else []


@pytest.mark.parametrize(
    "deed",
    [
        "true", "touch made", "mkdir -p made/deep", "touch .hidden", "touch $TMPDIR/made", "chmod 500 .",
        "chmod 777 $TMPDIR", "chmod 500 ..", "rmdir ../work", "rmdir ../work; ln -s $TMPDIR ../work",
        "touch ../made", "mkdir ../made", "touch made; chmod 000 .", SET_ATTRIBUTE,
    ],
)  # fmt: skip
def test_what_a_hook_does_to_its_folder_meets_no_other(deed: str) -> None:
    with closing(Cancellation()) as cancellation, LocalRunner(cancellation).open() as place:
        for expected in ("", deed):
            with place.stage() as stage:
                state = [
                    (path.is_symlink(), oct(path.stat().st_mode), [*path.iterdir(), *attributes(path)])
                    for path in (stage.working_directory, Path(stage.environment["TMPDIR"]))
                ]
                assert state == [(False, "0o40700", [])] * 2, f"after {expected!r}"
                assert oct(stage.folder.stat().st_mode) == "0o40700"
                assert {path.name for path in stage.folder.iterdir()} == {"work", "tmp"}
                subprocess.run(["sh", "-c", deed], cwd=stage.working_directory, env=stage.environment, check=True)


def test_a_path_that_a_case_handed_on_leads_to_no_other(tmp_path: Path) -> None:
    with closing(Cancellation()) as cancellation, LocalRunner(cancellation).open() as place:
        with place.stage() as first:
            handed_on = first.working_directory / "late"
        with place.stage() as second:
            with pytest.raises(FileNotFoundError):
                handed_on.write_text("late")
            assert list(second.working_directory.iterdir()) == []


def test_two_cases_in_turn_have_different_tokens_and_records() -> None:
    with closing(Cancellation()) as cancellation, LocalRunner(cancellation).open() as place:
        with place.stage() as first:
            first.witness_file.write_text("mark\n")
        with place.stage() as second:
            assert not second.witness_file.exists()
    assert first.witness_file != second.witness_file
    assert first.environment[TOKEN_VARIABLE] != second.environment[TOKEN_VARIABLE]
