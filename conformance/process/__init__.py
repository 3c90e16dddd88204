"""Start a process, feed and capture its three streams, and end it with its whole tree at its deadline.

`run`, `open_session`, `open_conversation` and `prepared_for_children` are the whole interface; each operating system
has files of its own behind it.
"""

from __future__ import annotations

import sys

from conformance.process.launch import Cancellation, CancelledError, Completed, Launch
from conformance.process.talk import Answer, Conversation, Markers, Question, Session, SwappedStreams, Talk

if sys.platform == "win32":
    from conformance.process.windows import open_conversation, open_session, prepared_for_children, run
else:
    from conformance.process.held import open_conversation
    from conformance.process.parent import prepared_for_children
    from conformance.process.posix import run
    from conformance.process.session import open_session

__all__ = [
    "Answer",
    "Cancellation",
    "CancelledError",
    "Completed",
    "Conversation",
    "Launch",
    "Markers",
    "Question",
    "Session",
    "SwappedStreams",
    "Talk",
    "open_conversation",
    "open_session",
    "prepared_for_children",
    "run",
]
