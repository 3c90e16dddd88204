# Never answers.
from asked import Adapter, Message


class Hanging(Adapter):
    def answer(self, request: Message) -> None:
        pass


Hanging().serve()
