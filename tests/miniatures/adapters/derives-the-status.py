# Sends Python's negative number for a signal as an exit code.
from asked import Adapter


class Deriving(Adapter):
    def reply(self, request):
        return {**super().reply(request), "status": {"kind": "exited", "code": -9}}


Deriving().serve()
