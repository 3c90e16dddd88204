"""Talk to an adapter as a run would, and say of its answers what is right, what is wrong and what they lose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from conformance.adapter_check.bodies import BINARY, BODIES, LARGE_BYTES, Bodies
from conformance.adapter_check.talks import Subject, Told
from conformance.doctor.finding import Finding, State
from conformance.errors import RouteBrokenError, UnavailableError
from conformance.payload import Literal, Stream, chunks
from conformance.routes.capabilities import Capabilities
from conformance.routes.messages import Absence, AdapterFailureError
from conformance.status import Exited, Signalled, TimedOut

CODES = (0, 7, 42, 124, 137)
"""The last two are what shells and timeout(1) make of other ends, and mean nothing of the kind by themselves."""
STDIN_BYTES = 64 * 1024
UNREAD_BYTES = 1024 * 1024
"""More than the pipes and buffers of any system hold."""
HANG_SECONDS = {"sh": 1.0, "bash": 1.0, "pwsh": 5.0}
"""How long a body that hangs has, by dialect: its shell must have started by then."""
MOST_BREAKS = 4
DERIVED = (Signalled, TimedOut)
"""What no body that says exit can end in."""
TEXT = b"gr\xc3\xbc\xc3\x9fe\n"
SCHEMA = "`conformance schema adapter` prints the protocol"


def check_adapter(subject: Subject, time_scale: float) -> Iterator[Finding]:
    """Yield what is found of `subject`, whose deadlines are multiplied by `time_scale`.

    Raises HarnessError where it cannot be started, UnavailableError where it says that its system is not there.
    """
    with closing(subject):
        try:
            hello = subject.hello()
        except RouteBrokenError as error:
            yield Finding("hello", State.BROKEN, str(error), mend=SCHEMA)
            return
        if isinstance(hello, Absence):
            raise UnavailableError(f"{hello.name} is not there, as its adapter says: {hello.reason}")
        yield Finding("hello", State.OK, f"{hello.name} {hello.version}, with {_claims(hello.capabilities)}")
        examination = _Examination(subject, hello.capabilities, time_scale)
        for name, examine in examination.parts().items():
            if subject.silent or subject.breaks >= MOST_BREAKS:
                times = "by not answering" if subject.silent else f"{subject.breaks} times"
                yield Finding(name, State.NOT_TRIED, f"it has broken {times}")
                continue
            try:
                yield from examine(name)
            except RouteBrokenError as error:
                yield Finding(name, State.BROKEN, str(error), mend=SCHEMA)
            except AdapterFailureError as error:
                yield Finding(name, State.BROKEN, f"it says that it failed: {error}", mend="Mend what it says")


def _claims(capabilities: Capabilities) -> str:
    return ", ".join(
        f"{name} {', '.join(value) if isinstance(value, tuple) else str(value).lower()}"
        for name, value in asdict(capabilities).items()
    )


class _Examination:
    """Asks for one thing after the other, each in a session of its own."""

    def __init__(self, subject: Subject, capabilities: Capabilities, time_scale: float) -> None:
        self._subject = subject
        self._claims = capabilities
        self._time_scale = time_scale
        self._bodies: Bodies = BODIES[subject.dialect]

    def parts(self) -> dict[str, Callable[[str], Iterator[Finding]]]:
        """Return what is examined, by name; what the adapter does not claim and could hang at is left out."""
        claims = self._claims
        parts: dict[str, Callable[[str], Iterator[Finding]]] = {
            "codes": self._codes,
            "output": self._output,
            "large-output": self._large_output,
            "binary-output": self._binary_output,
            "stderr": self._stderr,
            "env": self._env,
            "cwd": self._cwd,
        }
        if claims.stdin != "none":
            parts["stdin"] = self._stdin
        if claims.decision:
            parts["decision"] = self._decision
        if "signalled" in claims.statuses:
            parts["signalled"] = self._signalled
        if "timed_out" in claims.statuses:
            parts["timed-out"] = self._timed_out
        return {**parts, "session": self._session, "end": self._end}

    def _codes(self, name: str) -> Iterator[Finding]:
        told = {code: self._subject.ask(f"exit {code}", f"{name}-{code}").status for code in CODES}
        derived = [f"`exit {code}` was told as {told[code]}" for code in CODES if isinstance(told[code], DERIVED)]
        if derived:
            mend = "Send what the system tells, and derive no other kind of status from a code"
            yield Finding(name, State.BROKEN, "; ".join(derived), mend=mend)
            return
        lost = [f"`exit {code}` was told as {status}" for code, status in told.items() if status != Exited(code)]
        yield _loses(name, lost) or Finding(name, State.OK, f"{', '.join(map(str, CODES))} came as they are")

    def _output(self, name: str) -> Iterator[Finding]:
        told = self._subject.ask(self._bodies.output, name)
        yield _loses(name, _unlike(told.stdout, b"a\nb")) or Finding(name, State.OK, "two lines came as they are")

    def _large_output(self, name: str) -> Iterator[Finding]:
        told = self._subject.ask(self._bodies.large, name)
        lost = _unlike(told.stdout, b"0" * LARGE_BYTES)
        yield _loses(name, lost) or Finding(name, State.OK, f"{LARGE_BYTES} bytes came as they are")

    def _binary_output(self, name: str) -> Iterator[Finding]:
        came = self._subject.ask(self._bodies.binary, name).stdout
        if self._claims.output == "bytes":
            yield _loses(name, _unlike(came, BINARY)) or Finding(name, State.OK, "bytes that are no text came whole")
        elif came == BINARY:
            yield _hint(name, "bytes that are no text come whole, though its hello says text", 'output = "bytes"')
        else:
            yield Finding(name, State.OK, "it hands on text, as its hello says")

    def _stderr(self, name: str) -> Iterator[Finding]:
        told = self._subject.ask(self._bodies.both, name)
        if not self._claims.merges:
            apart = told.stdout.rstrip() == b"out" and told.stderr.rstrip() == b"err"
            found = "standard error comes apart" if apart else f"stdout was {told.stdout!r} and stderr {told.stderr!r}"
            mend = "" if apart else 'Send each stream where it belongs, or leave `stderr = "separate"` out'
            yield Finding(name, State.OK if apart else State.BROKEN, found, mend=mend)
        elif b"err" in told.stdout:
            yield Finding(name, State.OK, "standard error comes in standard output, as its hello says")
        else:
            yield Finding(name, State.LOSES, "standard error does not come at all")

    def _env(self, name: str) -> Iterator[Finding]:
        told = self._subject.ask(self._bodies.variable, name)
        came = told.stdout.strip() == told.stage.folder.name.encode()
        alone = not self._subject.ask(self._bodies.own, name).stdout.strip()
        yield self._claimed(
            name, claimed=self._claims.env, true=came and alone,
            right="a body gets the environment of the request, and no other",
            wrong="a body gets variables of the adapter's own as well" if came else
            "a body does not get the environment of the request",
        )  # fmt: skip

    def _cwd(self, name: str) -> Iterator[Finding]:
        told = self._subject.ask(self._bodies.directory, name)
        came = told.stdout.strip() == str(told.stage.working_directory.resolve()).encode()
        yield self._claimed(
            name, claimed=self._claims.cwd, true=came,
            right="a body works in the directory of the request",
            wrong=f"a body works in {Path(told.stdout.decode('utf-8', 'replace').strip()).name!r}",
        )  # fmt: skip

    def _claimed(self, name: str, *, claimed: bool, true: bool, right: str, wrong: str) -> Finding:
        if claimed and not true:
            return Finding(name, State.BROKEN, wrong, mend=f"Hand it on, or leave `{name} = true` out")
        if true and not claimed:
            return _hint(name, f"{right}, though its hello does not say so", f"{name} = true")
        return Finding(name, State.OK, right if true else f"{wrong}, as its hello says")

    def _stdin(self, name: str) -> Iterator[Finding]:
        told = self._subject.ask(self._bodies.copy, name, Literal(TEXT))
        if told.stdout.strip() != TEXT.strip():
            mend = f'Hand stdin on, or leave `stdin = "{self._claims.stdin}"` out'
            yield Finding(name, State.BROKEN, f"{TEXT!r} was sent, and a body got {told.stdout[:80]!r}", mend=mend)
            return
        large = Stream("stdin", STDIN_BYTES) if self._claims.stdin == "bytes" else Literal(b"x" * STDIN_BYTES)
        lost = []
        if self._claims.output == "bytes":
            lost += _unlike(self._subject.ask(self._bodies.copy, name, large).stdout, b"".join(chunks(large)))
        unread = self._subject.ask("exit 7", f"{name}-unread", Literal(b"x" * UNREAD_BYTES)).status
        lost += [f"with {UNREAD_BYTES} bytes that nobody reads, `exit 7` was told as {unread}"] * (unread != Exited(7))
        found = f"{STDIN_BYTES} bytes come whole, and {UNREAD_BYTES} that nobody reads harm nobody"
        yield _loses(name, lost) or Finding(name, State.OK, found)

    def _decision(self, name: str) -> Iterator[Finding]:
        decision = self._subject.ask("exit 2", name).decision
        if decision is None:
            mend = "Send what the system decided, or leave `decision = true` out"
            yield Finding(name, State.BROKEN, "its hello says decision, and its reply has none", mend=mend)
        else:
            yield Finding(name, State.OK, f"`exit 2` made it {decision}")

    def _signalled(self, name: str) -> Iterator[Finding]:
        status = self._subject.ask(self._bodies.killed, name).status
        lost = [] if status == Signalled(9) else [f"a death by SIGKILL was told as {status}"]
        yield _loses(name, lost) or Finding(name, State.OK, "a death by SIGKILL is told as one")

    def _timed_out(self, name: str) -> Iterator[Finding]:
        seconds = HANG_SECONDS[self._subject.dialect] * self._time_scale
        told = self._subject.ask(self._bodies.hanging, name, seconds=seconds)
        lost = [] if told.status == TimedOut() else [f"a body that hangs was told as {told.status}"]
        lost += ["a body that hangs was left running, and killed here"] * bool(told.leftovers)
        yield _loses(name, lost) or Finding(name, State.OK, "a body that hangs is ended and told as timed out")

    def _session(self, name: str) -> Iterator[Finding]:
        def recalled(session: str) -> str:
            return _shown(self._subject.ask(self._bodies.recall, session))

        self._subject.ask(self._bodies.remember, f"{name}-1")
        same, other = recalled(f"{name}-1"), recalled(f"{name}-2")
        wanted = ("kept" if self._claims.session == "kept" else "fresh", "fresh")
        if (same, other) == wanted:
            yield Finding(name, State.OK, f"a variable is {same} for the next body, and {other} in a new session")
        else:
            found = f"a variable is {same} for the next body, and {other} in a new session"
            mend = 'Say session = "kept" where it is, and end the last session when the request names another'
            yield Finding(name, State.BROKEN, f"{found}, though its hello says {self._claims.session!r}", mend=mend)

    def _end(self, name: str) -> Iterator[Finding]:
        if self._subject.farewell():
            yield Finding(name, State.OK, "it ends with its standard input")
        else:
            yield Finding(
                name, State.BROKEN, "it does not end when its standard input ends", mend="Leave the loop at its end"
            )


def _unlike(came: bytes, wanted: bytes) -> list[str]:
    if came == wanted:
        return []
    if len(wanted) > 80:
        other = f"{len(came)} came" if len(came) != len(wanted) else "as many came, but not the same"
        return [f"{len(wanted)} bytes were written, and {other}"]
    return [f"{wanted!r} was written, and {came[:80]!r} came"]


def _shown(told: Told) -> str:
    return told.stdout.decode("utf-8", "replace").strip()[:80]


def _loses(name: str, lost: list[str]) -> Finding | None:
    return Finding(name, State.LOSES, "; ".join(lost)) if lost else None


def _hint(name: str, found: str, claim: str) -> Finding:
    return Finding(name, State.WARNING, found, mend=f"Say {claim}, or its cases are skipped")


def exit_code(findings: list[Finding]) -> int:
    """Return the exit code of a check: 1 where something is wrong with the adapter; what the system loses is not."""
    return int(any(finding.state is State.BROKEN for finding in findings))
