"""The lines of the adapter protocol, and the schema that is published for them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.model import Seconds
from conformance.observation import Basis
from conformance.paths import schema_file
from conformance.payload import Literal
from conformance.process import Answer
from conformance.routes.capabilities import Capabilities
from conformance.routes.messages import Absence, Hello, Request, read_hello, read_reply
from conformance.status import Exited, NotReported

HELLO = {"protocol": 1, "name": "execa", "version": "9.6.1", "capabilities": {"output": "bytes"}}
ABSENCE = {"protocol": 1, "name": "execa", "unavailable": "install it"}
REQUEST = Request("17", "4", "bash", "cat", Literal(b"\xff"), "/w", {"A": "b"}, Seconds(1.5))
REPLY = {"id": "17", "status": {"kind": "exited", "code": 2}, "stdout": "aGk=", "stderr": ""}
ABLE = Capabilities(stderr="separate", statuses=("exited", "signalled"), decision=True)


def line(value: object) -> bytes:
    return json.dumps(value).encode()


def changed(value: Mapping[str, Any], **changes: Any) -> bytes:
    return line({key: each for key, each in {**value, **changes}.items() if each is not ...})


def schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema_file("adapter").read_text(encoding="utf-8")))


def test_the_schema_is_one_and_takes_every_line() -> None:
    Draft202012Validator.check_schema(schema().schema)
    failure = {"id": "17", "error": "the daemon is gone"}
    for value in (HELLO, ABSENCE, json.loads(REQUEST.line()), REPLY, failure):
        schema().validate(value)


def test_every_status_of_a_report_can_be_told() -> None:
    report = json.loads(schema_file("report").read_text(encoding="utf-8"))["$defs"]["status"]
    adapter = schema().schema["$defs"]["status"]
    kinds = [{each["properties"]["kind"]["const"] for each in status["oneOf"]} for status in (report, adapter)]
    assert kinds[0] == kinds[1]


def test_a_hello() -> None:
    assert read_hello(line(HELLO)) == Hello("execa", "9.6.1", Capabilities(output="bytes"))
    assert read_hello(line(ABSENCE)) == Absence("execa", "install it")


def test_a_request_holds_all_of_it() -> None:
    assert REQUEST.line().endswith(b"\n")
    assert json.loads(REQUEST.line()) == {
        "id": "17", "session": "4", "dialect": "bash", "body": "cat", "stdin": base64.b64encode(b"\xff").decode(),
        "cwd": "/w", "env": {"A": "b"}, "timeout_ms": 1500,
    }  # fmt: skip


def test_a_reply() -> None:
    assert read_reply(line(REPLY), REQUEST, ABLE) == Answer(Exited(2), b"hi", b"", None)
    said = changed(REPLY, status={"kind": "not_reported", "reason": "no code"}, decision="block", stderr="aGk=")
    assert read_reply(said, REQUEST, ABLE) == Answer(NotReported("no code"), b"hi", b"hi", "block")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (b"", "its hello is no JSON: ''"),
        (b"[" * 100_000, "its hello is no JSON"),
        (line("hello"), "its hello is no JSON object"),
        (changed(HELLO, protocol=...), "its hello lacks the key 'protocol'"),
        (changed(HELLO, protocol="1"), "has \"1\" for 'protocol'"),
        (changed(HELLO, version=""), "has \"\" for 'version'"),
        (changed(HELLO, greeting="hi"), "has the unknown key 'greeting'"),
        (changed(HELLO, capabilities={"stdin": True}), "has true for 'capabilities.stdin', but what standard input"),
        (changed(HELLO, capabilities={"statuses": ["ended"]}), "has \"ended\" for 'capabilities.statuses.0'"),
        (changed(ABSENCE, unavailable=""), "has \"\" for 'unavailable'"),
        (changed(HELLO, unavailable="install it"), "has the unknown key 'capabilities'"),
    ],
)
def test_what_is_no_hello_is_told_by_its_key(wrong: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=r"\. |it wrote") as caught:
        read_hello(wrong)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (b"\xff", "its reply is no JSON"),
        (changed(REPLY, id=...), "its reply lacks the key 'id'"),
        (changed(REPLY, id=17), "has 17 for 'id'"),
        (changed(REPLY, id="16"), "it answered request '16', but '17' was asked"),
        (changed(REPLY, stdout=None), "has null for 'stdout'"),
        (changed(REPLY, stdout="aGk"), "has \"aGk\" for 'stdout', but bytes in base64"),
        (changed(REPLY, exit_code=2), "has the unknown key 'exit_code'"),
        (changed(REPLY, status=2), "has 2 for 'status'"),
        (changed(REPLY, status={"kind": "exited"}), "is expected"),
        (changed(REPLY, status={"kind": "exited", "code": -9}), "is expected"),
        (changed(REPLY, status={"kind": "exited", "code": True}), "is expected"),
        (changed(REPLY, status={"kind": "exited", "code": 2.0}), "is expected"),
        (changed(REPLY, status={"kind": "failed_to_start"}), "is expected"),
        (changed(REPLY, status={"kind": "timed_out"}), "which its hello does not name"),
        (changed(REPLY, error="it broke"), "has the unknown key 'error'"),
        (line({"id": "17", "error": ""}), "has \"\" for 'error'"),
    ],
)
def test_what_is_no_reply_is_told_by_its_key(wrong: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=r"\. |it wrote|Add it") as caught:
        read_reply(wrong, REQUEST, ABLE)
    assert told in str(caught.value)


def test_the_basis_is_what_the_output_is() -> None:
    assert Capabilities.of({"output": "bytes"}).basis is Basis.BYTES
