# Answers with a line that never ends.
import os

from asked import Adapter


class Endless(Adapter):
    def answer(self, request):
        while True:
            os.write(1, b"x" * 65536)


Endless().serve()
