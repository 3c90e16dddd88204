# Answers the first request again when it has performed the second.
from serving import Server


class AnswersAnother(Server):
    first = ""

    def reply(self, line: str) -> None:
        identity, _, rest = line.partition(" ")
        self.first = self.first or identity
        super().reply(f"{self.first if rest != 'opened' else identity} {rest}")


AnswersAnother().serve()
