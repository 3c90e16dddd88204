"""A badge, as the JSON that the endpoint badge of shields.io reads (https://shields.io/badges/endpoint-badge)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.report.codec import json_text
from conformance.report.index import IndexedReport
from conformance.report.results import told_of
from conformance.views.text import printable
from conformance.views.verdict import verdict

LABEL = "conformance"
ORDINARY, BAD, UNKNOWN = "brightgreen", "red", "lightgrey"


def badge(report: IndexedReport) -> Iterator[str]:
    """Yield the badge of `report`: what is wrong with it, or how much is as documented."""
    told = told_of(report)
    found = verdict(told)
    color = UNKNOWN if told.cut_short else ORDINARY if found.is_good else BAD
    message = "incomplete" if told.cut_short else printable(found.sentence)
    value = {"schemaVersion": 1, "label": LABEL, "message": message, "color": color, "isError": bool(told.cut_short)}
    yield json_text(value) + "\n"
