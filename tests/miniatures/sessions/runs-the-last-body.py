# Performs the previous body again where a text does not parse.
import subprocess
from pathlib import Path

from serving import Server


class RunsTheLastBody(Server):
    parsed = ""

    def perform(self, folder: Path, directory: str, streams: list[int]) -> int:
        body = folder / "body"
        if subprocess.run(["/bin/sh", "-n", body], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            self.parsed = body.read_text()
        body.write_text(self.parsed)
        return super().perform(folder, directory, streams)


RunsTheLastBody().serve()
