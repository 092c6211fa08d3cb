"""How long a generator looks, and what it says meanwhile: one that is ended from outside still says how far it came."""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
from types import FrameType

_TOLD_EVERY_S = 60.0


class Clock:
    """The time of one run. After SIGTERM the time is over too; what a crash leaves is where it happened."""

    def __init__(self, minutes: float) -> None:
        self._began = time.monotonic()
        self._end = self._began + minutes * 60
        self._told = self._began
        self._signal: int | None = None
        if not faulthandler.is_enabled():
            faulthandler.enable()
        signal.signal(signal.SIGTERM, self._stop)
        self._say("searching")

    def _stop(self, number: int, _: FrameType | None) -> None:
        self._signal = number

    @property
    def minutes(self) -> float:
        """Since the beginning."""
        return (time.monotonic() - self._began) / 60

    @property
    def is_over(self) -> bool:
        """Whether to stop looking."""
        return self._signal is not None or time.monotonic() > self._end

    @property
    def ended_by(self) -> str:
        """Why, for the last line; empty where the time was simply over."""
        return "" if self._signal is None else f", ended by {signal.Signals(self._signal).name}"

    def tell(self, so_far: str) -> None:
        """Say once a minute how far it came, on standard error."""
        now = time.monotonic()
        if now - self._told >= _TOLD_EVERY_S:
            self._told = now
            self._say(f"{self.minutes:.0f} minutes: {so_far}")

    def _say(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
