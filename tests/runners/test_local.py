"""What a report shows of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.runners.local import child_environment, documented_environment, public_path


@pytest.mark.parametrize("home", ["/home/dev", "/Users/Jane Doe"])
def test_home_and_cache_are_named_and_not_shown(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    assert public_path(f"{home}/bin/pwsh") == "~/bin/pwsh"
    assert public_path(f"{home}/.cache/shell-exit-conformance/pwsh-7.6.9/pwsh") == "{{cache}}/pwsh-7.6.9/pwsh"
    assert public_path("/var/cache/shell-exit-conformance/pwsh-7.6.9/pwsh") == "{{cache}}/pwsh-7.6.9/pwsh"
    assert public_path(f"CONFORMANCE_PWSH={home}/pwsh is no program") == "CONFORMANCE_PWSH=~/pwsh is no program"
    assert public_path("/usr/bin/bash") == "/usr/bin/bash"
    assert public_path(f"{home}-not/x") == f"{home}-not/x"


def test_the_environment_of_children_is_small_and_lacks_what_hides_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    monkeypatch.setenv("PATH", "/home/dev/bin:/usr/bin")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    environment = child_environment(Path("/place/home"), Path("/case/tmp"))
    assert not {"TERM", "NO_COLOR"} & set(environment)
    assert (environment["HOME"], environment["TMPDIR"], environment["LANG"]) == ("/place/home", "/case/tmp", "C.UTF-8")
    assert documented_environment(environment)["PATH"] == "~/bin:/usr/bin"
