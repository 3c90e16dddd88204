"""How an adapter is spoken to, for the miniatures beside this file: each does one thing of it otherwise."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from typing import Any

Message = dict[str, Any]

CAPABILITIES = {
    "stdin": "bytes", "output": "bytes", "stderr": "separate", "env": True, "cwd": True,
    "statuses": ["exited", "signalled", "timed_out"],
}  # fmt: skip


class Adapter:
    """Runs each body in a shell of its own, and tells exactly what came of it."""

    def __init__(self, **changes: Any) -> None:
        """`changes` are other keys of the hello."""
        self.hello = {"protocol": 1, "name": "miniature", "version": "1", "capabilities": CAPABILITIES, **changes}

    def serve(self) -> None:
        self.say(self.hello)
        for line in sys.stdin:
            self.answer(json.loads(line))

    def say(self, value: object) -> None:
        print(json.dumps(value), flush=True)

    def answer(self, request: Message) -> None:
        self.say(self.reply(request))

    def reply(self, request: Message) -> Message:
        with subprocess.Popen(
            ["/bin/sh", "-c", request["body"]], cwd=request["cwd"], env=request["env"], start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as hook:  # fmt: skip
            try:
                streams = hook.communicate(base64.b64decode(request["stdin"]), request["timeout_ms"] / 1000)
            except subprocess.TimeoutExpired:
                os.killpg(hook.pid, signal.SIGKILL)
                return outcome(request, {"kind": "timed_out"}, *hook.communicate())
        code = hook.returncode
        status = {"kind": "exited", "code": code} if code >= 0 else {"kind": "signalled", "number": -code}
        return outcome(request, status, *streams)


def outcome(request: Message, status: Message, stdout: bytes, stderr: bytes) -> Message:
    return {
        "id": request["id"],
        "status": status,
        "stdout": base64.b64encode(stdout).decode(),
        "stderr": base64.b64encode(stderr).decode(),
    }
