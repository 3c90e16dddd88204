# Hands what one body has not read of its input to the next, as one does that gives all of them the same pipe.
import os
from pathlib import Path

from serving import Server


class LeaksStdin(Server):
    unread = b""

    def perform(self, folder: Path, directory: str, streams: list[int]) -> int:
        with os.fdopen(os.dup(streams[0]), "rb") as stdin:
            (folder / "input").write_bytes(self.unread + stdin.read())
        with (folder / "input").open("rb") as file:
            code = super().perform(folder, directory, [file.fileno(), *streams[1:]])
            self.unread = file.read()
        return code


LeaksStdin().serve()
