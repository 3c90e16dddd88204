# Ends when it is asked, with a word about it.
import sys

from asked import Adapter


class Dying(Adapter):
    def answer(self, request):
        sys.exit("out of memory")


Dying().serve()
