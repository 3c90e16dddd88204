# Answers every request twice.
import json

from asked import Adapter


class Stammering(Adapter):
    def answer(self, request):
        line = json.dumps(self.reply(request))
        print(f"{line}\n{line}", flush=True)


Stammering().serve()
