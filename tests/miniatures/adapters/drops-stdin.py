# Claims to give bodies a standard input, and gives them none.
from asked import Adapter, Message


class Dropping(Adapter):
    def reply(self, request: Message) -> Message:
        return super().reply({**request, "stdin": ""})


Dropping().serve()
