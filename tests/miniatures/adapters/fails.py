# Says of every request that it could not drive its system.
from asked import Adapter


class Failing(Adapter):
    def reply(self, request):
        return {"id": request["id"], "error": "the socket is closed: start the daemon"}


Failing().serve()
