"""Start a process, feed and capture its three streams, and end it with its whole tree at its deadline.

`run`, `open_session` and `prepared_for_children` are the whole interface; each operating system has one file behind it.
"""

from __future__ import annotations

import sys

from conformance.process.launch import Cancellation, CancelledError, Completed, Launch
from conformance.process.talk import Markers, Session, SwappedStreams, Talk

if sys.platform == "win32":
    from conformance.process.windows import open_session, prepared_for_children, run
else:
    from conformance.process.parent import prepared_for_children
    from conformance.process.posix import run
    from conformance.process.session import open_session

__all__ = [
    "Cancellation",
    "CancelledError",
    "Completed",
    "Launch",
    "Markers",
    "Session",
    "SwappedStreams",
    "Talk",
    "open_session",
    "prepared_for_children",
    "run",
]
