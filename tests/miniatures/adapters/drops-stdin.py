# Claims to give bodies a standard input, and gives them none.
from asked import Adapter


class Dropping(Adapter):
    def reply(self, request):
        return super().reply({**request, "stdin": ""})


Dropping().serve()
