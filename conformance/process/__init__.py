"""Start a process, feed and capture its three streams, and end it with its whole tree at its deadline.

`run` and `prepared_for_children` are the whole interface; each operating system has one file behind it.
"""

from __future__ import annotations

import sys

from conformance.process.launch import Cancellation, CancelledError, Completed, Launch

if sys.platform == "win32":
    from conformance.process.windows import prepared_for_children, run
else:
    from conformance.process.posix import prepared_for_children, run

__all__ = ["Cancellation", "CancelledError", "Completed", "Launch", "prepared_for_children", "run"]
