"""`python -m conformance` is the `conformance` command."""

from __future__ import annotations

from conformance.cli import main

if __name__ == "__main__":
    main()
