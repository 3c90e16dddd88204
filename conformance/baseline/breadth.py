"""When an entry of a baseline names too much: its globs take in many cases that do not need it."""

from __future__ import annotations

from conformance.model import Deviation, Happens

HANDFUL = 5
"""So many cases may be named for nothing: a glob is written to be read."""


def has_globs(deviation: Deviation) -> bool:
    """Tell whether `deviation` names its routes or fixtures by patterns."""
    return any(set(name) & set("*?[") for name in (*deviation.routes, *deviation.fixtures))


def too_broad(deviation: Deviation, needing: int, judged: int) -> bool:
    """Tell whether fewer than half of the `judged` cases that `deviation` names need it, and more than a few do not.

    What happens only sometimes is needed by cases of which a run does not show it.
    """
    needless = judged - needing
    always = deviation.happens is Happens.ALWAYS
    return always and has_globs(deviation) and needing < judged / 2 and needless > HANDFUL
