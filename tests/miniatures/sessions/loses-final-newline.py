# Reads the output by lines and joins them again, so that the newline at the end is lost.
import os
from pathlib import Path

from serving import Server


class LosesFinalNewline(Server):
    def perform(self, folder: Path, directory: str, streams: list[int]) -> int:
        output = folder / "output"
        with output.open("w+b") as file:
            code = super().perform(folder, directory, [streams[0], file.fileno(), streams[2]])
        os.write(streams[1], output.read_bytes().removesuffix(b"\n"))
        return code


LosesFinalNewline().serve()
