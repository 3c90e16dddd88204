"""An adapter: the harness hands it bodies, it has my-launcher run them and tells what came of each.

Put your launcher into `launch`, and say in HELLO what it can do. Standard output is for the protocol alone: whatever
else there is to say goes to standard error.
"""

import base64
import json
import subprocess
import sys
from typing import Any

SHELL = sys.argv[1] if len(sys.argv) > 1 else "bash"
HELLO = {
    "protocol": 1,
    "name": "my-launcher",
    "version": "0",
    # What is left out here, the launcher cannot do, and the cases that need it are skipped.
    "capabilities": {
        "stdin": "bytes",
        "output": "bytes",
        "stderr": "separate",
        "env": True,
        "cwd": True,
        "statuses": ["exited", "signalled", "timed_out", "failed_to_start"],
    },
}


def launch(request: dict[str, Any]) -> tuple[dict[str, Any], bytes, bytes]:
    """Run one body. Return its status, all of its standard output and all of its standard error."""
    try:
        ended = subprocess.run(
            [SHELL, "-c", request["body"]],
            input=base64.b64decode(request["stdin"]),
            capture_output=True,
            cwd=request["cwd"],
            env=request["env"],
            timeout=request["timeout_ms"] / 1000,
            check=False,
        )
    except subprocess.TimeoutExpired as late:  # the body has been killed
        return {"kind": "timed_out"}, late.stdout or b"", late.stderr or b""
    except OSError as error:
        return {"kind": "failed_to_start", "errno": error.errno or 0, "detail": str(error)}, b"", b""
    if ended.returncode < 0:  # which is how Python tells of a signal
        return {"kind": "signalled", "number": -ended.returncode}, ended.stdout, ended.stderr
    return {"kind": "exited", "code": ended.returncode}, ended.stdout, ended.stderr


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to one request."""
    try:
        status, stdout, stderr = launch(request)
    except Exception as error:  # it is this program that failed, which says nothing about the launcher
        return {"id": request["id"], "error": repr(error)[:2000]}
    outputs = {"stdout": base64.b64encode(stdout).decode(), "stderr": base64.b64encode(stderr).decode()}
    return {"id": request["id"], "status": status, **outputs}


def main() -> None:
    """Say hello, and answer every request until the harness has no more."""
    print(json.dumps(HELLO), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
