# Never answers.
from asked import Adapter


class Hanging(Adapter):
    def answer(self, request):
        pass


Hanging().serve()
