"""What the parts of a problem or fit share: its backend, and whether that may be called now."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .errors import Ended

__all__ = ["Link"]

B = TypeVar("B")


class Link(Generic[B]):
    """A backend, which answers on one thread, and until the problem or fit ends."""

    __slots__ = ("_backend", "_inside", "_name", "_thread")

    def __init__(self, backend: B, name: str) -> None:
        self._backend: B | None = backend
        self._name = name
        self._inside = ""
        self._thread = threading.get_ident()

    def use(self) -> B:
        """Returns the backend.

        Raises
        ------
        Ended
            If the problem or fit has ended.
        RuntimeError
            On another thread than the one that the harness called, or inside a callback.
        """
        if self._backend is None:
            raise Ended(
                f"this {self._name} has ended: it may be used only inside the call that it was passed to. "
                "Copy what is needed later"
            )
        if threading.get_ident() != self._thread:
            raise RuntimeError(
                f"the {self._name} was used on another thread than the one that the harness called. Threads may do "
                "work of their own, but only that thread may call the harness"
            )
        if self._inside:
            raise RuntimeError(f"the harness may not be called inside {self._inside}")
        return self._backend

    def callback(self, function: Callable[[Any], None], what: str) -> Callable[[Any], None]:
        """Wraps a function of the author's, during which the backend may not be called."""

        def call(array: Any) -> None:
            self._inside = what
            try:
                function(array)
            finally:
                self._inside = ""

        return call

    def adopt(self) -> None:
        """Makes the calling thread the one that may call."""
        self._thread = threading.get_ident()

    def end(self) -> None:
        """Refuses every further call."""
        self._backend = None
