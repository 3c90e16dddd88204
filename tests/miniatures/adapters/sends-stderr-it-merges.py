# Sends standard error though its hello says that there is none of its own.
from asked import CAPABILITIES, Adapter, Message, outcome


class Merging(Adapter):
    def reply(self, request: Message) -> Message:
        return outcome(request, {"kind": "exited", "code": 0}, b"", b"a word\n")


Merging(capabilities={**CAPABILITIES, "stderr": "merged"}).serve()
