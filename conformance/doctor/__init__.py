"""Tell whether this machine can be trusted to give results, and what mends it where it cannot.

A check is a plain function of what it looks at, and returns findings. `examine` runs them all in the order in which
they rest on each other: a route is only tried on a shell that works, and a shell only by a harness that works.
"""
