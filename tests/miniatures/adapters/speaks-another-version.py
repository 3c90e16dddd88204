# Speaks a version of the protocol that is not known here.
from asked import Adapter

Adapter(protocol=2).serve()
