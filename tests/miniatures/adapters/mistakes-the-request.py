# Answers with the id of another request.
from asked import Adapter, Message


class Mistaken(Adapter):
    def reply(self, request: Message) -> Message:
        return {**super().reply(request), "id": "another"}


Mistaken().serve()
