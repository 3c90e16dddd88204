# Takes requests and does nothing about them.
from serving import Server


class NeverOpens(Server):
    def answer(self, identity: str, folder: str, directory: str) -> None:
        pass


NeverOpens().serve()
