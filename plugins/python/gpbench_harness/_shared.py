"""What the backends of problems and fits share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _channel as channel
from ._arena import Arena, Region
from ._channel import Channel, Frame
from .errors import Error, Stop

__all__ = ["Shared", "check", "overlap"]

_WHY = {
    channel.ERROR: "an error",
    channel.INVALID_ARGUMENT: "an argument is invalid",
    channel.NOT_POSITIVE_DEFINITE: "the matrix is not positive definite",
    channel.UNSUPPORTED: "this problem does not offer it",
}


class Shared:
    """The channel, the arena and the log.

    Parameters
    ----------
    link : Channel
    arena : Arena
    """

    def __init__(self, link: Channel, arena: Arena) -> None:
        self.link = link
        self.arena = arena

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array in the arena; in private memory, which products copy, where a quarter of the arena would not be left."""
        kind = np.dtype(dtype)
        if not kind.hasobject and self.arena.used < self.arena.size // 4 * 3:
            try:
                return self.arena.empty(shape, kind)
            except MemoryError:
                pass
        return np.empty(shape, kind, order="F")

    def note(self, iteration: int, name: str, value: float) -> None:
        """Adds a number to the trace."""
        check("note", self.link.request_with(channel.NOTE, {"iteration": iteration, "name": name, "value": value}))

    def log(self, level: str, text: str) -> None:
        """Writes to the log."""
        write_log(self.link, level, text)


def write_log(link: Channel, level: str, text: str) -> None:
    """Writes a text to the log, in several messages if it is long."""
    part = 8 << 10  # characters, of which JSON makes six bytes at most
    for start in range(0, max(len(text), 1), part):
        link.request_with(channel.LOG, {"level": level, "text": text[start : start + part]})


def check(call: str, reply: Frame) -> None:
    """Raises what the status of a reply stands for.

    Raises
    ------
    Stop
        The budget is spent, or the solve has to end.
    MemoryError, Error
        The harness could not do it.
    """
    status = reply.status
    if status == 0:
        return
    if status == channel.STOPPED:
        raise Stop
    if status == channel.OUT_OF_MEMORY:
        raise MemoryError(f"gpbench has no memory for `{call}`")
    why = _WHY.get(status, f"status {status}")
    raise Error(f"gpbench refused `{call}`: {why}. The case's log may say more")


def overlap(one: Region, other: Region) -> bool:
    """Whether two matrices share a byte of the range from their first to their last entry."""
    return one[0] < other[0] + _bytes(other) and other[0] < one[0] + _bytes(one)


def _bytes(region: Region) -> int:
    _, rows, columns, distance = region
    return 8 * ((columns - 1) * distance + rows) if rows and columns else 0
