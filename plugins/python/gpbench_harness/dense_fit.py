"""A fit without the harness."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Rows, shape_text
from .dense import make_inputs, read_only, two_dimensions
from .errors import Stop
from .fit import INDEPENDENT, SAME_EACH_PASS
from .inputs import Network
from .kernels import FAMILIES

__all__ = ["DenseFit"]

# Relative slack, as in the harness.
_SLACK = 1e-12


class DenseFit:
    """The calls of a fit, answered in one process. It records what the learner does."""

    def __init__(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        family: Any,
        length_scale: npt.ArrayLike,
        signal_scale: float,
        noise_scale: float,
        basis: npt.ArrayLike | None,
        mean: float,
        network: Network | None,
        passes: float,
        seed: int,
        threads: int,
        trains_mean: bool,
        shared_length_scale: bool,
    ) -> None:
        given = two_dimensions(x, "x")
        targets = np.asarray(y, dtype=np.float64)
        if targets.shape != (given.shape[0],):
            raise ValueError(f"x has {given.shape[0]} rows; the shape of y is {shape_text(targets)}")
        lengths = given.shape[1] if network is None else network.widths[-1]
        families = (*FAMILIES, "linear")
        self.inputs = make_inputs(given, basis, family, length_scale, signal_scale, noise_scale, lengths, families)
        self.x, self.y = self.inputs.x, read_only(targets)
        self.mean, self.network, self.passes = float(mean), network, float(passes)
        self.seed, self.threads = seed, threads
        self.trains_mean, self.shared_length_scale = trains_mean, shared_length_scale
        self.pause_each_step = False
        self.objectives: list[float] = []
        self.batches: list[tuple[int, Rows]] = []
        self.rows = self.entries = self.features = 0
        self.passed = 0
        self.lines: list[tuple[str, str]] = []
        self.notes: list[tuple[int, str, float]] = []
        self.late_draws = 0
        self._told = False
        # Of each stream: completed shuffles, and rows given of the one under way.
        self.positions: dict[int, tuple[int, int]] = {}
        self._orders: dict[int, tuple[int, Rows]] = {}

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return np.empty(shape, dtype=dtype, order="F")

    @property
    def is_spent(self) -> bool:
        """Whether the passes are spent."""
        return bool(self.passed >= self.passes * self.x.shape[0] * (1.0 - _SLACK))

    def resume(self) -> None:
        """Begins another call of the learner."""
        self._told = False

    def batch(self, size: int, stream: int) -> Rows:
        counts = stream & ~(INDEPENDENT | SAME_EACH_PASS) == 0
        if self._told:
            self.late_draws += 1
            raise Stop("the fit pauses or ends here")
        if counts and self.is_spent:
            self._told = True
            raise Stop("the passes are spent")
        n = self.x.shape[0]
        shuffles, given = self.positions.get(stream, (0, 0))
        if stream & INDEPENDENT:
            rows = self._shuffle(stream, shuffles)[:size]
            self.positions[stream] = (shuffles + 1, 0)
        else:
            rows = self._shuffle(stream, shuffles)[given : given + size]
            given += rows.shape[0]
            self.positions[stream] = (shuffles + 1, 0) if given == n else (shuffles, given)
        self.rows += rows.shape[0]
        if counts:
            self.passed += rows.shape[0]
        self.batches.append((stream, rows))
        copied: Rows = rows.copy()
        return copied

    def _shuffle(self, stream: int, shuffles: int) -> Rows:
        number = 0 if stream & SAME_EACH_PASS else shuffles
        known = self._orders.get(stream)
        if known is None or known[0] != number:
            order = np.random.default_rng([self.seed, stream, number]).permutation(self.x.shape[0])
            known = self._orders[stream] = (number, order.astype(np.int64))
        return known[1]

    def charge(self, rows: int, entries: int, features: int) -> None:
        self.rows += rows
        self.entries += entries
        self.features += features

    def observe(self, step: int, objective: float) -> None:
        if step != len(self.objectives) + 1:
            raise RuntimeError(f"step {step} was observed, where step {len(self.objectives) + 1} is next")
        self.objectives.append(objective)
        if self.is_spent or self.pause_each_step:
            self._told = True
            raise Stop("the fit pauses or ends here")

    def note(self, step: int, name: str, value: float) -> None:
        self.notes.append((step, name, value))

    def log(self, level: str, text: str) -> None:
        self.lines.append((level, text))
