# Strips the final newline of standard output.
import base64

from asked import Adapter, Message


class Stripping(Adapter):
    def reply(self, request: Message) -> Message:
        reply = super().reply(request)
        stdout = base64.b64decode(reply["stdout"]).removesuffix(b"\n")
        return {**reply, "stdout": base64.b64encode(stdout).decode()}


Stripping().serve()
