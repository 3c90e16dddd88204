# Ends when it is asked, with a word about it.
import sys

from asked import Adapter, Message


class Dying(Adapter):
    def answer(self, request: Message) -> None:
        sys.exit("out of memory")


Dying().serve()
