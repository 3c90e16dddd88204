# Leaves the status out of its answers.
from asked import Adapter, Message


class Forgetful(Adapter):
    def reply(self, request: Message) -> Message:
        reply = super().reply(request)
        del reply["status"]
        return reply


Forgetful().serve()
