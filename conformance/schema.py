"""Check values against the JSON Schemas that are shipped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import fastjsonschema
from fastjsonschema import JsonSchemaValueException as MisfitError
from jsonschema import Draft202012Validator, validators

from conformance.paths import schema_file

__all__ = ["MisfitError", "compiled", "validator"]


def _is_integer(_: object, value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(checker: object, value: object) -> bool:
    return _is_integer(checker, value) or (isinstance(value, float) and math.isfinite(value))


# JSON Schema takes 1.0 for an integer, and TOML knows `inf` and `nan`: neither makes an exit code or a deadline.
_Validator = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many({"integer": _is_integer, "number": _is_number}),
)


@cache
def validator(schema: str, definition: str) -> Draft202012Validator:
    """Return the validator of a `definition` in the shipped schema called `schema`."""
    return _Validator(_definition(schema, definition))


@cache
def compiled(schema: str, definition: str) -> Callable[[Any], Any]:
    """Return what checks a value against a `definition` in the shipped schema called `schema`, a hundred times faster.

    It raises MisfitError, which names less than a validator tells, for a value that does not fit.
    """
    check: Callable[[Any], Any] = fastjsonschema.compile(_definition(schema, definition), use_default=False)
    return check


def _definition(schema: str, definition: str) -> dict[str, Any]:
    text = json.loads(schema_file(schema).read_text(encoding="utf-8"))
    return {"$ref": f"#/$defs/{definition}", "$defs": text["$defs"]}
