"""Threads of the libraries that a script has loaded."""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["Threads"]

# Builds of OpenBLAS differ in prefix and suffix of their functions.
_NAMES = [f"{prefix}openblas_set_num_threads{suffix}" for prefix in ("", "scipy_") for suffix in ("", "64_", "_64")]


class Threads:
    """The number of threads that libraries use, which environment variables have set at the start."""

    def __init__(self) -> None:
        self._count = int(os.environ.get("OMP_NUM_THREADS", "1"))

    def set(self, count: int) -> None:
        """Sets the number, where it is another one than before."""
        if count == self._count or count < 1:
            return
        self._count = count
        os.environ["OMP_NUM_THREADS"] = str(count)
        for path in _loaded():
            library = ctypes.CDLL(path)
            for name in _NAMES:
                function = getattr(library, name, None)
                if function is not None:
                    function(count)
        for module, function in (("torch", "set_num_threads"), ("numba", "set_num_threads")):
            loaded = sys.modules.get(module)
            if loaded is not None:
                try:
                    getattr(loaded, function)(count)
                except (AttributeError, RuntimeError, ValueError):
                    # More than the library was started with.
                    pass


def _loaded() -> list[str]:
    """Files of OpenBLAS that this process has mapped."""
    found = set()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")
            if path[1] and "blas" in os.path.basename(path[2]) and os.path.isfile("/" + path[2]):
                found.add("/" + path[2])
    return sorted(found)
