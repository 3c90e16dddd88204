# Answers with a line that never ends.
import os

from asked import Adapter, Message


class Endless(Adapter):
    def answer(self, request: Message) -> None:
        while True:
            os.write(1, b"x" * 65536)


Endless().serve()
