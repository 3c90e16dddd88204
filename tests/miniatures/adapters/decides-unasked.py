# Sends a decision that its hello does not announce.
from asked import Adapter, Message


class Deciding(Adapter):
    def reply(self, request: Message) -> Message:
        return {**super().reply(request), "decision": "allow"}


Deciding().serve()
