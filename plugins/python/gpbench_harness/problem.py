"""The system to solve, and the calls of a solver about it."""

from __future__ import annotations

import math
from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arrays import Array, check_name, shape_text
from .backend import SolveBackend
from .inputs import Targets
from .link import Link
from .mappings import Kept, State
from .operator import Operator
from .report import Report

if TYPE_CHECKING:
    from .inputs import Family

__all__ = ["Problem"]

LEVELS = ("warning", "info", "debug")

# Entries of x that are compared to find that a solver has left it as it was.
_SAMPLE = 1024


class Problem:
    """A linear system A X = B with several right-hand sides: the targets y first, then probes.

    With inducing points Z it is as many least-squares problems: each column minimises
    \\|b - K(X, Z) x\\|^2 + noise_scale^2 x^T K(Z, Z) x.

    The harness makes it and passes it to `Solver.prepare` and `Solver.solve`; it may be used until these return.
    `Problem.from_dense` and `Problem.from_inputs` make one without the harness, for tests and a debugger.

    Attributes
    ----------
    operator : Operator
        The matrix A, n x m.
    rhs : Array, n x s
        Right-hand sides, column-major and read-only.
    x : Array, m x s
        Where to start from (zero, or a warm start), and where to leave the solution: write it in place. Assigning to
        ``problem.x`` copies. Read-only in `Solver.prepare`.
    n, m, s, d : int
        Rows, unknowns, right-hand sides, inputs.
    n_targets : int
        The first so many columns are targets, the others probes.
    tolerance : float
        The `worst` relative residual norm to reach; 0 if the budget alone decides.
    max_epochs : float
        Epochs (n^2 kernel entries) that prepare and solve may use together; infinite if unbounded.
    seed : int
        Seed for the solver's own random numbers, 64 bits.
    threads : int
        Threads that the solver may use.
    state : mutable mapping of str to bytes or Array
        Saved from one outer step of training to the next, and in checkpoints.
    kept : mutable mapping of str to object
        Stays in memory between outer steps; must be made again where it is missing.
    """

    def __init__(self, backend: SolveBackend) -> None:
        self._link = Link(backend, "Problem")
        self.n: int = backend.n
        self.m: int = backend.m
        self.s: int = backend.s
        self.d: int = backend.d
        self.n_targets: int = backend.n_targets
        self.tolerance: float = backend.tolerance
        self.max_epochs: float = backend.max_epochs
        self.seed: int = backend.seed
        self.threads: int = backend.threads
        self.rhs: Array = backend.rhs
        self.operator = Operator(self._link, self.n, self.m)
        self.state: MutableMapping[str, bytes | Array] = State(self._link)
        self.kept: MutableMapping[str, Any] = Kept(self._link)
        self._x: Array = backend.x
        self._frozen: Array = backend.x.view()
        self._frozen.flags.writeable = False
        self._preparing = False
        self._seen: tuple[int, Array | None] | None = None
        self._start: Array | None = None

    def __repr__(self) -> str:
        return (
            f"<Problem: A {self.n} x {self.m}, {self.s} right-hand sides ({self.n_targets} targets), "
            f"tolerance {self.tolerance:g}, {self.max_epochs:g} epochs>"
        )

    @staticmethod
    def from_dense(
        A: npt.ArrayLike,
        B: npt.ArrayLike,
        *,
        x: npt.ArrayLike | None = None,
        n_targets: int = 1,
        tolerance: float = 0.01,
        max_epochs: float = 100.0,
        seed: int = 0,
        threads: int = 1,
    ) -> Problem:
        """Makes a problem of a stored matrix, to be solved without the harness.

        Products count entries, and the budget is kept, as in the harness. There are no `Operator.inputs`.

        Parameters
        ----------
        A : array_like, n x m
        B : array_like, (n,) or (n, s)
        x : array_like, (m,) or (m, s), optional
            A warm start; zero if it is left out.
        n_targets : int
            So many of the first columns are targets.
        tolerance, max_epochs, seed, threads
            As the attributes of this class.

        Raises
        ------
        ValueError
            If shapes do not fit together.
        """
        from .dense import DenseSystem, Limits

        system = DenseSystem.from_matrix(A, B, n_targets=n_targets)
        return system.problem(Limits(tolerance, max_epochs, seed, threads), x)

    @staticmethod
    def from_inputs(
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        family: Family = "matern32",
        length_scale: npt.ArrayLike = 1.0,
        signal_scale: float = 1.0,
        noise_scale: float = 0.1,
        probes: int = 0,
        basis: npt.ArrayLike | None = None,
        x: npt.ArrayLike | None = None,
        tolerance: float = 0.01,
        max_epochs: float = 100.0,
        seed: int = 0,
        threads: int = 1,
    ) -> Problem:
        """Makes a problem with the kernel matrix of inputs, which is stored: for tests with some thousand rows at most.

        Parameters
        ----------
        X : array_like, n x d
        y : array_like, (n,) or (n, s)
            Targets: every column of it is one.
        family : str
            ``"rbf"``, ``"matern12"``, ``"matern32"`` or ``"matern52"``.
        length_scale : array_like, () or (d,)
        signal_scale, noise_scale : float
            Standard deviations.
        probes : int
            Number of right-hand sides to add, each a prior draw plus noise; `targets` has the parts.
        basis : array_like, m x d, optional
            Inducing points.
        x, tolerance, max_epochs, seed, threads
            As in `from_dense`.

        Raises
        ------
        ValueError
            If shapes do not fit together, a scale is not positive, or the family is unknown.
        """
        from .dense import DenseSystem, Limits

        system = DenseSystem.from_inputs(
            X,
            y,
            family=family,
            length_scale=length_scale,
            signal_scale=signal_scale,
            noise_scale=noise_scale,
            probes=probes,
            basis=basis,
            seed=seed,
        )
        return system.problem(Limits(tolerance, max_epochs, seed, threads), x)

    @property
    def x(self) -> Array:
        """The iterate, m x s, column-major: the start, then the solution. Read-only in `Solver.prepare`."""
        return self._frozen if self._preparing else self._x

    @x.setter
    def x(self, value: npt.ArrayLike) -> None:
        if value is self._x:  # after `problem.x += step`
            return
        if self._preparing:
            raise ValueError("problem.x is read-only in `prepare`")
        given = np.asarray(value)
        if given.shape != self._x.shape:
            wanted = shape_text(self._x)
            raise ValueError(f"problem.x has the shape {wanted}; what is assigned has {shape_text(given)}")
        self._x[...] = given

    @property
    def targets(self) -> Targets | None:
        """Prior draws of the probes and their noise, where the probes are such sums; else None."""
        return self._link.use().targets()

    def empty(self, *shape: int, dtype: npt.DTypeLike = float) -> npt.NDArray[Any]:
        """Returns an array without content, column-major, in the memory that the harness sees: products copy nothing.

        Parameters
        ----------
        *shape : int
            One or two sizes are usual.
        dtype : dtype
        """
        return self._link.use().empty(shape, dtype)

    def worst(self, norms: npt.ArrayLike) -> float:
        """Returns the number that is compared with the tolerance: the largest norm of the targets, or the mean one of the
        probes if that is larger. NaN if one of them is.

        Parameters
        ----------
        norms : array_like, s
            Relative residual norms, one a column.
        """
        checked = self._norms(norms)
        targets, probes = checked[: self.n_targets], checked[self.n_targets :]
        worst = np.float64(0.0)
        if targets.size:
            worst = np.maximum(worst, targets.max())
        if probes.size:
            worst = np.maximum(worst, probes.mean())
        return float(worst)

    def converged(self, norms: npt.ArrayLike) -> bool:
        """Returns whether these relative residual norms reach the tolerance; never, if there is none.

        Parameters
        ----------
        norms : array_like, s
        """
        return self.tolerance > 0.0 and self.worst(norms) <= self.tolerance

    def observe(
        self,
        iteration: int,
        norms: npt.ArrayLike | None = None,
        iterate: Callable[[Array], None] | None = None,
    ) -> None:
        """Reports an iteration. To be called after each one, or a few times an epoch where iterations are cheap.

        Parameters
        ----------
        iteration : int
            Iterations so far, as the solver counts them.
        norms : array_like or None, s
            Relative residual norms, one a column; None if they are not known.
        iterate : callable, optional
            Puts the current iterate into the array that it is given, which is ``problem.x``. Called only where the
            harness asks for it, or says to stop. Left out where the iterate is in ``problem.x``.

        Raises
        ------
        Stop
            If the solve has to end here.
        ValueError
            If the number of norms is not s, or `iteration` is negative.
        """
        backend = self._link.use()
        count = int(iteration)
        if count != iteration or count < 0:
            raise ValueError(f"`iteration` must be a whole number that is not negative, not {iteration!r}")
        checked = None if norms is None else self._norms(norms)
        self._seen = (count, None if checked is None else checked.copy())
        if iterate is not None:
            iterate = self._link.callback(iterate, "`iterate` of `observe`")
        backend.observe(count, checked, iterate)

    def relative_residual(self) -> tuple[Array, Array]:
        """Returns b - A x for the iterate in ``x``, each column relative to its right-hand side's norm, and those norms.

        One product with A, unless x is zero. A right-hand side of zero has a zero solution, which is put into ``x`` (not in
        `Solver.prepare`), and a zero residual. NaN in a right-hand side stays in its residual.

        Returns
        -------
        residual : Array, n x s
        norms : Array, s

        Raises
        ------
        Stop
            If the budget does not allow the product.
        """
        residual = self.empty(self.n, self.s)
        norms: Array = np.linalg.norm(self.rhs, axis=0)
        zero = norms == 0.0
        if self._x.any():
            self.operator.apply(self._x, out=residual)
            np.subtract(self.rhs, residual, out=residual)
        else:
            residual[...] = self.rhs
        residual /= np.where(zero, 1.0, norms)
        if zero.any():
            residual[:, zero] = 0.0
            if not self._preparing:
                self._x[:, zero] = 0.0
        return residual, norms

    def note(self, iteration: int, name: str, value: float) -> None:
        """Adds a number of the solver's own to the report's curves. The clock is paused during the call.

        Parameters
        ----------
        iteration : int
        name : str
            Up to 64 lower-case letters, digits and underscores.
        value : float
            Ignored if it is not finite.
        """
        backend = self._link.use()
        name, number = check_name(name), float(value)
        if math.isfinite(number):
            backend.note(int(iteration), name, number)

    def log(self, text: str, level: str = "info") -> None:
        """Writes a line to the case's log.

        Parameters
        ----------
        text : str
        level : str
            ``"warning"``: something is wrong, but the solve continues. ``"info"``: for the user. ``"debug"``: for the
            solver's author.
        """
        backend = self._link.use()
        backend.log(checked_level(level), str(text))

    def _norms(self, norms: npt.ArrayLike) -> Array:
        array = np.ascontiguousarray(norms, dtype=np.float64)
        if array.shape != (self.s,):
            raise ValueError(
                f"there are {self.s} right-hand sides, so there must be {self.s} norms; "
                f"their shape is {shape_text(array)}"
            )
        return array

    # What follows is for the worker and for `check`, which call the solver.

    def _enter(self, call: str) -> None:
        """Begins a call of the solver, `prepare` or `solve`, on this thread."""
        self._link.adopt()
        self._preparing = call == "prepare"
        if call == "solve":
            self._seen = None
            self._start = self._sample()

    def _sample(self) -> Array:
        flat = self._x.reshape(-1, order="A")
        return np.array(flat[:: max(1, flat.size // _SAMPLE)])

    def _end(self) -> None:
        """Refuses every further call."""
        self._link.end()

    def _stopped(self) -> Report:
        """The report of a solve that `Stop` has ended."""
        iteration, norms = self._seen or (0, None)
        return Report("stopped", iteration, norms)

    def _finish(self, returned: object) -> Report:
        """Checks what `solve` returned, and makes the report that it stands for.

        Raises
        ------
        TypeError
            If it is neither a `Report` nor None, or None without an observation.
        ValueError
            If it has another number of residuals than right-hand sides.
        """
        if returned is None:
            if self._seen is None:
                raise TypeError("`solve` returned None and has observed nothing: return a Report")
            iteration, norms = self._seen
            done = norms is not None and self.converged(norms)
            returned = Report("converged" if done else "iterations", iteration, norms)
        if not isinstance(returned, Report):
            raise TypeError(f"`solve` returned a {type(returned).__name__}; it must return a Report or None")
        if returned.residuals is not None:
            shape = np.shape(returned.residuals)
            if shape != (self.s,):
                size = " x ".join(map(str, shape)) or "a number"
                raise ValueError(f"the report has residuals of shape {size} for {self.s} right-hand sides")
        if returned.iterations > 0 and self._start is not None and np.array_equal(self._start, self._sample()):
            self.log(
                f"after {returned.iterations} iterations problem.x is as it was at the start. Write it in place: "
                "`x = x + d` makes another array, `problem.x += d` changes the solution",
                "warning",
            )
        return returned


def checked_level(level: str) -> str:
    """Returns a level of the log."""
    if level not in LEVELS:
        raise ValueError(f"{level!r} is no level of the log: use one of {', '.join(LEVELS)}")
    return level
