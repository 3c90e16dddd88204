# Sends output as it is, not in base64.
from asked import Adapter


class Plain(Adapter):
    def reply(self, request):
        return {**super().reply(request), "stdout": "first line\n"}


Plain().serve()
