"""Frames to the bridge; plugins/python/PROTOCOL.md lists them."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["Channel", "Frame"]

# The bridge's calls.
CREATE, WARM, PROBLEM, PREPARE, SOLVE, ESTIMATE, FITDATA, BEGIN, FIT, PREDICT = range(1, 11)
MODEL, SAVE, LOAD, DROP, END, RELEASE = range(11, 17)
REPLY, TRANSFORM = 20, 21
# This side's answers.
READY, SPACE, DONE, FAIL, TRANSFORMED = range(40, 45)
# This side's requests.
APPLY, ROWS, FUSED, COLUMNS, BLOCK, DIAG, FEATURES, FEATURES_T, CHARGE, OBSERVE = range(50, 60)
NOTE, LOG, INPUTS, TARGETS, LOAD_STATE, SAVE_STATE, BATCH, PUT, GET, KEEP, TAKE = range(60, 71)

#: Flags of requests and calls.
MIXED, WITH_TRANSFORM, FILLED = 1, 2, 1

#: Statuses of the interface.
STOPPED, ITERATE, ERROR, INVALID_ARGUMENT, OUT_OF_MEMORY, NOT_POSITIVE_DEFINITE, UNSUPPORTED = (
    1,
    2,
    -1,
    -2,
    -3,
    -4,
    -5,
)

_HEADER = struct.Struct("<HHiQ")
_HOT = struct.Struct("<HHiQ14q2d")
_MOST_TEXT = 64 << 10
_JSON = {CREATE}
_ZEROS = (0,) * 14


class Frame(NamedTuple):
    """A frame of the bridge."""

    kind: int
    flags: int
    status: int
    sequence: int
    integers: Sequence[int]
    reals: Sequence[float]
    content: Mapping[str, Any]


class Channel:
    """The socket to the bridge. Only the thread that made it may use it.

    Parameters
    ----------
    descriptor : int
        The socket.
    """

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.set_inheritable(False)
        self._buffer = bytearray(_HEADER.size + _MOST_TEXT)
        self._thread = threading.get_ident()
        self._requests = 0
        self._is_waiting = False
        os.register_at_fork(after_in_child=self._socket.close)

    def receive(self) -> Frame:
        """Waits for a frame. Ends this process if the bridge has gone."""
        size = self._socket.recv_into(self._buffer)
        if size < _HEADER.size:
            os._exit(1)
        kind, flags, status, sequence = _HEADER.unpack_from(self._buffer)
        if kind in _JSON:
            content = json.loads(self._buffer[_HEADER.size : size].decode())
            return Frame(kind, flags, status, sequence, _ZEROS, (0.0, 0.0), content)
        if size != _HOT.size:
            raise RuntimeError(f"the bridge sent a frame of kind {kind} with {size} bytes")
        numbers = _HOT.unpack_from(self._buffer)
        return Frame(kind, flags, status, sequence, numbers[4:18], numbers[18:], {})

    def answer(self, call: Frame, kind: int, integers: Sequence[int] = (), status: int = 0) -> None:
        """Answers a call with numbers."""
        self._send(kind, 0, status, call.sequence, integers, (0.0, 0.0))

    def answer_with(self, call: Frame, kind: int, content: Mapping[str, Any]) -> None:
        """Answers a call with an object."""
        self._send_text(kind, call.sequence, content)

    def request(
        self,
        kind: int,
        integers: Sequence[int] = (),
        reals: tuple[float, float] = (0.0, 0.0),
        flags: int = 0,
        transform: Callable[[], None] | None = None,
    ) -> Frame:
        """Makes a request and waits for the reply. An exception of `transform` is raised after the reply."""
        self._begin()
        self._send(kind, flags, 0, self._requests, integers, reals)
        return self._reply(transform)

    def request_with(self, kind: int, content: Mapping[str, Any]) -> Frame:
        """Makes a request with an object and waits for the reply."""
        self._begin()
        self._send_text(kind, self._requests, content)
        return self._reply(None)

    def _begin(self) -> None:
        if threading.get_ident() != self._thread:
            raise RuntimeError(
                "a request to gpbench was made on another thread than the one that gpbench called. Threads may do work of "
                "their own, but only that thread may ask for products"
            )
        if self._socket.fileno() < 0:
            raise RuntimeError("this process is a copy of the one that gpbench called, and cannot ask for anything")
        if self._is_waiting:
            raise RuntimeError("a request to gpbench was made inside of another one")
        self._requests += 1

    def _reply(self, transform: Callable[[], None] | None) -> Frame:
        self._is_waiting = True
        raised: BaseException | None = None
        try:
            while True:
                frame = self.receive()
                if frame.kind != TRANSFORM:
                    break
                try:
                    if transform is not None:
                        transform()
                except BaseException as exception:
                    raised = exception
                self.answer(frame, TRANSFORMED, status=0 if raised is None else ERROR)
        finally:
            self._is_waiting = False
        if frame.kind != REPLY or frame.sequence != self._requests:
            raise RuntimeError(f"the bridge answered request {self._requests} with a frame of kind {frame.kind}")
        if raised is not None:
            raise raised
        return frame

    def _send(
        self,
        kind: int,
        flags: int,
        status: int,
        sequence: int,
        integers: Sequence[int],
        reals: tuple[float, float],
    ) -> None:
        self._socket.send(_HOT.pack(kind, flags, status, sequence, *integers, *_ZEROS[len(integers) :], *reals))

    def _send_text(self, kind: int, sequence: int, content: Mapping[str, Any]) -> None:
        # At most six bytes a character; a lone surrogate has no UTF-8.
        text = json.dumps(content, allow_nan=False, ensure_ascii=False).encode(errors="replace")
        if len(text) > _MOST_TEXT:
            raise ValueError(f"{len(text)} bytes are too many for one message to gpbench")
        self._socket.send(_HEADER.pack(kind, 0, 0, sequence) + text)


def signed(number: int) -> int:
    """The 64 bits of a number as those of a signed one."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number


def unsigned(number: int) -> int:
    """The 64 bits of a signed number as those of an unsigned one."""
    return number & ((1 << 64) - 1)
