# Lets what a body has left behind run on.
import subprocess

from asked import Adapter, Message, outcome


class Leaving(Adapter):
    def reply(self, request: Message) -> Message:
        hook = subprocess.Popen(
            ["/bin/sh", "-c", f"{request['body']}; sleep 3600 & exit 7"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=request["cwd"], env=request["env"],
        )  # fmt: skip
        return outcome(request, {"kind": "exited", "code": hook.wait()}, b"", b"")


Leaving().serve()
