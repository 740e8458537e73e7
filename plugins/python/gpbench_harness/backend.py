"""The seam between the public classes and what serves them: the harness, or dense arrays in one process.

The public classes check every argument first. So a backend gets, and returns,

- values as float64 matrices of two dimensions and any layout, with the right number of rows;
- row and column numbers as contiguous int64 vectors, in range;
- outputs that are float64, writeable, of the right shape, and share no memory with an input.

A backend raises `Stop` where the budget is spent, and `Error` where it cannot do what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy.typing as npt

from .arrays import Array, Rows
from .inputs import Inputs, Network, Targets

__all__ = ["FitBackend", "SolveBackend"]


class SolveBackend(Protocol):
    """One linear system, and the calls that a solver may make about it."""

    n: int
    m: int
    s: int
    d: int
    n_targets: int
    seed: int
    threads: int
    tolerance: float
    max_epochs: float
    rhs: Array  #: n x s, not writeable
    x: Array  #: m x s, writeable

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array without content, column-major, where products need no copy of it."""
        ...

    def apply(self, v: Array, out: Array | None, mixed: bool) -> Array:
        """A v, n x k, into `out` or a new array."""
        ...

    def rows(self, rows: Rows, v: Array, out: Array | None, mixed: bool) -> Array:
        """A[rows] v, |rows| x k, into `out` or a new array."""
        ...

    def fused(self, rows: Rows, v: Array, transform: Callable[[Array], None] | None, z: Array, mixed: bool) -> Array:
        """u = A[rows] v; transform(u), u of two dimensions; z += A[rows]^T u. Returns u."""
        ...

    def columns(self, cols: Rows, v: Array, y: Array, mixed: bool) -> None:
        """y += A[:, cols] v."""
        ...

    def block(self, rows: Rows, cols: Rows) -> Array:
        """A[rows, cols], in double precision."""
        ...

    def diagonal(self) -> Array:
        """The diagonal of A, n. Raises `Error` with inducing points."""
        ...

    def features(self, seed: int, count: int, w: Array) -> Array:
        """Phi w, m x k, for w count x k."""
        ...

    def features_transposed(self, seed: int, count: int, y: Array) -> Array:
        """Phi^T y, count x k, for y m x k."""
        ...

    def charge(self, entries: int) -> None:
        """Counts entries that the solver evaluated."""
        ...

    def observe(self, iteration: int, norms: Array | None, iterate: Callable[[Array], None] | None) -> None:
        """Reports an iteration. Calls ``iterate(x)``, which puts the iterate into x, if the host asks for it or says to
        stop; raises `Stop` in the latter case. The iterate is in x already where `iterate` is None."""
        ...

    def note(self, iteration: int, name: str, value: float) -> None:
        """Adds a finite number to the trace."""
        ...

    def log(self, level: str, text: str) -> None:
        """Writes to the log: "warning", "info" or "debug"."""
        ...

    def inputs(self) -> Inputs | None:
        """What A is made of, if that is known."""
        ...

    def targets(self) -> Targets | None:
        """The parts of the probes, if they are pathwise."""
        ...

    def load_state(self, key: str) -> bytes | None:
        """Bytes saved under a key; None or empty if there are none."""
        ...

    def save_state(self, key: str, value: bytes) -> None:
        """Saves bytes; empty ones in place of a removal."""
        ...

    def keep(self, key: str, value: object, size: int) -> None:
        """Keeps an object of about `size` bytes in memory for later solves."""
        ...

    def take(self, key: str) -> object | None:
        """Gives a kept object back and forgets it; None if there is none."""
        ...


class FitBackend(Protocol):
    """One training problem, and the calls that a learner may make about it."""

    x: Array  #: n x d, not writeable
    y: Array  #: n, not writeable
    inputs: Inputs
    mean: float
    network: Network | None
    passes: float
    seed: int
    threads: int
    trains_mean: bool
    shared_length_scale: bool

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array without content, column-major."""
        ...

    def batch(self, size: int, stream: int) -> Rows:
        """The next rows of a stream, whose number has the bits of its kind."""
        ...

    def charge(self, rows: int, entries: int, features: int) -> None:
        """Counts work beside that of the batches; raises `Stop` once the time is up."""
        ...

    def observe(self, step: int, objective: float) -> None:
        """Reports a step, whose objective is finite; raises `Stop` if the fit pauses or ends here."""
        ...

    def note(self, step: int, name: str, value: float) -> None:
        """Adds a finite number to the trace."""
        ...

    def log(self, level: str, text: str) -> None:
        """Writes to the log."""
        ...
