# Prints something else where its reply belongs when a body has ended.
from serving import Server


class Garbles(Server):
    def reply(self, line: str) -> None:
        super().reply(line if line.endswith("opened") else f"done: {line}")


Garbles().serve()
