# Answers with what came of the body before.
from asked import Adapter, Message, outcome


class Stale(Adapter):
    last = ({"kind": "exited", "code": 0}, "")

    def reply(self, request: Message) -> Message:
        fresh = super().reply(request)
        status, stdout = self.last
        self.last = fresh["status"], fresh["stdout"]
        return {**outcome(request, status, b"", b""), "stdout": stdout}


Stale().serve()
