# Hands out what a body prints with the answer to the next one.
import os
from pathlib import Path

from serving import Server


class MixesOutputs(Server):
    late = b""

    def perform(self, folder: Path, directory: str, streams: list[int]) -> int:
        output = folder / "output"
        with output.open("w+b") as file:
            code = super().perform(folder, directory, [streams[0], file.fileno(), streams[2]])
        os.write(streams[1], self.late)
        self.late = output.read_bytes()
        return code


MixesOutputs().serve()
