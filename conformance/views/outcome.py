"""What came of a case, as words and as JSON: the same for all views that compare runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.report.outcome import Outcome
from conformance.status import SHELL_SIGNAL_BASE, Signalled, status_from_json, status_to_json


def in_words(outcome: Outcome, line: Mapping[str, Any]) -> str:
    """Return `outcome`, which the result `line` holds, with what the contract asks for where the status is another."""
    expected = line["expected"]
    differs = any(subject == "status" for subject, _ in outcome.losses)
    asked = f", where the contract has {status_from_json(expected)}" if differs and expected else ""
    return f"{outcome}{asked}"


def as_json(outcome: Outcome, line: Mapping[str, Any]) -> dict[str, Any]:
    """Return `outcome` as a JSON value, with what the result `line` says beside it."""
    return {
        "result": outcome.result,
        "expected": line["expected"],
        "statuses": [status_to_json(status) for status in outcome.statuses],
        "discrepancies": [{"subject": subject, "meaning": meaning} for subject, meaning in outcome.losses],
        "streams": [{"name": name, "bytes": size, "sha256": sha256} for name, size, sha256 in outcome.streams],
        "decisions": list(outcome.decisions),
        "reason": line["reason"],
    }


def either_form(value: Mapping[str, Any]) -> str:
    """Return a status in words, a death by a signal in both of the forms in which it may arrive."""
    status = status_from_json(dict(value))
    return f"{status} or exited({SHELL_SIGNAL_BASE + status.number})" if isinstance(status, Signalled) else str(status)
