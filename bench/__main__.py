"""`python -m bench [NAME...]`: measure everything, or what is named, and print a table."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial

from bench import cases, html, reports, sessions, whole
from bench.measure import Figure
from conformance.errors import ShellError

MEASURES: Mapping[str, Callable[[], Figure]] = {
    "bash-1": partial(cases.bash, 1),
    "bash-2": partial(cases.bash, 2),
    "pwsh": partial(cases.pwsh, 2),
    "session-bash": sessions.bash,
    "session-pwsh": sessions.pwsh,
    "session-pwsh-reused": sessions.pwsh_reused,
    "session-memory": sessions.memory,
    "adapter": sessions.adapter,
    "bats": cases.bats,
    "pytest": cases.pytest_item,
    "version": whole.version,
    "collect": whole.collecting_by_command,
    "pytest-collect": whole.collecting_by_pytest,
    "stream": whole.stream_first,
    "stream-again": whole.stream_again,
    "core": whole.core,
    "merge": reports.merge,
    "diff": reports.diff,
    "summaries": reports.summaries,
    "html": html.html,
}
VERDICTS = {True: "yes", False: "**no**", None: ""}


def main(names: list[str]) -> None:
    """Print a Markdown table, a row as soon as it is measured."""
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        sys.exit(f"bench: unknown {', '.join(unknown)}: expected some of {', '.join(MEASURES)}")
    print(f"{platform.platform(terse=True)}, {os.cpu_count()} processors, Python {platform.python_version()}\n")
    print("| name | what | goal | measured: median (least to most) | met |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache  # what the measured runs remember is nobody's last run
        for name in names or MEASURES:
            try:
                figure = MEASURES[name]()
            except ShellError as error:
                sys.exit(f"bench: {error}")
            measured = "; ".join(filter(None, (figure.measured, figure.detail)))
            print(f"| {name} | {figure.name} | {figure.goal} | {measured} | {VERDICTS[figure.met]} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
