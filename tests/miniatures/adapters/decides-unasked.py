# Sends a decision that its hello does not announce.
from asked import Adapter


class Deciding(Adapter):
    def reply(self, request):
        return {**super().reply(request), "decision": "allow"}


Deciding().serve()
