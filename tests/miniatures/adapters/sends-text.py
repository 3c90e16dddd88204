# Sends output as it is, not in base64.
from asked import Adapter, Message


class Plain(Adapter):
    def reply(self, request: Message) -> Message:
        return {**super().reply(request), "stdout": "first line\n"}


Plain().serve()
