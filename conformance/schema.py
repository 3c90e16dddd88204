"""Check values against the JSON Schemas that are shipped."""

from __future__ import annotations

import json
import math
from functools import cache

from jsonschema import Draft202012Validator, validators

from conformance.paths import schema_file


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
    text = json.loads(schema_file(schema).read_text(encoding="utf-8"))
    return _Validator({"$ref": f"#/$defs/{definition}", "$defs": text["$defs"]})
