# Strips the final newline of standard output.
import base64

from asked import Adapter


class Stripping(Adapter):
    def reply(self, request):
        reply = super().reply(request)
        stdout = base64.b64decode(reply["stdout"]).removesuffix(b"\n")
        return {**reply, "stdout": base64.b64encode(stdout).decode()}


Stripping().serve()
