"""Where the cache is. Not in `paths`, which every command imports: the library that knows takes a while to load."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Return this user's cache, which need not exist.

    Raises RuntimeError where this user has no home.
    """
    Path.home()
    return platformdirs.user_cache_path("shell-exit-conformance", appauthor=False)
