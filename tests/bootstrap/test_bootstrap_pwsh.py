"""PowerShell of bootstrap.py: from where, which version, and whether it starts here."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import ssl
import sys
import tarfile
import urllib.error
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bootstrap_world import (
    DOTNET,
    Handler,
    Server,
    World,
    bootstrap,
    half,
    half_and_silence,
    link,
    posix,
    pwsh_archive,
    server_fixture,  # noqa: F401
    silence,
    status,
    tar,
    whole,
    world_fixture,  # noqa: F401
)

TOOL, ARCHIVE = bootstrap.PWSH_TOOL, bootstrap.PWSH_ARCHIVE
LEFT_IN_CACHE = ("part-*", "pwsh-*")


def left(world: World) -> list[str]:
    return sorted(path.name for pattern in LEFT_IN_CACHE for path in world.cache.glob(pattern))


@pytest.fixture(name="bare")
def bare_fixture(world: World) -> World:
    """A world without PowerShell and without .NET, whose environment is ready."""
    world.start("run")
    world.unmark("bin/pwsh")
    world.events()
    return world


# ---- which PowerShell ----


@posix
def test_pwsh_is_installed_once_and_handed_to_the_child(bare: World) -> None:
    bare.program("bin/dotnet", DOTNET)
    assert f"pwsh={bare.pwsh(TOOL)}\n" in bare.start("run").stdout
    assert bare.events() == ["dotnet install"]
    again = bare.start("run")
    assert f"pwsh={bare.pwsh(TOOL)}\n" in again.stdout
    assert again.stderr == ""
    assert bare.events() == []


@posix
def test_a_pwsh_on_path_or_of_the_user_is_left_alone(world: World) -> None:
    world.program("bin/dotnet", DOTNET)
    assert "pwsh=\n" in world.start("run").stdout
    world.unmark("bin/pwsh")
    assert "pwsh=/opt/mine\n" in world.start("run", CONFORMANCE_PWSH="/opt/mine").stdout
    assert "dotnet install" not in world.events()


@posix
@pytest.mark.parametrize("dotnet", ["missing", "broken"])
def test_without_a_usable_dotnet_the_release_archive_serves(bare: World, dotnet: str, server: Server) -> None:
    if dotnet == "broken":
        bare.program("bin/dotnet", DOTNET)
        bare.mark("broken", "error NU1301: no such source")
    archive = pwsh_archive(ARCHIVE)
    bare.pin(ARCHIVE, archive)
    server.answer = whole(archive)
    result = bare.start("run", CODE="7", CONFORMANCE_PWSH_ARCHIVES=server.url + "/")
    assert (result.returncode, result.stdout) == (7, f"conformance run\npwsh={bare.pwsh(ARCHIVE)}\n")
    assert ("NU1301" in result.stderr) == (dotnet == "broken")
    assert server.paths == [f"/v{ARCHIVE}/powershell-{ARCHIVE}-linux-x64.tar.gz"]
    assert left(bare) == [f"pwsh-{ARCHIVE}"]
    folder = bare.pwsh(ARCHIVE).parent
    assert sorted(path.name for path in folder.rglob("*")) == ["Modules", "Some", "Some.psd1", "System.dll", "pwsh"]
    bare.events()
    again = bare.start("run")
    assert (again.stderr, again.stdout) == ("", result.stdout)
    assert (bare.events(), len(server.paths)) == ([], 1)


@posix
def test_without_any_pwsh_it_says_so_and_goes_on(bare: World, server: Server) -> None:
    result = bare.start("run", CODE="3", SYSTEM="linux-riscv64")
    assert (result.returncode, result.stdout) == (3, "conformance run\npwsh=\n")
    assert "there is no dotnet on PATH" in result.stderr
    last = result.stderr.splitlines()[-1]
    assert f"there is no known release archive of PowerShell {ARCHIVE} for linux-riscv64" in last
    assert "install PowerShell 7 or the .NET SDK 10" in last
    assert left(bare) == []


@posix
def test_the_asked_for_version_wins_over_every_other(world: World, server: Server) -> None:
    """Over CONFORMANCE_PWSH, a pwsh on PATH, and a .NET SDK; each version has a folder of its own."""
    world.program("bin/dotnet", DOTNET)
    mirror = {"CONFORMANCE_PWSH_ARCHIVES": server.url, "CONFORMANCE_PWSH": "/opt/mine"}
    for version in ("7.4.14", "7.5.5"):
        archive = pwsh_archive(version)
        world.pin(version, archive)
        server.answer = whole(archive)
        assert f"pwsh={world.pwsh(version)}\n" in world.start("--pwsh", version, "run", **mirror).stdout
    assert left(world) == ["pwsh-7.4.14", "pwsh-7.5.5"]
    assert "dotnet install" not in world.events()
    assert f"pwsh={world.pwsh('7.4.14')}\n" in world.start("--pwsh=7.4.14", "run").stdout
    assert len(server.paths) == 2


@posix
def test_a_version_without_a_known_archive_comes_with_dotnet(world: World) -> None:
    world.program("bin/dotnet", DOTNET)
    assert f"pwsh={world.pwsh('7.5.1')}\n" in world.start("--pwsh", "7.5.1", "run").stdout
    assert "--version 7.5.1" in (world.folder / "log").read_text()


@posix
def test_a_version_that_cannot_be_had_is_3_and_names_those_that_can(world: World) -> None:
    world.pin("7.4.14", b"")
    world.pin("7.5.5", b"")
    result = world.start("--pwsh", "7.5.1", "run")
    assert (result.returncode, result.stdout) == (3, "")
    assert "needs no .NET SDK on linux-x64 (7.4.14, 7.5.5)" in result.stderr.splitlines()[-1]
    result = world.start("--pwsh", "7.4.14", "run", SYSTEM="Linux without glibc, x64")
    assert result.returncode == 3
    assert "needs no .NET SDK on Linux without glibc, x64 (none)" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("system", "machine", "libc", "name"),
    [
        ("linux", "x86_64", "glibc", "linux-x64"),
        ("linux", "aarch64", "glibc", "linux-arm64"),
        ("darwin", "arm64", "", "osx-arm64"),
        ("darwin", "x86_64", "", "osx-x64"),
        ("win32", "AMD64", "", "win-x64"),
        ("win32", "ARM64", "", "win-arm64"),
    ],
)
def test_every_usual_machine_has_known_archives(
    system: str, machine: str, libc: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("platform.libc_ver", lambda: (libc, ""))
    assert bootstrap.archive_platform() == name
    assert list(bootstrap.known_archives()) == ["7.6.3", "7.5.5", "7.4.14"]
    assert all(len(bytes.fromhex(digest)) == 32 for digest in bootstrap.known_archives().values())


def test_no_archive_is_for_musl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.libc_ver", lambda: ("", ""))
    assert bootstrap.known_archives() == {}
    assert bootstrap.archive_platform().startswith("Linux without glibc")


def test_no_digest_stands_twice() -> None:
    digests = bootstrap.PWSH_DIGESTS.split()[2::3]
    assert len(set(digests)) == len(digests) == 18


# ---- downloads ----


def garbage(handler: Handler) -> None:
    handler.wfile.write(b"hello\r\nworld\r\n")


def endless(handler: Handler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(1 << 16))


CONTENT = bytes(range(256)) * 1000
BAD_ANSWERS: dict[str, tuple[Callable[[Handler], None], str]] = {
    "not found": (status(404), "answers 404 Not Found"),
    "server error": (status(500), "answers 500 Internal Server Error"),
    "proxy": (status(407), "cannot be fetched (Proxy Authentication Required; behind a proxy, set https_proxy)"),
    "no HTTP": (garbage, "cannot be fetched (hello; "),
    "nothing": (lambda handler: None, "cannot be fetched ("),
    "cut": (half(CONTENT), "was cut off after 128000 of 256000 bytes, so start again"),
    "silent": (silence, "cannot be fetched (timed out; "),
    "half and then silent": (half_and_silence(CONTENT), "cannot be fetched (timed out; "),
    "endless": (endless, "is too long to be an archive of PowerShell"),
}


@pytest.fixture(name="direct")
def direct_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the server on loopback without a proxy of the developer's."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("direct")
@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_a_failed_download_is_one_sentence(
    kind: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer, complaint = BAD_ANSWERS[kind]
    monkeypatch.setattr(bootstrap, "SILENCE_SECONDS", 0.2 if "silent" in kind else 20)
    monkeypatch.setattr(bootstrap, "ARCHIVE_BYTES", 1 << 20)
    with pytest.raises(bootstrap.SetupError) as caught:
        bootstrap.download(server.url + "/x", tmp_path / "x")
    assert f"{server.url}/x {complaint}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("direct")
def test_a_redirection_is_followed(server: Server, tmp_path: Path) -> None:
    def answer(handler: Handler) -> None:
        if handler.path == "/x":
            handler.begin(0, 302, ("Location", "/y"))
        else:
            whole(CONTENT)(handler)

    server.answer = answer
    assert bootstrap.download(server.url + "/x", tmp_path / "x") == hashlib.sha256(CONTENT).hexdigest()
    assert (tmp_path / "x").read_bytes() == CONTENT


def test_a_folder_may_be_the_mirror(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(CONTENT)
    assert bootstrap.download((tmp_path / "x").as_uri(), tmp_path / "y") == hashlib.sha256(CONTENT).hexdigest()


def test_a_mirror_that_is_no_url_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(bootstrap.SetupError, match="unknown url type"):
        bootstrap.download("mirror/x", tmp_path / "x")


@pytest.mark.usefixtures("direct")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_disk_that_gets_full_is_no_failure_of_the_network(server: Server) -> None:
    server.answer = whole(CONTENT)
    with pytest.raises(OSError, match="No space left") as caught:
        bootstrap.download(server.url, Path("/dev/full"))
    assert "free some space" in bootstrap.way_out(caught.value)


@pytest.mark.parametrize(("system", "word"), [("darwin", "Install Certificates.command"), ("linux", "SSL_CERT_FILE")])
def test_a_python_without_certificates_is_told_what_to_do(
    system: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    error = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer certificate")
    assert word in bootstrap.why_not_downloaded(urllib.error.URLError(error))


# ---- archives that are not as they should be ----


@posix
@pytest.mark.parametrize("asked_for", [True, False])
def test_a_wrong_digest_installs_nothing(bare: World, asked_for: bool, server: Server) -> None:  # noqa: FBT001
    expected, found = pwsh_archive(ARCHIVE), pwsh_archive(ARCHIVE, says="echo evil")
    bare.pin(ARCHIVE, expected)
    server.answer = whole(found)
    option = ["--pwsh", ARCHIVE] if asked_for else []
    result = bare.start(*option, "run", CODE="7", CONFORMANCE_PWSH_ARCHIVES=server.url)
    digests = [hashlib.sha256(archive).hexdigest() for archive in (found, expected)]
    assert "has the SHA-256 {}, expected {}, so nothing was installed".format(*digests) in result.stderr
    assert result.returncode == (3 if asked_for else 7)
    assert left(bare) == []


@pytest.mark.parametrize("name", ["../evil", "Modules/../../evil", "/evil"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_no_member_leads_out_of_the_folder(kind: str, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    archive = tmp_path / f"archive.{kind}"
    if kind == "tar":
        archive.write_bytes(tar({"pwsh": "", name: ""}))
        unpack = bootstrap.unpack_tar
    else:
        with zipfile.ZipFile(archive, "w") as zipped:
            zipped.writestr("pwsh", "")
            zipped.writestr(name, "")
        unpack = bootstrap.unpack_zip
    with pytest.raises(bootstrap.SetupError, match="leads out of its folder, so nothing was installed"):
        unpack(archive, folder)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    "member",
    [
        link("Modules", "/"),
        link("x", "../../evil"),
        link("x", "pwsh", tarfile.LNKTYPE),
        link("x", "", tarfile.FIFOTYPE),
        link("x", "", tarfile.CHRTYPE),
    ],
    ids=["absolute link", "relative link", "hard link", "fifo", "device"],
)
def test_an_archive_holds_files_only(member: tarfile.TarInfo, tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(tar({"pwsh": ""}, member))
    (tmp_path / "folder").mkdir()
    with pytest.raises(bootstrap.SetupError, match="expected files only, so nothing was installed"):
        bootstrap.unpack_tar(tmp_path / "x.tar.gz", tmp_path / "folder")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["pwsh"]


def test_a_zip_is_unpacked_with_its_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as zipped:
        zipped.writestr("Modules/", "")
        zipped.writestr("Modules/Some/Some.psd1", "@{}")
        zipped.writestr("pwsh.exe", CONTENT)
    (tmp_path / "folder").mkdir()
    bootstrap.unpack_zip(tmp_path / "x.zip", tmp_path / "folder")
    assert (tmp_path / "folder" / "Modules" / "Some" / "Some.psd1").read_text() == "@{}"
    assert (tmp_path / "folder" / "pwsh.exe").read_bytes() == CONTENT


@posix
def test_a_hostile_archive_leaves_nothing_in_the_cache(bare: World, server: Server) -> None:
    archive = tar({"pwsh": "#!/bin/sh\n"}, link("Modules", "/"))
    bare.pin(ARCHIVE, archive)
    server.answer = whole(archive)
    assert bare.start("run", CODE="7", CONFORMANCE_PWSH_ARCHIVES=server.url).returncode == 7
    assert left(bare) == []


# ---- whether it starts here ----


NEEDS_ICU = """\
[ -z "$DOTNET_SYSTEM_GLOBALIZATION_INVARIANT" ] || { echo 7.6.3; exit; }
echo "Process terminated. Couldn't find a valid ICU package"; exit 134"""


@posix
@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        ("echo You must install .NET; echo more; exit 150", "does not start here (You must install .NET)"),
        ("kill -9 $$", "does not start here (it said nothing)"),
        (NEEDS_ICU, "libicu is missing: install it"),
        ("echo 7.0.0", "says that it is 7.0.0"),
        ('[ -z "$DOTNET_ROOT" ] && exit 1; echo 7.6.3', "does not start here"),
        ('exec cat "$WORLD/fifo"', "does not start here (no answer in 1 seconds)"),
    ],
    ids=["no runtime", "crash", "no ICU", "other version", "not self-contained", "hangs"],
)
def test_an_archive_that_does_not_start_here_is_not_kept(
    says: str, complaint: str, bare: World, server: Server
) -> None:
    os.mkfifo(bare.folder / "fifo")
    archive = pwsh_archive(ARCHIVE, says=says)
    bare.pin(ARCHIVE, archive)
    server.answer = whole(archive)
    settings = json.dumps({"PWSH_SECONDS": 1}) if "fifo" in says else "{}"
    variables = {"CONFORMANCE_PWSH_ARCHIVES": server.url, "SETTINGS": settings}
    result = bare.start(
        "--pwsh", ARCHIVE, "run", DOTNET_ROOT="/opt/dotnet", DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1", **variables
    )
    assert result.returncode == 3
    assert complaint in result.stderr.splitlines()[-1]
    assert left(bare) == []


@posix
def test_a_pwsh_for_another_processor_is_not_kept(bare: World, server: Server) -> None:
    archive = tar({"pwsh": "\x7fELF of something else"})
    bare.pin(ARCHIVE, archive)
    server.answer = whole(archive)
    result = bare.start("run", CONFORMANCE_PWSH_ARCHIVES=server.url)
    assert "Exec format error" in result.stderr.splitlines()[-1]
    assert left(bare) == []


@posix
def test_a_tool_that_does_not_start_here_gives_way_to_the_archive(bare: World, server: Server) -> None:
    bare.program("bin/dotnet", DOTNET.replace("echo %s", "echo no framework; exit 150; "))
    archive = pwsh_archive(ARCHIVE)
    bare.pin(ARCHIVE, archive)
    server.answer = whole(archive)
    result = bare.start("run", CONFORMANCE_PWSH_ARCHIVES=server.url)
    assert f"pwsh={bare.pwsh(ARCHIVE)}\n" in result.stdout
    assert f"PowerShell {TOOL} does not start here (no framework)" in result.stderr
    assert left(bare) == [f"pwsh-{ARCHIVE}"]


# ---- halves and crowds ----


@posix
def test_a_pwsh_installation_killed_half_way_is_repaired(bare: World) -> None:
    bare.program("bin/dotnet", DOTNET)
    bare.mark("kill")
    assert bare.start("run").returncode == -signal.SIGKILL
    assert list(bare.cache.glob("pwsh-*")) == []
    bare.unmark("kill")
    assert bare.start("run", CODE="7").returncode == 7
    assert left(bare) == [f"pwsh-{TOOL}"]


@posix
def test_starts_at_the_same_time_download_once(world: World, server: Server) -> None:
    world.unmark("bin/pwsh")
    archive = pwsh_archive(ARCHIVE)
    world.pin(ARCHIVE, archive)
    server.answer = whole(archive)
    processes = [world.launch("run", CODE="7", CONFORMANCE_PWSH_ARCHIVES=server.url) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    assert outputs == [f"conformance run\npwsh={world.pwsh(ARCHIVE)}\n"] * 3
    assert [process.returncode for process in processes] == [7, 7, 7]
    assert len(server.paths) == 1
    assert left(world) == [f"pwsh-{ARCHIVE}"]
