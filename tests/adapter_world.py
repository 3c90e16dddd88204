"""Adapters written into a folder, for tests: programs of Python on the loop of `miniatures/adapters/asked.py`."""

from __future__ import annotations

import json
from pathlib import Path

URL = "https://example.org/"
ASKED = Path(__file__).parent / "miniatures" / "adapters"
HEAD = f"""\
import json, os, signal, subprocess, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, {str(ASKED)!r})
from asked import CAPABILITIES, Adapter, outcome
"""


def adapter_route(folder: Path, program: str, *, name: str = "r", more: str = "") -> str:
    """Write the adapter `program` into `folder` and return its route; `more` are other keys."""
    (folder / f"{name}.py").write_text(HEAD + program)
    argv = json.dumps(["{{python}}", f"{{{{folder}}}}/{name}.py"])
    return f'[[route]]\nid = "{name}"\nkind = "adapter"\ndialects = ["sh"]\nargv = {argv}\nsource = "{URL}"\n{more}\n'
