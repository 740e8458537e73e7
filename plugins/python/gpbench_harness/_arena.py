"""The memory that this process shares with the bridge: a heap for arrays.

An array of the heap has a `_Block` as its base, and so have its views, the tensors made of it and its DLPack exports. When the
last of them dies, the block is free. The mapping is never closed, so an array that is kept is valid for ever.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FIRST", "Arena"]

#: Bytes at the beginning in which no array lies, so that an offset of 0 is always a mistake.
FIRST = 4096

_PAGE = 4096
_LARGE = 64 << 10
_LINE = 64
_FLOAT = np.dtype(np.float64)

#: offset, rows, columns, distance between columns in entries
Region = tuple[int, int, int, int]


class _Block:
    """A range of the heap, which is free when this object dies."""

    __slots__ = ("__array_interface__", "__weakref__", "_range", "_returned")

    def __init__(self, returned: deque[tuple[int, int]], place: tuple[int, int], interface: dict[str, Any]) -> None:
        self._returned = returned
        self._range = place
        self.__array_interface__ = interface

    def __del__(self) -> None:
        # May run on any thread, and inside of any function here: it only appends, which cannot be interrupted.
        self._returned.append(self._range)


class Arena:
    """The heap.

    Parameters
    ----------
    memory : mmap
        The mapping, shared and writable.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self.size = len(memory)
        whole = np.frombuffer(memory, dtype=np.uint8)
        self.address: int = whole.__array_interface__["data"][0]
        self._whole = whole
        self._lock = threading.Lock()
        # Blocks whose arrays have died; they are taken into `_free` before the next one is given out.
        self._returned: deque[tuple[int, int]] = deque()
        self._free: dict[int, list[int]] = {}
        self._free_bytes = 0
        self._top = FIRST
        # No page from here on has been used since the last `trim`.
        self._high = FIRST
        os.register_at_fork(after_in_child=self._forbid)

    def empty(
        self, shape: tuple[int, ...], dtype: npt.DTypeLike = float, read_only: bool = False
    ) -> npt.NDArray[Any]:
        """Makes a column-major array without content.

        Raises
        ------
        MemoryError
            If there is no room.
        """
        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError(f"an array of {kind} holds references and cannot be shared")
        shape = tuple(int(length) for length in shape)
        strides, step = [], kind.itemsize
        for length in shape:
            if length < 0:
                raise ValueError(f"a shape has no negative length: {shape}")
            strides.append(step)
            step *= max(length, 1)
        count = 0 if 0 in shape else step
        size = -(-max(count, 1) // _LINE) * _LINE
        if size >= _LARGE:
            size = -(-size // _PAGE) * _PAGE
        offset = self._take(size)
        interface = {
            "version": 3,
            "shape": shape,
            "typestr": kind.str,
            "strides": tuple(strides),
            "data": (self.address + offset, read_only),
        }
        if kind.fields is not None:
            interface["descr"] = kind.descr
        return np.asarray(_Block(self._returned, (offset, size), interface))

    def offset(self, array: npt.NDArray[Any]) -> int:
        """The offset of an array's first entry; -1 if it lies elsewhere."""
        offset: int = array.__array_interface__["data"][0] - self.address
        return offset if FIRST <= offset < self.size else -1

    def region(self, array: npt.NDArray[Any]) -> Region | None:
        """Where a matrix lies; None unless it is a column-major one of float64 in the arena."""
        rows, columns = array.shape
        if not rows or not columns:
            return FIRST, rows, columns, max(rows, 1)
        if array.dtype != _FLOAT:
            return None
        offset = self.offset(array)
        row, column = array.strides
        if offset < 0 or offset % 8 or (rows > 1 and row != 8):
            return None
        if columns == 1:
            return offset, rows, 1, rows
        if column % 8 or column < 8 * rows:
            return None
        return offset, rows, columns, column // 8

    @property
    def used(self) -> int:
        """Bytes of the blocks that are in use."""
        with self._lock:
            self._collect()
            return self._top - FIRST - self._free_bytes

    def trim(self) -> None:
        """Gives the pages of free blocks back to the system."""
        with self._lock:
            self._merge()
            free = [(offset, offset + size) for size, held in self._free.items() for offset in held]
            free.append((self._top, self._high))
            self._high = self._top
        advice = getattr(mmap, "MADV_REMOVE", None)
        if advice is None:
            return
        for begin, end in free:
            begin, end = -(-begin // _PAGE) * _PAGE, end // _PAGE * _PAGE
            if begin < end:
                try:
                    self._memory.madvise(advice, begin, end - begin)
                except OSError:
                    # A file system that keeps the pages: they are used again.
                    return

    def _take(self, size: int) -> int:
        with self._lock:
            self._collect()
            held = self._free.get(size)
            if held:
                self._free_bytes -= size
                return held.pop()
            if self._free_bytes >= size:
                self._merge()
                offset = self._fit(size)
                if offset is not None:
                    return offset
            offset = _aligned(self._top, size)
            if offset + size > self.size:
                raise MemoryError(f"the memory that gpbench shares has no room for {size} bytes")
            self._give(self._top, offset - self._top)
            self._top = offset + size
            self._high = max(self._high, self._top)
            return offset

    def _fit(self, size: int) -> int | None:
        """A place in the smallest free block that has room."""
        for length in sorted(length for length, held in self._free.items() if held and length >= size):
            for index, begin in enumerate(self._free[length]):
                offset = _aligned(begin, size)
                if offset + size <= begin + length:
                    del self._free[length][index]
                    self._free_bytes -= length
                    self._give(begin, offset - begin)
                    self._give(offset + size, begin + length - offset - size)
                    return offset
        return None

    def _give(self, offset: int, size: int) -> None:
        if size:
            self._free.setdefault(size, []).append(offset)
            self._free_bytes += size

    def _collect(self) -> None:
        while self._returned:
            self._give(*self._returned.popleft())

    def _merge(self) -> None:
        """Joins free blocks that are neighbours."""
        self._collect()
        blocks = sorted((offset, size) for size, held in self._free.items() for offset in held)
        self._free, self._free_bytes = {}, 0
        begin = end = FIRST
        for offset, size in blocks:
            if offset != end:
                self._give(begin, end - begin)
                begin = offset
            end = offset + size
        if end == self._top:
            self._top = begin
        else:
            self._give(begin, end - begin)

    def _forbid(self) -> None:
        """In a copy of this process: what it allocated here would be allocated by the other one too."""
        self._lock = threading.Lock()
        self._returned, self._free, self._free_bytes = deque(), {}, 0
        self._top = self._high = self.size


def _aligned(offset: int, size: int) -> int:
    return -(-offset // _PAGE) * _PAGE if size >= _LARGE else offset
