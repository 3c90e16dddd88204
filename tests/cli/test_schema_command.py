"""`conformance schema`: what somebody who reads or writes the files by program gets."""

from __future__ import annotations

import json

import pytest
from conftest import call_cli, run_cli
from jsonschema import Draft202012Validator

from conformance.paths import data_folder, schema_names


def test_the_schemas_are_listed_with_a_line_each() -> None:
    finished = call_cli("schema")
    assert (finished.code, finished.err) == (0, "")
    names, titles = zip(*(line.split(": ", 1) for line in finished.out.splitlines()), strict=True)
    assert names == schema_names()
    assert {"catalog", "report"} <= set(names)
    assert all(titles)


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_printed_as_it_is(name: str) -> None:
    finished = run_cli("schema", name)
    assert (finished.code, finished.err) == (0, "")
    assert finished.out == (data_folder("schemas") / f"{name}.schema.json").read_text(encoding="utf-8")
    Draft202012Validator.check_schema(json.loads(finished.out))


def test_an_unknown_schema_is_a_usage_error_that_names_the_known_ones() -> None:
    finished = call_cli("schema", "repot")
    assert (finished.code, finished.out) == (2, "")
    assert "'repot' is not one of 'adapter', 'catalog', 'report'" in finished.err
