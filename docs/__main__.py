"""Write a page that is made from data to standard output, or add the cases that are new to the list of released ones.

conformance run full sessions --report full.jsonl
python3 -m docs routes full.jsonl > docs/routes.md
python3 -m docs coverage > docs/coverage.md
python3 -m docs released-cases tests/data/released-cases.txt
"""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.catalog import load_catalog, matrix_names
from conformance.errors import ConformanceError, UsageError
from conformance.report.reader import read_report
from docs.coverage_page import coverage_page
from docs.released_cases import released_page
from docs.routes_page import Seen, routes_page

MATRICES = ("full", "sessions")


def page(arguments: list[str]) -> str:
    """Return the page that `arguments` ask for; raises UsageError for others, and for a report of another suite.

    The list of released cases is written into its file at once: as the output's file it would be empty when it is read.
    """
    catalog = load_catalog(MATRICES)
    match arguments:
        case ["released-cases", path]:
            _add_released_cases(Path(path))
            return ""
        case ["coverage"]:
            return coverage_page(catalog)
        case ["routes", path]:
            report = read_report(Path(path))
            if not report.complete or report.header["suite"]["digest"] != catalog.digest:
                raise UsageError(
                    f"{path}: not the whole report of these fixtures. Run `conformance run full sessions` again."
                )
            return routes_page(
                catalog, {line["id"]: Seen(line["environment"], line["result"]) for line in report.results}
            )
    raise UsageError(
        "say `python3 -m docs coverage`, `python3 -m docs routes REPORT`, or `python3 -m docs released-cases FILE`"
    )


def _add_released_cases(path: Path) -> None:
    try:
        text = released_page(path.read_text(encoding="utf-8"), load_catalog(matrix_names()))
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read or written: {error.strerror}. Give tests/data/released-cases.txt."
        ) from error


def main() -> int:
    """Print the page, or one sentence that says what is wrong."""
    try:
        sys.stdout.write(page(sys.argv[1:]))
    except ConformanceError as error:
        print(f"docs: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
