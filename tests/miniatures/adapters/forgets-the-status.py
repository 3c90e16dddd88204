# Leaves the status out of its answers.
from asked import Adapter


class Forgetful(Adapter):
    def reply(self, request):
        reply = super().reply(request)
        del reply["status"]
        return reply


Forgetful().serve()
