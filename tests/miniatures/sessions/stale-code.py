# Reports the code of the previous body, as one does that asks for the last code too early.
from pathlib import Path

from serving import Server


class StaleCode(Server):
    previous = 0

    def perform(self, folder: Path, directory: str, streams: list[int]) -> int:
        stale, self.previous = self.previous, super().perform(folder, directory, streams)
        return stale


StaleCode().serve()
