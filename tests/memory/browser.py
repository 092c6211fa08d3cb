"""A real Chromium, driven over the pipe of its DevTools protocol: no further package is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-pipe",
)
_PATIENCE_S = 30.0


def executable() -> str | None:
    """The path of an installed Chromium."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `requests` are the addresses that it asked for, `complaints` what went wrong in it."""

    def __init__(self, profile: Path, *, size: tuple[int, int] = (1280, 1100)) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._number = 0
        self._rest = b""
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4: a shell puts them there.
        command = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        window = f"--window-size={size[0]},{size[1]}"
        flags = (*_FLAGS, window, f"--user-data-dir={profile}", "about:blank")
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", str(executable()), *flags],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(_PATIENCE_S)
        os.close(self._in)
        os.close(self._out)

    def open(self, page: Path) -> None:
        """Load a file and wait until it has drawn itself."""
        self._call("Page.navigate", url=page.as_uri())
        self.wait("document.documentElement?.dataset.ready === 'true'")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until a JavaScript condition holds."""
        end = time.monotonic() + _PATIENCE_S
        while not self.evaluate(condition):
            assert time.monotonic() < end, f"{condition} never held; {self.complaints}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Until what was asked to be drawn has been drawn."""
        frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.evaluate(f"{frames}.then(() => true)")

    def type_into(self, element: str, value: str) -> None:
        """Give an input a value as a user would."""
        self.evaluate(
            f"(() => {{ const box = document.getElementById({element!r}); box.value = {value!r};"
            " box.dispatchEvent(new Event('input', { bubbles: true })); })()"
        )
        self.settle()

    def text(self, element: str) -> str:
        """The text of an element by its id."""
        return str(self.evaluate(f"document.getElementById({element!r}).textContent"))

    def dark(self, on: bool) -> None:
        """Prefer dark or light colours."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self._call("Emulation.setEmulatedMedia", features=[feature])
        self.settle()

    def press(self, key: str) -> None:
        """Press a key of the keyboard."""
        for kind in ("keyDown", "keyUp"):
            codes = {"ArrowRight": 39, "ArrowLeft": 37, "Tab": 9, "Enter": 13, "+": 187, "-": 189, "0": 48}
            typed = "\r" if key == "Enter" else key if len(key) == 1 else ""
            text = {"text": typed} if typed and kind == "keyDown" else {}
            self._call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                **text,
            )
        self.settle()

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None) is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], _PATIENCE_S)
            assert ready, "the browser does not answer"
            data = os.read(self._in, 1 << 16)
            assert data, "the browser has gone"
            self._rest += data
        first, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(first))

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        if event["method"] == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif event["method"] == "Log.entryAdded" or (
            event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning")
        ):
            self.complaints.append(str(parameters))
