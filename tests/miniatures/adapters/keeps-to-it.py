# Does all of it right.
from asked import Adapter

Adapter().serve()
