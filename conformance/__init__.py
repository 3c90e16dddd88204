"""Conformance test harness for shell exit semantics."""

from __future__ import annotations

__version__ = "0.1.0"
