"""Run every check, each group on what the groups before it found to be sound."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from conformance.cache import cache_folder
from conformance.campaign import local_runner
from conformance.catalog import Catalog, load_catalog
from conformance.doctor.finding import Finding, State
from conformance.doctor.folders import (
    cache_finding,
    no_cache,
    no_temporary_folder,
    temporary_finding,
    usable_temporary_folders,
    volume_of,
)
from conformance.doctor.harness import harness_findings
from conformance.doctor.installation import broken_suite, python_finding, suite_finding, system_finding
from conformance.doctor.launches import smoke_test
from conformance.doctor.shells import EXAMINED, shell_finding
from conformance.doctor.surroundings import (
    dispositions,
    known_locales,
    limit_findings,
    limits_in_force,
    load_finding,
    locale_finding,
    path_finding,
    signals_finding,
    variables_finding,
)
from conformance.errors import CatalogError, HarnessError, InterruptedRunError
from conformance.process import CancelledError
from conformance.runners.local import LocalRunner, child_environment, plain_temporary_folder, public_path
from conformance.schedule import run_cases, usable_processors

MATRICES = ("core", "windows") if sys.platform == "win32" else ("core",)


def examine(jobs: int, time_scale: float) -> list[Finding]:
    """Return what all checks found, fit to be shown to anybody.

    Raises InterruptedRunError.
    """
    entry = signals_finding(dispositions())  # before this process is made ready to run cases
    try:
        with local_runner() as (runner, cancellation):
            findings = list(_findings(runner, entry, jobs, time_scale))
    except CancelledError as error:
        raise InterruptedRunError("interrupted before all was examined") from error
    if cancellation.thrown:
        raise InterruptedRunError("interrupted before all was examined")
    return [_public(finding) for finding in findings]


def _findings(runner: LocalRunner, entry: Finding, jobs: int, time_scale: float) -> Iterator[Finding]:
    suite, catalog = _suite()
    yield from (suite, python_finding(), system_finding(os.environ))
    folders = list(_folders())
    yield from folders
    yield entry
    yield from _surroundings(time_scale)
    harness = [_blamed(finding, folders[0]) for finding in _harness(runner, time_scale)]
    yield from harness
    shells = list(_shells(runner, catalog))
    yield from shells
    if catalog is None or any(finding.state is State.BROKEN for finding in harness):
        yield Finding("smoke/shells", State.NOT_TRIED, "no shell or route was tried, since no result would count")
        return
    sound = [finding.id.removeprefix("shell/") for finding in shells if finding.state is State.OK]
    smoke = smoke_test(catalog, sound)
    with closing(run_cases(catalog, smoke.cases, runner, jobs, time_scale)) as results:
        found = {result.id: result for result in results}
    if len(found) < len(smoke.cases):
        raise CancelledError
    yield from smoke.findings(found)


def _suite() -> tuple[Finding, Catalog | None]:
    try:
        catalog = load_catalog(MATRICES)
        return suite_finding(catalog), catalog
    except (CatalogError, OSError) as error:
        return broken_suite(error), None


def _folders() -> Iterator[Finding]:
    try:
        folder = Path(plain_temporary_folder())
        others = usable_temporary_folders(folder)
        yield temporary_finding(folder, os.environ.get("TMPDIR"), volume_of(folder), others)
    except (OSError, HarnessError) as error:
        yield no_temporary_folder(error)
    try:
        yield cache_finding(cache_folder(), _user())
    except (OSError, RuntimeError) as error:
        yield no_cache(error)


def _user() -> int | None:
    if sys.platform == "win32":
        return None
    return os.geteuid()


def _surroundings(time_scale: float) -> Iterator[Finding]:
    yield path_finding(os.environ.get("PATH"))
    nowhere = Path(os.sep)
    yield variables_finding(os.environ, child_environment(nowhere, nowhere))
    yield from limit_findings(limits_in_force())
    if sys.platform != "win32":
        yield load_finding(os.getloadavg()[0], usable_processors(), time_scale)
    if sys.platform == "linux":
        yield locale_finding(known_locales())


def _harness(runner: LocalRunner, time_scale: float) -> Iterator[Finding]:
    try:
        with runner.open() as place:
            yield from harness_findings(place, time_scale)
    except HarnessError as error:
        yield Finding("harness/place", State.BROKEN, str(error), "no case can be run", "see folder/temporary")


def _blamed(finding: Finding, folder: Finding) -> Finding:
    """Return the `finding` of the harness with what mends the temporary `folder` first, if that is broken as well."""
    if finding.state is folder.state is State.BROKEN:
        return replace(finding, mend=folder.mend)
    return finding


def _shells(runner: LocalRunner, catalog: Catalog | None) -> Iterator[Finding]:
    required = catalog.required if catalog is not None else ()
    for name in EXAMINED:
        try:
            yield shell_finding(name, runner, required, os.environ)
        except OSError as error:
            reason = f"it cannot be looked for without a temporary folder: {error}"
            yield Finding(f"shell/{name}", State.NOT_TRIED, reason)


def _public(finding: Finding) -> Finding:
    return replace(
        finding,
        found=public_path(finding.found),
        why=public_path(finding.why),
        mend=public_path(finding.mend),
    )
