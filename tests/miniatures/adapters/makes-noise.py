# Does all of it right, and fills standard error before, between and after.
import os

from asked import Adapter


class Noisy(Adapter):
    def say(self, value: object) -> None:
        os.write(2, b"debug: " * 30000)
        super().say(value)
        os.write(2, b'{"id": "1"}\n' * 30000)


Noisy().serve()
