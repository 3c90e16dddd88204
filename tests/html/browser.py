"""A Chromium without a window, driven by its DevTools protocol through two pipes: messages of JSON, a NUL behind each.

https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_SECONDS = 60
"""How long the browser may take to answer before it counts as broken; no test waits so long for anything."""
OPTIONS = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-extensions", "--disable-sync", "--disable-background-networking", "--disable-component-update",
    "--disable-dev-shm-usage", "--mute-audio", "--force-color-profile=srgb",
)  # fmt: skip
KEY_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
             "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # fmt: skip
CONTROL = 2
"""The modifier that the protocol calls so."""


def find_browser() -> str | None:
    """Return the program, or None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    """The browser did not do what was asked of it."""


class Browser:
    """A running browser."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._number = 0
        self._unread = b""
        self.tabs: dict[str, Tab] = {}

    def call(self, method: str, session: str = "", /, **parameters: Any) -> dict[str, Any]:
        """Ask for something and return the answer; what happens meanwhile is noted by its tab."""
        self._number += 1
        request: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        message = json.dumps(request).encode() + b"\0"
        while message:
            message = message[os.write(self._requests, message) :]
        while (answer := self._next()).get("id") != self._number:
            if answer.get("sessionId") in self.tabs:
                self.tabs[answer["sessionId"]].note(answer["method"], answer["params"])
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self._answers, 1 << 20) if ready else b""
            if not part:
                raise BrowserError("the browser has ended" if ready else "the browser does not answer")
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(message))

    @contextmanager
    def tab(self, *, width: int = 1280, height: int = 900, dark: bool = False) -> Generator[Tab, None, None]:
        """Open an empty tab that shares nothing with any other."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = self.tabs[session] = Tab(self, session, context)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.call(f"{domain}.enable")
        tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
        tab.resize(width, height)
        tab.prefer(dark=dark)
        try:
            yield tab
        finally:
            del self.tabs[session]
            self.call("Target.disposeBrowserContext", browserContextId=context)


@dataclass
class Tab:
    """One page. `problems` is all that its console has seen, `requests` every address that it asked for."""

    browser: Browser
    session: str
    context: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def call(self, method: str, /, **parameters: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **parameters)

    def note(self, method: str, event: Mapping[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.problems.append(str(details.get("exception", {}).get("description", details["text"])))
        elif method == "Runtime.consoleAPICalled":
            said = " ".join(str(argument.get("value", "")) for argument in event["args"])
            self.problems.append(f"console.{event['type']}: {said}")
        elif method == "Log.entryAdded":
            self.problems.append(event["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append(f"dialog: {event['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])

    def open(self, address: str) -> None:
        """Go to `address` and wait until the page is loaded; another fragment of the same page loads nothing."""
        self.call("Page.navigate", url=address)
        self.wait_for(f"document.readyState === 'complete' && location.href === new URL({json.dumps(address)}).href")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, as if the user had just clicked; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Return when a JavaScript expression has become true."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        look = f"new Promise((done) => {{ const go = () => ({condition}) ? done(true) : setTimeout(go, 5); go(); }})"
        while True:
            try:
                self.evaluate(look)
            except BrowserError as error:  # the page that was asked has gone, and the next has not come yet
                gone = "navigated" in str(error) or "context" in str(error).lower()
                if not gone or time.monotonic() > deadline:
                    raise
            else:
                return

    def press(self, key: str, *, control: bool = False) -> None:
        """Press and release a key."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = KEY_CODES.get(key, ord(key.upper()) if len(key) == 1 else 0)
        common: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        common["modifiers"] = CONTROL if control else 0
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        """Put `text` where the focus is."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click in the middle of what `selector` names, with the mouse."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        box = self.evaluate(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, *, dark: bool) -> None:
        """Let the system ask for dark or light colours."""
        wanted = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[wanted])

    def allow_clipboard(self) -> None:
        allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        self.browser.call("Browser.grantPermissions", permissions=allowed, browserContextId=self.context)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def running_browser(program: str) -> Generator[Browser, None, None]:
    """Start the browser with a profile of its own, and end it."""
    options = [*OPTIONS, *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])]
    requests, ours_out = os.pipe()
    ours_in, answers = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The descriptors that the browser uses are 3 and 4; bash puts ours there, whatever their numbers.
        place = f'exec "$@" 3<&{requests} 4>&{answers}'
        process = subprocess.Popen(
            ["bash", "-c", place, "bash", program, *options, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(requests, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(requests)
        os.close(answers)
        browser = Browser(ours_out, ours_in)
        try:
            browser.call("Browser.getVersion")
            yield browser
            browser.call("Browser.close")
        finally:
            os.close(ours_out)
            os.close(ours_in)
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
