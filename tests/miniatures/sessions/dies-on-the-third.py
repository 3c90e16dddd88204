# Says something and ends when it is asked for the third time.
import os
import sys

from serving import Server


class DiesOnTheThird(Server):
    asked = 0

    def answer(self, identity: str, folder: str, directory: str) -> None:
        self.asked += 1
        if self.asked == 3:
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os._exit(3)
        super().answer(identity, folder, directory)


DiesOnTheThird().serve()
