"""A problem of the harness, served by the bridge: the backend of `Problem`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _channel as channel
from ._arena import Arena, Region
from ._channel import Channel, Frame, signed, unsigned
from ._shared import Shared, check, overlap
from .arrays import Array, Rows
from .inputs import Family, Inputs, Targets

__all__ = ["FAMILIES", "SolveBackend"]

#: Kernel families by the numbers of the interface.
FAMILIES: dict[int, Family] = {1: "rbf", 2: "matern12", 3: "matern32", 4: "matern52", 5: "linear"}

# Bits of what the harness offers.
_INPUTS, _TARGETS, _STATE, _BASIS, _SCALES = 8, 64, 128, 1 << 16, 1 << 17


class SolveBackend(Shared):
    """One linear system of the harness's.

    Parameters
    ----------
    link : Channel
    arena : Arena
    call : Frame
        The frame `PROBLEM`.
    kept : dict of int to object
        Objects that stay in this process, by their numbers.
    """

    def __init__(self, link: Channel, arena: Arena, call: Frame, kept: dict[int, object]) -> None:
        super().__init__(link, arena)
        i = call.integers
        self.n, self.m, self.s, self.d, self.n_targets = i[:5]
        self.seed, self.threads, self._offers = unsigned(i[5]), i[6], i[7]
        self.tolerance, self.max_epochs = call.reals
        self.rhs: Array = arena.empty((self.n, self.s), read_only=True)
        self.x: Array = arena.empty((self.m, self.s))
        self._kept = kept
        self._norms: Optional[Array] = None
        self._inputs: Optional[Inputs] = None
        self._targets: Optional[Targets] = None

    def apply(self, v: Array, out: Optional[Array], mixed: bool) -> Array:
        """A v."""
        v, given = self._given(v)
        target, place = self._target(out, (self.n, v.shape[1]), given)
        self._ask(channel.APPLY, (*given, *place), _flags(mixed))
        return _settle(target, out)

    def rows(self, rows: Rows, v: Array, out: Optional[Array], mixed: bool) -> Array:
        """A[rows] v."""
        v, given = self._given(v)
        rows, offset = self._indices(rows)
        target, place = self._target(out, (len(rows), v.shape[1]), given)
        self._ask(channel.ROWS, (*given, *place, offset, len(rows)), _flags(mixed))
        return _settle(target, out)

    def fused(
        self, rows: Rows, v: Array, transform: Optional[Callable[[Array], None]], z: Array, mixed: bool
    ) -> Array:
        """u = A[rows] v; transform(u); z += A[rows]^T u."""
        v, given = self._given(v)
        rows, offset = self._indices(rows)
        u, place = self._target(None, (len(rows), v.shape[1]), given)
        target, sum_place = self._target(z, z.shape, given, place)
        if target is not z:
            target[...] = z
        function = None if transform is None else lambda: transform(u)
        flags = _flags(mixed) | (0 if transform is None else channel.WITH_TRANSFORM)
        numbers = (*given, *place, *sum_place, offset, len(rows))
        check("rows_and_back", self.link.request(channel.FUSED, numbers, flags=flags, transform=function))
        _settle(target, z)
        return u

    def columns(self, cols: Rows, v: Array, y: Array, mixed: bool) -> None:
        """y += A[:, cols] v."""
        v, given = self._given(v)
        cols, offset = self._indices(cols)
        target, place = self._target(y, y.shape, given)
        if target is not y:
            target[...] = y
        self._ask(channel.COLUMNS, (*given, *place, offset, len(cols)), _flags(mixed))
        _settle(target, y)

    def block(self, rows: Rows, cols: Rows) -> Array:
        """A[rows, cols]."""
        rows, row_offset = self._indices(rows)
        cols, col_offset = self._indices(cols)
        out, place = self._target(None, (len(rows), len(cols)))
        self._ask(channel.BLOCK, (*place, row_offset, len(rows), col_offset, len(cols)))
        return out

    def diagonal(self) -> Array:
        """The diagonal of A."""
        out, place = self._target(None, (self.n, 1))
        self._ask(channel.DIAG, place)
        return out[:, 0]

    def features(self, seed: int, count: int, w: Array) -> Array:
        """Phi w."""
        w, given = self._given(w)
        out, place = self._target(None, (self.m, w.shape[1]), given)
        self._ask(channel.FEATURES, (*given, *place, signed(seed), count))
        return out

    def features_transposed(self, seed: int, count: int, y: Array) -> Array:
        """Phi^T y."""
        y, given = self._given(y)
        out, place = self._target(None, (count, y.shape[1]), given)
        self._ask(channel.FEATURES_T, (*given, *place, signed(seed), count))
        return out

    def charge(self, entries: int) -> None:
        """Counts entries."""
        self._ask(channel.CHARGE, (min(int(entries), (1 << 63) - 1),))

    def observe(self, iteration: int, norms: Optional[Array], iterate: Optional[Callable[[Array], None]]) -> None:
        """Reports an iteration."""
        offset, count = 0, 0
        if norms is not None and len(norms):
            if self._norms is None:
                self._norms = self.arena.empty((self.s,))
            self._norms[...] = norms
            offset, count = self.arena.offset(self._norms), self.s
        numbers = (iteration, offset, count)
        reply = self.link.request(channel.OBSERVE, numbers)
        if reply.status in (channel.STOPPED, channel.ITERATE) and iterate is not None:
            iterate(self.x)
        if reply.status == channel.ITERATE:
            reply = self.link.request(channel.OBSERVE, numbers)
        check("observe", reply)

    def inputs(self) -> Optional[Inputs]:
        """What A is made of."""
        if not self._offers & _INPUTS:
            return None
        if self._inputs is None:
            self._inputs = self._read_inputs()
        return self._inputs

    def _read_inputs(self) -> Inputs:
        def space(*shape: int) -> Array:
            made: Array = self.arena.empty(shape, read_only=True)
            return made

        x = space(self.n, self.d)
        basis = space(self.m, self.d) if self._offers & _BASIS else None
        length_scale = space(self.d)
        scales = space(self.n) if self._offers & _SCALES else None
        offset = self.arena.offset
        numbers = (
            *self._place(x),
            *((-1, 0, 0, 0) if basis is None else self._place(basis)),
            offset(length_scale),
            -1 if scales is None else offset(scales),
        )
        reply = self.link.request(channel.INPUTS, numbers)
        check("inputs", reply)
        signal_scale, noise_scale = reply.reals
        return Inputs(x, basis, FAMILIES[reply.integers[0]], signal_scale, noise_scale, length_scale, scales)

    def targets(self) -> Optional[Targets]:
        """The parts of the probes."""
        if not self._offers & _TARGETS:
            return None
        if self._targets is None:
            shape = (self.n, self.s - self.n_targets)
            f, noise = (self.arena.empty(shape, read_only=True) for _ in range(2))
            self._ask(channel.TARGETS, (*self._place(f), *self._place(noise)))
            self._targets = Targets(f, noise)
        return self._targets

    def load_state(self, key: str) -> Optional[bytes]:
        """Bytes saved under a key."""
        if not self._offers & _STATE:
            return None
        length = self._load(key, 0, 0)
        if not length:
            return None
        space = self.arena.empty((length,), np.uint8)
        self._load(key, self.arena.offset(space), length)
        return space.tobytes()

    def _load(self, key: str, offset: int, capacity: int) -> int:
        reply = self.link.request_with(channel.LOAD_STATE, {"key": key, "offset": offset, "capacity": capacity})
        check("load_state", reply)
        length: int = reply.integers[0]
        return length

    def save_state(self, key: str, value: bytes) -> None:
        """Saves bytes."""
        space = self.arena.empty((len(value),), np.uint8)
        space[...] = np.frombuffer(value, np.uint8)
        content = {"key": key, "offset": self.arena.offset(space), "length": len(value)}
        check("save_state", self.link.request_with(channel.SAVE_STATE, content))

    def keep(self, key: str, value: object, size: int) -> None:
        """Keeps an object in this process, under a number that the harness holds."""
        handle = max(self._kept, default=0) + 1
        self._kept[handle] = value
        reply = self.link.request_with(channel.KEEP, {"key": key, "handle": handle, "bytes": size})
        if reply.status != 0:
            del self._kept[handle]
        if reply.status != channel.UNSUPPORTED:
            check("keep", reply)

    def take(self, key: str) -> Optional[object]:
        """Gives a kept object back."""
        reply = self.link.request_with(channel.TAKE, {"key": key})
        check("take", reply)
        return self._kept.pop(reply.integers[0], None)

    def _ask(self, kind: int, numbers: tuple[int, ...], flags: int = 0) -> None:
        check(_NAMES[kind], self.link.request(kind, numbers, flags=flags))

    def _given(self, array: Array) -> tuple[Array, Region]:
        """An input where the bridge sees it: the array itself, or a copy."""
        place = self.arena.region(array)
        if place is not None:
            return array, place
        copy: Array = self.arena.empty(array.shape)
        copy[...] = array
        return copy, self._place(copy)

    def _target(self, out: Optional[Array], shape: tuple[int, ...], *inputs: Region) -> tuple[Array, Region]:
        """An output where the bridge sees it, apart from the inputs: the array itself, or another one."""
        place = None if out is None else self.arena.region(out)
        if out is not None and place is not None and not any(overlap(place, given) for given in inputs):
            return out, place
        made: Array = self.arena.empty(shape)
        return made, self._place(made)

    def _indices(self, indices: Rows) -> tuple[Rows, int]:
        copy: Rows = self.arena.empty(indices.shape, np.int64)
        copy[...] = indices
        return copy, self.arena.offset(copy)

    def _place(self, array: npt.NDArray[Any]) -> Region:
        place = self.arena.region(array)
        assert place is not None
        return place


_NAMES = {
    channel.APPLY: "apply",
    channel.ROWS: "rows",
    channel.COLUMNS: "columns",
    channel.BLOCK: "block",
    channel.DIAG: "diagonal",
    channel.FEATURES: "features",
    channel.FEATURES_T: "features_transposed",
    channel.CHARGE: "charge",
    channel.TARGETS: "targets",
}


def _flags(mixed: bool) -> int:
    return channel.MIXED if mixed else 0


def _settle(target: Array, out: Optional[Array]) -> Array:
    """Copies a product to where it was asked for."""
    if out is None:
        return target
    if target is not out:
        out[...] = target
    return out
