"""What a solver leaves for the next outer step of training."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from .arrays import Array
from .backend import SolveBackend
from .link import Link

__all__ = ["Kept", "State"]

# The harness stores values by key and lists no keys, so their names are stored too, under this one.
_KEYS = "gpbench.keys"


def _checked(key: object) -> str:
    if not isinstance(key, str) or not key or key == _KEYS:
        raise TypeError(f"a key must be a text that is not empty, not {key!r}")
    return key


class State(MutableMapping[str, bytes | Array]):
    """Bytes and arrays that are saved from one outer step of training to the next, in checkpoints too.

    An array comes back as a new array with the same content, type and shape. A change of an array that was read is not
    saved until it is assigned again.
    """

    __slots__ = ("_link",)

    def __init__(self, link: Link[SolveBackend]) -> None:
        self._link = link

    def _keys(self) -> list[str]:
        saved = self._link.use().load_state(_KEYS)
        return saved.decode().split("\0") if saved else []

    def __getitem__(self, key: str) -> bytes | Array:
        saved = self._link.use().load_state(_checked(key))
        if not saved:
            raise KeyError(key)
        if saved[:1] == b"b":
            return bytes(saved[1:])
        array: Array = np.load(io.BytesIO(saved[1:]), allow_pickle=False)
        return array

    def __setitem__(self, key: str, value: bytes | Array) -> None:
        backend = self._link.use()
        key = _checked(key)
        if isinstance(value, (bytes, bytearray, memoryview)):
            saved = b"b" + bytes(value)
        elif isinstance(value, np.ndarray):
            buffer = io.BytesIO()
            buffer.write(b"a")
            np.save(buffer, value, allow_pickle=False)
            saved = buffer.getvalue()
        else:
            raise TypeError(f"state holds bytes and numpy arrays, not a {type(value).__name__}")
        backend.save_state(key, saved)
        keys = self._keys()
        if key not in keys:
            backend.save_state(_KEYS, "\0".join([*keys, key]).encode())

    def __delitem__(self, key: str) -> None:
        keys = self._keys()
        if key not in keys:
            raise KeyError(key)
        backend = self._link.use()
        backend.save_state(key, b"")
        keys.remove(key)
        backend.save_state(_KEYS, "\0".join(keys).encode())

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())


class _Held:
    """An object with its size, so that None can be kept too."""

    __slots__ = ("size", "value")

    def __init__(self, value: Any, size: int) -> None:
        self.value = value
        self.size = size


class Kept(MutableMapping[str, Any]):
    """Objects that stay in memory between outer steps of training, such as a factor of the matrix.

    After a restart nothing is found, so a solver must be able to make each of them again, to the last bit. Their bytes
    count as memory of the case.
    """

    __slots__ = ("_link",)

    def __init__(self, link: Link[SolveBackend]) -> None:
        self._link = link

    def _find(self, key: str) -> _Held | None:
        # Taking removes it from the harness, so it is handed back at once.
        backend = self._link.use()
        held = backend.take(key)
        if held is None:
            return None
        assert isinstance(held, _Held)
        backend.keep(key, held, held.size)
        return held

    def _keys(self) -> list[str]:
        held = self._find(_KEYS)
        # A host drops an object where memory is short.
        return [] if held is None else [key for key in held.value if self._find(key) is not None]

    def __getitem__(self, key: str) -> Any:
        held = self._find(_checked(key))
        if held is None:
            raise KeyError(key)
        return held.value

    def __setitem__(self, key: str, value: Any) -> None:
        backend = self._link.use()
        size = size_of(value)
        backend.keep(_checked(key), _Held(value, size), size)
        keys = self._keys()
        if key not in keys:
            backend.keep(_KEYS, _Held([*keys, key], 0), 0)

    def __delitem__(self, key: str) -> None:
        if self._link.use().take(_checked(key)) is None:
            raise KeyError(key)
        self._link.use().keep(_KEYS, _Held(self._keys(), 0), 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())


def size_of(value: Any) -> int:
    """Returns about how many bytes an object takes up: its arrays and tensors, and those inside its containers."""
    seen: set[int] = set()

    def size(item: Any, depth: int) -> int:
        if id(item) in seen or depth > 4:
            return 0
        seen.add(id(item))
        nbytes = getattr(item, "nbytes", None)
        if isinstance(nbytes, (int, np.integer)):
            return int(nbytes)
        own = sys.getsizeof(item, 64)
        if isinstance(item, dict):
            return own + sum(size(part, depth + 1) for part in item.values())
        if isinstance(item, (list, tuple, set, frozenset)):
            return own + sum(size(part, depth + 1) for part in item)
        inside = getattr(item, "__dict__", None)
        if isinstance(inside, dict) and not isinstance(item, type):
            return own + sum(size(part, depth + 1) for part in inside.values())
        return own

    return size(value, 0)
