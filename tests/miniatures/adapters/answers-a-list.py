# Answers with JSON that is no object.
from asked import Adapter, Message


class Listing(Adapter):
    def answer(self, request: Message) -> None:
        self.say([request["id"], 0])


Listing().serve()
