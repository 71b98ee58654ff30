"""One thread that does what others ask for: of requests of one kind that wait, the last one alone counts.

So a control loop that moves a robot a thousand times a second never waits for a browser, and the browser gets the
newest state, at most `RATE` times a second. All that changes what is shown is done here, one after the other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from cardan._compiler.runtime.log import log

RATE = 60.0
"""Of what is sent to browsers [1/s]: that at which screens are drawn."""
Action = Callable[[], Any]


class Mailbox:
    """A thread and what waits for it.

    Args:
        around: gives a context in which a round of actions is done, such as one in which messages are sent together.
    """

    def __init__(self, around: Callable[[], Any]) -> None:
        self._around = around
        self._waiting: dict[Hashable, tuple[float, Action]] = {}
        self._change = threading.Condition()
        self._closed = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="cardan viewer", daemon=True)
        self._thread.start()

    def post(self, kind: Hashable, action: Action, after: float = 0.0, *, replace: bool = True) -> None:
        """Ask for an action, instead of the one of its kind that waits.

        Args:
            kind: what it is about.
            action: called in the mailbox's thread.
            after: time until it may be done [s].
            replace: whether it takes the place of one that waits; else it is that one that will be done.
        """
        with self._change:
            if not self._closed and (replace or kind not in self._waiting):
                self._waiting[kind] = (time.monotonic() + after, action)
                self._change.notify()

    def flush(self, timeout: float) -> None:
        """Wait until what was asked for before is done.

        Raises:
            TimeoutError: if it takes longer [s].
            Exception: the first one that was raised by an action since the last call.
        """
        done = threading.Event()
        self.post(done, done.set)
        if not self._closed and threading.current_thread() is not self._thread and not done.wait(timeout):
            raise TimeoutError(f"the viewer has not shown in {timeout:g} s what it was given")
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """End the thread; what still waits is not done."""
        with self._change:
            self._closed = True
            self._waiting.clear()
            self._change.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)

    def _work(self) -> None:
        while actions := self._due():
            began = time.monotonic()
            with self._around():
                for action in actions:
                    self._do(action)
            time.sleep(max(0.0, began + 1.0 / RATE - time.monotonic()))

    def _due(self) -> list[Action]:
        """Wait until there is something to do, and return it; nothing at the end."""
        with self._change:
            while not self._closed:
                now = time.monotonic()
                due = [kind for kind, (when, _) in self._waiting.items() if when <= now]
                if due:
                    return [self._waiting.pop(kind)[1] for kind in due]
                first = min((when for when, _ in self._waiting.values()), default=None)
                self._change.wait(None if first is None else first - now)
        return []

    def _do(self, action: Action) -> None:
        try:
            action()
        except Exception as error:  # one robot that cannot be shown must not stop the others
            log().warning("the viewer could not show what it was given: %s", error)
            self._failure = self._failure or error
