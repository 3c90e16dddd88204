# Answers with something that is no JSON.
from asked import Adapter


class Garbled(Adapter):
    def answer(self, request):
        print("Exit code: 7 \N{WHITE HEAVY CHECK MARK}", flush=True)


Garbled().serve()
