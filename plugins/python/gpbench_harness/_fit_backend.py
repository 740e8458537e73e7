"""A fit of the harness, served by the bridge: the backend of `Fit`."""

from __future__ import annotations

from typing import Optional

import numpy as np

from . import _channel as channel
from ._arena import Arena
from ._channel import Channel, Frame, unsigned
from ._shared import Shared, check
from ._solve_backend import FAMILIES
from .arrays import Array, Rows
from .inputs import Inputs, Network

__all__ = ["FitBackend"]

_SHARED_LENGTH_SCALE, _TRAINED_MEAN = 1, 2


class FitBackend(Shared):
    """One training problem of the harness's.

    Parameters
    ----------
    link : Channel
    arena : Arena
    call : Frame
        The frame `FITDATA`.
    """

    def __init__(self, link: Channel, arena: Arena, call: Frame) -> None:
        super().__init__(link, arena)
        n, d, m, outputs, self._family, flags, seed, self.threads, layers, self._random, _ = call.integers[:11]
        self.mean, self.passes = call.reals
        self.seed = unsigned(seed)
        self.shared_length_scale = bool(flags & _SHARED_LENGTH_SCALE)
        self.trains_mean = bool(flags & _TRAINED_MEAN)
        self.x: Array = arena.empty((n, d), read_only=True)
        self._y: Array = arena.empty((n, 1), read_only=True)
        self.y: Array = self._y[:, 0]
        self._basis: Optional[Array] = arena.empty((m, d), read_only=True) if m else None
        self._length_scale: Array = arena.empty((outputs,), read_only=True)
        self._widths = arena.empty((layers,), np.int64)
        self._scales: Array = arena.empty((2,))
        self._rows: Optional[Rows] = None
        self.inputs: Inputs
        self.network: Optional[Network]

    def space(self) -> tuple[int, ...]:
        """Where the bridge puts the data."""
        places = (self.x, self._y, self._basis, self._length_scale, self._widths, self._scales)
        return tuple(0 if place is None else self.arena.offset(place) for place in places)

    def filled(self) -> None:
        """Reads what the bridge has put there beside the arrays."""
        signal_scale, noise_scale = (float(scale) for scale in self._scales)
        family = FAMILIES[self._family]
        self.inputs = Inputs(self.x, self._basis, family, signal_scale, noise_scale, self._length_scale)
        widths = tuple(int(width) for width in self._widths)
        self.network = Network(widths, "relu", self._random) if widths else None

    def batch(self, size: int, stream: int) -> Rows:
        """The next rows of a stream."""
        want = min(size, self.x.shape[0])
        if self._rows is None or len(self._rows) < want:
            self._rows = self.arena.empty((want,), np.int64)
        reply = self.link.request(channel.BATCH, (want, stream, self.arena.offset(self._rows)))
        check("batch", reply)
        return self._rows[: reply.integers[0]].copy()

    def charge(self, rows: int, entries: int, features: int) -> None:
        """Counts work."""
        most = (1 << 63) - 1
        check(
            "charge",
            self.link.request(channel.CHARGE, [min(int(count), most) for count in (rows, entries, features)]),
        )

    def observe(self, step: int, objective: float) -> None:
        """Reports a step."""
        check("observe", self.link.request(channel.OBSERVE, (step,), (objective, 0.0)))
