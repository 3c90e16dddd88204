"""How a session is spoken to, for the miniatures beside this file: each does one thing of it otherwise."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Server:
    """Performs each body in a shell of its own."""

    def __init__(self) -> None:
        self._requests, self._replies = os.fdopen(os.dup(0)), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)

    def serve(self) -> None:
        for line in self._requests:
            self.answer(*line.split())

    def answer(self, identity: str, folder: str, directory: str) -> None:
        streams = [os.open(f"{folder}/{name}", flags) for name, flags in (
            ("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)
        )]  # fmt: skip
        self.reply(f"{identity} opened")
        code = self.perform(Path(folder), directory, streams)
        for stream in streams:
            os.close(stream)
        self.reply(f"{identity} exited {code}")

    def perform(self, folder: Path, directory: str, streams: list[int]) -> int:
        variables = (folder / "environment").read_text().split("\0")[:-1]
        environment = dict(variable.split("=", 1) for variable in variables)
        stdin, stdout, stderr = streams
        hook = subprocess.run(
            ["/bin/sh", folder / "body"],
            stdin=stdin, stdout=stdout, stderr=stderr, cwd=directory, env=environment, check=False,
        )  # fmt: skip
        return hook.returncode if hook.returncode >= 0 else 128 - hook.returncode

    def reply(self, line: str) -> None:
        os.write(self._replies, f"{line}\n".encode())
