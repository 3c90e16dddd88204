# Answers with the id of another request.
from asked import Adapter


class Mistaken(Adapter):
    def reply(self, request):
        return {**super().reply(request), "id": "another"}


Mistaken().serve()
