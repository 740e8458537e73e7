"""Exceptions of a script as errors of the interface: a status, one line, and a traceback without frames of gpbench."""

from __future__ import annotations

import os
import traceback
from typing import Any

from . import _channel as channel

__all__ = ["fault"]

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep

# Characters, of which JSON makes six bytes at most.
_MOST_TEXT = 2000
_MOST_TRACEBACK = 6000


def fault(exception: BaseException) -> dict[str, Any]:
    """Returns the content of the frame `FAIL` for an exception that a script raised."""
    shown = traceback.TracebackException.from_exception(exception)
    _hide(shown, set())
    lines = "".join(shown.format()).rstrip()
    name = type(exception).__name__
    said = str(exception).strip()
    text = f"{name}: {said}" if said else name
    if isinstance(exception, SyntaxError):
        text = f"{name}: {exception.msg} ({_base(exception.filename)}:{exception.lineno})"
    elif shown.stack:
        last = shown.stack[-1]
        text = f"{_cut(text, _MOST_TEXT)} ({_base(last.filename)}:{last.lineno}, in {last.name})"
    if isinstance(exception, (SystemExit, KeyboardInterrupt)):
        text = f"{text}: a solver must not end the process"
    return {"status": _status(exception), "text": text, "traceback": _cut(lines, _MOST_TRACEBACK, at_end=True)}


def _status(exception: BaseException) -> int:
    if isinstance(exception, MemoryError):
        return channel.OUT_OF_MEMORY
    name = type(exception).__name__
    # Of numpy and scipy, of torch (`_LinAlgError`), and of GPyTorch.
    if name == "NotPSDError" or (name.endswith("LinAlgError") and "positive" in str(exception)):
        return channel.NOT_POSITIVE_DEFINITE
    return channel.ERROR


def _hide(shown: traceback.TracebackException | None, seen: set[int]) -> None:
    """Removes the frames of gpbench and of the import system, of the causes too."""
    if shown is None or id(shown) in seen:
        return
    seen.add(id(shown))
    kept = [frame for frame in shown.stack if not _is_own(frame.filename)]
    shown.stack = traceback.StackSummary.from_list(kept)
    _hide(shown.__cause__, seen)
    _hide(shown.__context__, seen)


def _is_own(filename: str) -> bool:
    return filename.startswith(_OWN) or filename.startswith("<frozen importlib")


def _base(filename: str | None) -> str:
    return os.path.basename(filename or "?")


def _cut(text: str, most: int, at_end: bool = False) -> str:
    if len(text) <= most:
        return text
    return "... " + text[-most:] if at_end else text[:most] + " ..."
