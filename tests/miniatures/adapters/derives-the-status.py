# Sends Python's negative number for a signal as an exit code.
from asked import Adapter, Message


class Deriving(Adapter):
    def reply(self, request: Message) -> Message:
        return {**super().reply(request), "status": {"kind": "exited", "code": -9}}


Deriving().serve()
