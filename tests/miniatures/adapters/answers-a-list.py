# Answers with JSON that is no object.
from asked import Adapter


class Listing(Adapter):
    def answer(self, request):
        self.say([request["id"], 0])


Listing().serve()
