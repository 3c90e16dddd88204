# Names a capability that there is not.
from asked import CAPABILITIES, Adapter

Adapter(capabilities={**CAPABILITIES, "telepathy": True}).serve()
