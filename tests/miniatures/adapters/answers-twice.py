# Answers every request twice.
import json

from asked import Adapter, Message


class Stammering(Adapter):
    def answer(self, request: Message) -> None:
        line = json.dumps(self.reply(request))
        print(f"{line}\n{line}", flush=True)


Stammering().serve()
