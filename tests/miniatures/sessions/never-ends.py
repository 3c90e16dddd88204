# Performs the body and never says that it has ended.
from serving import Server


class NeverEnds(Server):
    def reply(self, line: str) -> None:
        if line.endswith("opened"):
            super().reply(line)


NeverEnds().serve()
