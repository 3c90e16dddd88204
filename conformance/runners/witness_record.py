"""Read the record that bodies leave through `{{native:N}}`, `{{mark}}` and `{{witness}}`."""

from __future__ import annotations

from pathlib import Path

from conformance.observation import Received, WitnessRecord

_STARTS = ("mark", "native", "started")


def read_witness_record(path: Path) -> WitnessRecord:
    """Return what stands in the record at `path`; nothing where no body wrote one."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return WitnessRecord()
    words = [line.split(" ") for line in lines]
    return WitnessRecord(
        marks=sum(line[0] in _STARTS for line in words),
        received=tuple(Received(int(line[1]), line[2]) for line in words if line[0] == "received" and len(line) == 3),
    )
