# Ends in the middle of its third answer.
import os
import sys

from asked import Adapter, Message


class Dying(Adapter):
    answered = 0

    def answer(self, request: Message) -> None:
        self.answered += 1
        if self.answered == 3:
            sys.stdout.write('{"id": ')
            sys.stdout.flush()
            os._exit(7)
        super().answer(request)


Dying().serve()
