"""A conversation in which something is done around each question."""

from __future__ import annotations

from collections.abc import Callable

from conformance.process import Completed, Conversation, Launch, Question
from conformance.process.talk import Read


class WrappedConversation:
    """Hands on all that is said; `perform` is what was given for it. Attributes: `launch`, how it was started."""

    def __init__(self, conversation: Conversation, perform: Callable[[Launch, Question], Completed]) -> None:
        self._conversation = conversation
        self.launch = conversation.launch
        self.perform = perform

    @property
    def serves(self) -> bool:
        """Whether a body can be handed over."""
        return self._conversation.serves

    def first_line(self, seconds: float, read: Callable[[bytes], Read]) -> Read:
        """Return what `read` makes of the line with which the program begins."""
        return self._conversation.first_line(seconds, read)

    def farewell(self, seconds: float) -> bool:
        """End the program's standard input, and return whether it ends by itself within `seconds`."""
        return self._conversation.farewell(seconds)
