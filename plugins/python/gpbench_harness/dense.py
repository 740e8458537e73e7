"""A linear system whose matrix is stored, to be solved in one process without the harness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Array, Rows, shape_text
from .budget import Budget
from .errors import Error, Stop
from .inputs import Inputs, Targets
from .kernels import FAMILIES, kernel
from .problem import Problem

__all__ = ["DenseSolve", "DenseSystem", "Limits", "Observation"]


@dataclass(frozen=True)
class Limits:
    """Limits and seed of a solve."""

    tolerance: float = 0.01
    max_epochs: float = 100.0
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True)
class Observation:
    """What a solver observed: iteration, norms or None, and epochs used so far."""

    iteration: int
    norms: Array | None
    epochs: float


def read_only(value: npt.ArrayLike) -> Array:
    """Returns a copy, column-major, that cannot be made writeable: its memory is that of bytes."""
    array = np.asarray(value, dtype=np.float64)
    copied = np.frombuffer(array.tobytes(order="F"), dtype=np.float64)
    return copied.reshape(array.shape, order="F")


def two_dimensions(value: npt.ArrayLike, what: str) -> Array:
    """Returns a matrix; a vector becomes a column."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"`{what}` must be a matrix or a vector that is not empty; its shape is {shape_text(array)}")
    return array


def positive(value: float, what: str) -> float:
    """Returns a positive finite number."""
    number = float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"`{what}` must be positive and finite, not {value!r}")
    return number


@dataclass
class DenseSystem:
    """A X = B with a stored A, and what is known of A."""

    A: Array
    B: Array
    n_targets: int = 1
    inputs: Inputs | None = None
    targets: Targets | None = None
    regulariser: Array | None = None  #: noise_scale^2 K(Z, Z) with inducing points
    kept: dict[str, object] = field(default_factory=dict)
    state: dict[str, bytes] = field(default_factory=dict)

    @staticmethod
    def from_matrix(A: npt.ArrayLike, B: npt.ArrayLike, n_targets: int = 1) -> DenseSystem:
        """See `Problem.from_dense`."""
        a, b = two_dimensions(A, "A"), two_dimensions(B, "B")
        if b.shape[0] != a.shape[0]:
            raise ValueError(f"A is {shape_text(a)}, so B must have {a.shape[0]} rows; its shape is {shape_text(b)}")
        if not 0 <= n_targets <= b.shape[1]:
            raise ValueError(f"`n_targets` is {n_targets}, but B has {b.shape[1]} columns")
        return DenseSystem(read_only(a), read_only(b), n_targets)

    @staticmethod
    def from_inputs(
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        family: str = "matern32",
        length_scale: npt.ArrayLike = 1.0,
        signal_scale: float = 1.0,
        noise_scale: float = 0.1,
        probes: int = 0,
        basis: npt.ArrayLike | None = None,
        seed: int = 0,
    ) -> DenseSystem:
        """See `Problem.from_inputs`."""
        x, targets = two_dimensions(X, "X"), two_dimensions(y, "y")
        if targets.shape[0] != x.shape[0]:
            raise ValueError(f"X has {x.shape[0]} rows, and y {targets.shape[0]}")
        inputs = make_inputs(x, basis, family, length_scale, signal_scale, noise_scale, x.shape[1])
        variance, noise = inputs.signal_scale**2, inputs.noise_scale**2
        prior = variance * kernel(family, inputs.x, inputs.x, inputs.length_scale)
        parts = None
        if probes:
            rng = np.random.default_rng([seed, 1])
            root = np.linalg.cholesky(prior + 1e-9 * variance * np.eye(x.shape[0]))
            f = root @ rng.standard_normal((x.shape[0], probes))
            e = inputs.noise_scale * rng.standard_normal((x.shape[0], probes))
            parts = Targets(read_only(f), read_only(e))
            targets = np.hstack([targets, f + e])
        count = targets.shape[1] - probes
        if inputs.basis is None:
            A, regulariser = prior + noise * np.eye(x.shape[0]), None
        else:
            A = variance * kernel(family, inputs.x, inputs.basis, inputs.length_scale)
            regulariser = noise * variance * kernel(family, inputs.basis, inputs.basis, inputs.length_scale)
        return DenseSystem(read_only(A), read_only(targets), count, inputs, parts, regulariser)

    def problem(self, limits: Limits, x: npt.ArrayLike | None = None) -> Problem:
        """A problem with these limits and start."""
        return Problem(DenseSolve(self, limits, x))

    def residuals(self, x: Array) -> Array:
        """True residual norms of x, relative to the right-hand sides; 0 for a zero column with a zero solution."""
        residual = self.B - self.A @ x
        start = self.B
        if self.A.shape[0] != self.A.shape[1] or self.regulariser is not None:
            residual, start = self.A.T @ residual, self.A.T @ self.B
            if self.regulariser is not None:
                residual = residual - self.regulariser @ x
        norms: Array = np.linalg.norm(residual, axis=0)
        scales = np.linalg.norm(start, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative: Array = np.where((scales == 0.0) & (norms == 0.0), 0.0, norms / scales)
        return relative


def make_inputs(
    x: Array,
    basis: npt.ArrayLike | None,
    family: Any,
    length_scale: npt.ArrayLike,
    signal_scale: float,
    noise_scale: float,
    lengths: int,
    families: tuple[str, ...] = tuple(FAMILIES),
) -> Inputs:
    """Returns checked inputs; one length scale is repeated."""
    if family not in families:
        raise ValueError(f"`family` is {family!r}: use one of {', '.join(families)}")
    scale = np.asarray(length_scale, dtype=np.float64)
    if scale.ndim > 1 or (scale.ndim == 1 and scale.shape[0] != lengths):
        raise ValueError(f"`length_scale` must be one number or {lengths}; its shape is {shape_text(scale)}")
    if not (np.isfinite(scale).all() and (scale > 0.0).all()):
        raise ValueError("`length_scale` must be positive and finite")
    points = None
    if basis is not None:
        points = read_only(two_dimensions(basis, "basis"))
        if points.shape[1] != x.shape[1]:
            raise ValueError(f"`basis` has {points.shape[1]} inputs, and x {x.shape[1]}")
    return Inputs(
        x=read_only(x),
        basis=points,
        family=family,
        signal_scale=positive(signal_scale, "signal_scale"),
        noise_scale=positive(noise_scale, "noise_scale"),
        length_scale=read_only(np.broadcast_to(scale, (lengths,))),
    )


class DenseSolve:
    """The calls of a problem, answered from a stored matrix. It records what the solver does."""

    def __init__(
        self,
        system: DenseSystem,
        limits: Limits,
        x: npt.ArrayLike | None = None,
        *,
        stop_at: int | None = None,
        asks: bool = False,
    ) -> None:
        self.system = system
        self.n, self.m = system.A.shape
        self.s = system.B.shape[1]
        self.d = 0 if system.inputs is None else system.inputs.x.shape[1]
        self.n_targets = system.n_targets
        self.seed, self.threads = limits.seed, limits.threads
        self.tolerance, self.max_epochs = limits.tolerance, limits.max_epochs
        self.rhs = system.B
        self.x = np.zeros((self.m, self.s), order="F")
        if x is not None:
            start = two_dimensions(x, "x")
            if start.shape != self.x.shape:
                raise ValueError(f"`x` must have the shape {shape_text(self.x)}; its shape is {shape_text(start)}")
            self.x[...] = start
        self.budget = Budget(self.n, limits.max_epochs)
        self.observed: list[Observation] = []
        self.iterates: list[Array] = []
        self.lines: list[tuple[str, str]] = []
        self.notes: list[tuple[int, str, float]] = []
        self.stop_at = stop_at
        self.asks = asks

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return np.empty(shape, dtype=dtype, order="F")

    def _product(self, A: Array, v: Array, out: Array | None, mixed: bool) -> Array:
        if mixed:
            product = (A.astype(np.float32) @ v.astype(np.float32)).astype(np.float64)
        else:
            product = A @ v
        if out is None:
            return np.asfortranarray(product)
        out[...] = product
        return out

    def apply(self, v: Array, out: Array | None, mixed: bool) -> Array:
        self.budget.claim(self.n * self.m)
        return self._product(self.system.A, v, out, mixed)

    def rows(self, rows: Rows, v: Array, out: Array | None, mixed: bool) -> Array:
        self.budget.claim(rows.shape[0] * self.m)
        return self._product(self.system.A[rows], v, out, mixed)

    def fused(self, rows: Rows, v: Array, transform: Callable[[Array], None] | None, z: Array, mixed: bool) -> Array:
        self.budget.claim(rows.shape[0] * self.m)
        block = self.system.A[rows]
        u = self._product(block, v, None, mixed)
        if transform is not None:
            transform(u)
        z += self._product(block.T, u, None, mixed)
        return u

    def columns(self, cols: Rows, v: Array, y: Array, mixed: bool) -> None:
        self.budget.claim(self.n * cols.shape[0])
        y += self._product(self.system.A[:, cols], v, None, mixed)

    def block(self, rows: Rows, cols: Rows) -> Array:
        self.budget.claim(rows.shape[0] * cols.shape[0])
        return np.asfortranarray(self.system.A[np.ix_(rows, cols)])

    def diagonal(self) -> Array:
        if self.n != self.m or (self.system.inputs is not None and self.system.inputs.basis is not None):
            raise Error("a matrix with inducing points has no diagonal")
        return np.array(np.diagonal(self.system.A))

    def _features(self, seed: int, count: int) -> Array:
        inputs = self.system.inputs
        if inputs is None:
            raise Error("this problem has no random features; `Problem.from_inputs` makes one that has")
        rng = np.random.default_rng(seed)
        points = inputs.x if inputs.basis is None else inputs.basis
        frequencies = rng.standard_normal((points.shape[1], count // 2))
        degrees = {"matern12": 1.0, "matern32": 3.0, "matern52": 5.0}.get(inputs.family)
        if degrees is not None:
            frequencies *= np.sqrt(degrees / rng.chisquare(degrees, count // 2))
        angles = (points / inputs.length_scale) @ frequencies
        scale = inputs.signal_scale / np.sqrt(count / 2)
        features: Array = scale * np.hstack([np.sin(angles), np.cos(angles)])
        return features

    def features(self, seed: int, count: int, w: Array) -> Array:
        return np.asfortranarray(self._features(seed, count) @ w)

    def features_transposed(self, seed: int, count: int, y: Array) -> Array:
        return np.asfortranarray(self._features(seed, count).T @ y)

    def charge(self, entries: int) -> None:
        self.budget.charge(entries)

    def observe(self, iteration: int, norms: Array | None, iterate: Callable[[Array], None] | None) -> None:
        stop = self.budget.is_spent or self.stop_at == len(self.observed)
        copied = None if norms is None else norms.copy()
        self.observed.append(Observation(iteration, copied, self.budget.epochs))
        if iterate is not None and (stop or self.asks):
            iterate(self.x)
        if self.asks:
            self.iterates.append(self.x.copy(order="F"))
        if stop:
            raise Stop("the solve ends here")

    def note(self, iteration: int, name: str, value: float) -> None:
        self.notes.append((iteration, name, value))

    def log(self, level: str, text: str) -> None:
        self.lines.append((level, text))

    def inputs(self) -> Inputs | None:
        return self.system.inputs

    def targets(self) -> Targets | None:
        return self.system.targets

    def load_state(self, key: str) -> bytes | None:
        return self.system.state.get(key)

    def save_state(self, key: str, value: bytes) -> None:
        self.system.state[key] = value

    def keep(self, key: str, value: object, size: int) -> None:
        self.system.kept[key] = value

    def take(self, key: str) -> object | None:
        return self.system.kept.pop(key, None)
