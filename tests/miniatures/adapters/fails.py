# Says of every request that it could not drive its system.
from asked import Adapter, Message


class Failing(Adapter):
    def reply(self, request: Message) -> Message:
        return {"id": request["id"], "error": "the socket is closed: start the daemon"}


Failing().serve()
