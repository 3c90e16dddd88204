# Says that its system is not there.
from asked import Adapter

Adapter().say({"protocol": 1, "name": "miniature", "unavailable": "install it with `apt install miniature`"})
