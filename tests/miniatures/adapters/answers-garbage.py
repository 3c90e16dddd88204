# Answers with something that is no JSON.
from asked import Adapter, Message


class Garbled(Adapter):
    def answer(self, request: Message) -> None:
        print("Exit code: 7 \N{WHITE HEAVY CHECK MARK}", flush=True)


Garbled().serve()
