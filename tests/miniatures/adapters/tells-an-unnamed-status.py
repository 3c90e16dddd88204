# Tells a kind of status that its hello does not name.
from asked import CAPABILITIES, Adapter, Message


class Narrow(Adapter):
    def reply(self, request: Message) -> Message:
        return {**super().reply(request), "status": {"kind": "signalled", "number": 9}}


Narrow(capabilities={**CAPABILITIES, "statuses": ["exited"]}).serve()
