# Says of every body that it exited with 0, without running any.
from asked import Adapter, Message, outcome


class AlwaysPassed(Adapter):
    def reply(self, request: Message) -> Message:
        return outcome(request, {"kind": "exited", "code": 0}, b"", b"")


AlwaysPassed().serve()
