# Writes a line of its own to standard output behind each answer.
import json

from asked import Adapter, Message


class Talkative(Adapter):
    def answer(self, request: Message) -> None:
        print(f"{json.dumps(self.reply(request))}\ndone", flush=True)


Talkative().serve()
