"""The training problem of a learner, and its calls about it."""

from __future__ import annotations

import math
from typing import Any

import numpy.typing as npt

from .arrays import Array, Rows, check_name
from .backend import FitBackend
from .errors import Stop
from .inputs import Family, Inputs, Network
from .link import Link
from .problem import checked_level

__all__ = ["Fit"]

# Bits of the number of a stream.
SAME_EACH_PASS = 1 << 29
INDEPENDENT = 1 << 30


class Fit:
    """Training data, kernel, starting values and budget of a fit, and the harness's minibatches.

    The harness makes it and passes it to `Learner.begin`, `step` and `load`; it may be used until these return.
    `Fit.from_arrays` makes one without the harness.

    Attributes
    ----------
    x : Array, n x d
        Standardised training inputs, read-only.
    y : Array, n
        Training targets, centred, read-only.
    n, d : int
        Rows and inputs.
    inputs : Inputs
        Kernel family, the scales to start from, and inducing points chosen by the harness. With a network the family is
        that of the kernel on its outputs.
    mean : float
        Prior mean to start from.
    network : Network or None
        The network between inputs and kernel.
    passes : float
        Passes over the training rows that are granted at most, for schedules.
    seed : int
        Seed for the learner's own random numbers, 64 bits.
    threads : int
        Threads that the learner may use.
    trains_mean : bool
        Whether a constant prior mean is trained too.
    shared_length_scale : bool
        Whether all inputs have one length scale, which is trained as one number; ``inputs.length_scale`` repeats it, and so
        does the model's.
    is_stopped : bool
        Whether the harness has said, at the last `charge`, that the time is up. Long steps may restore the state and raise
        `Stop` then; others need not ask.
    """

    def __init__(self, backend: FitBackend) -> None:
        self._link = Link(backend, "Fit")
        self.x: Array = backend.x
        self.y: Array = backend.y
        self.n: int = int(backend.x.shape[0])
        self.d: int = int(backend.x.shape[1])
        self.inputs: Inputs = backend.inputs
        self.mean: float = backend.mean
        self.network: Network | None = backend.network
        self.passes: float = backend.passes
        self.seed: int = backend.seed
        self.threads: int = backend.threads
        self.trains_mean: bool = backend.trains_mean
        self.shared_length_scale: bool = backend.shared_length_scale
        self.is_stopped = False
        self._step = 0

    def __repr__(self) -> str:
        return f"<Fit: {self.n} rows of {self.d} inputs, {self.passes:g} passes, {self.inputs.family}>"

    @staticmethod
    def from_arrays(
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        family: Family = "matern32",
        length_scale: npt.ArrayLike = 1.0,
        signal_scale: float = 1.0,
        noise_scale: float = 0.1,
        basis: npt.ArrayLike | None = None,
        mean: float = 0.0,
        network: Network | None = None,
        passes: float = 10.0,
        seed: int = 0,
        threads: int = 1,
        trains_mean: bool = False,
        shared_length_scale: bool = False,
    ) -> Fit:
        """Makes a fit without the harness, for tests and a debugger.

        Batches have the structure of the harness's, but are other rows.

        Parameters
        ----------
        x : array_like, n x d
        y : array_like, n
        family, length_scale, signal_scale, noise_scale
            As in `Inputs`; `length_scale` is one number, or one an input (with a network: an output of it).
        basis : array_like, m x d, optional
            Inducing points.
        mean, network, passes, seed, threads, trains_mean, shared_length_scale
            As the attributes of this class.

        Raises
        ------
        ValueError
            If shapes do not fit together or a scale is not positive.
        """
        from .dense_fit import DenseFit

        return Fit(
            DenseFit(
                x,
                y,
                family=family,
                length_scale=length_scale,
                signal_scale=signal_scale,
                noise_scale=noise_scale,
                basis=basis,
                mean=mean,
                network=network,
                passes=passes,
                seed=seed,
                threads=threads,
                trains_mean=trains_mean,
                shared_length_scale=shared_length_scale,
            )
        )

    @property
    def family(self) -> Family:
        """The kernel family."""
        return self.inputs.family

    def batch(self, size: int, stream: int = 0, *, same_each_pass: bool = False, independent: bool = False) -> Rows:
        """Returns the next rows of a stream's shuffle.

        Learners with the same seed and batch size get the same rows.

        Parameters
        ----------
        size : int
            Rows that are asked for. There are fewer at the end of a pass, and all n where `size` is larger.
        stream : int
            0 counts passes. Others, below 2^16, are for second batches: they count rows but no passes.
        same_each_pass : bool
            The same permutation in each pass, for subsets that do not change.
        independent : bool
            Each batch is drawn from all rows, without repeats inside it; a pass is n rows.

        Returns
        -------
        Array of int64
            Row numbers from 0.

        Raises
        ------
        Stop
            On stream 0, when the passes are spent.
        ValueError
            If `size` or `stream` is out of range, or both kinds are asked for.
        """
        backend = self._link.use()
        if int(size) != size or size < 1:
            raise ValueError(f"`size` must be a whole number from 1, not {size!r}")
        if int(stream) != stream or not 0 <= stream < 1 << 16:
            raise ValueError(f"`stream` must be a whole number from 0 to 65535, not {stream!r}")
        if same_each_pass and independent:
            raise ValueError("a stream cannot be both `same_each_pass` and `independent`")
        bits = (SAME_EACH_PASS if same_each_pass else 0) | (INDEPENDENT if independent else 0)
        return backend.batch(min(int(size), self.n), int(stream) | bits)

    def charge(self, *, rows: int = 0, entries: int = 0, features: int = 0) -> None:
        """Counts work beside that of the batches' rows. It never interrupts a step, see `is_stopped`.

        Parameters
        ----------
        rows : int
            Rows that are used again.
        entries : int
            Kernel entries that are used, as for `Operator.charge`.
        features : int
            Rows taken through the network or the random features.
        """
        backend = self._link.use()
        for name, value in (("rows", rows), ("entries", entries), ("features", features)):
            if int(value) != value or value < 0:
                raise ValueError(f"`{name}` must be a whole number that is not negative, not {value!r}")
        try:
            backend.charge(int(rows), int(entries), int(features))
        except Stop:
            self.is_stopped = True

    def note(self, name: str, value: float) -> None:
        """Adds a number of the learner's own to the curves, at the step under way. The clock is paused during the call.

        Parameters
        ----------
        name : str
            Up to 64 lower-case letters, digits and underscores.
        value : float
            Ignored if it is not finite.
        """
        backend = self._link.use()
        name, number = check_name(name), float(value)
        if math.isfinite(number):
            backend.note(self._step, name, number)

    def log(self, text: str, level: str = "info") -> None:
        """Writes a line to the case's log; see `Problem.log`."""
        backend = self._link.use()
        backend.log(checked_level(level), str(text))

    def empty(self, *shape: int, dtype: npt.DTypeLike = float) -> npt.NDArray[Any]:
        """Returns an array without content, column-major."""
        return self._link.use().empty(shape, dtype)

    # What follows is for the worker and for `check`, which call the learner.

    def _enter(self) -> None:
        """Begins a call of the learner on this thread."""
        self._link.adopt()

    def _observe(self, objective: float) -> None:
        """Reports the step under way."""
        self._link.use().observe(self._step, objective)

    def _end(self) -> None:
        """Refuses every further call."""
        self._link.end()
