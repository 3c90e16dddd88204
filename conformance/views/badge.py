"""What a report comes to as a badge, as shields.io reads it from an address.

Source: https://shields.io/badges/endpoint-badge
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from conformance.errors import ALL_AS_DOCUMENTED, SOMETHING_DIFFERS
from conformance.report.results import Told

_COLORS = {ALL_AS_DOCUMENTED: "brightgreen", SOMETHING_DIFFERS: "red"}


def badge(told: Told) -> Iterator[str]:
    """Yield the JSON of the badge."""
    counts = told.results.counts()
    total = sum(counts.values())
    wrong = told.results.gating + counts.get("error", 0)
    if told.cut_short:
        message, color = "incomplete", "lightgrey"
    else:
        message = f"{total - wrong} of {total} as documented"
        color = _COLORS.get(told.exit_code, "orange")
    yield json.dumps(
        {
            "schemaVersion": 1,
            "label": "shell exit conformance",
            "message": message,
            "color": color,
            "isError": told.exit_code != ALL_AS_DOCUMENTED,
        },
        indent=1,
    )
    yield "\n"
