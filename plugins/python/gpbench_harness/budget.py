"""The rule by which kernel entries are granted; the same as in the harness."""

from __future__ import annotations

import math

from .errors import Stop

__all__ = ["Budget"]

# Relative slack: a whole number of epochs grants exactly that many products, however sums are rounded.
_SLACK = 1e-12


class Budget:
    """Kernel entries that may be used, and those that were.

    Parameters
    ----------
    n : int
        Rows of the system: n^2 entries are one epoch.
    max_epochs : float
    """

    def __init__(self, n: int, max_epochs: float) -> None:
        self.epoch = float(n) * float(n)
        self.limit = max_epochs * self.epoch if math.isfinite(max_epochs) else math.inf
        self.used = 0.0
        self.charged = 0.0  # by the solver itself
        self.refusals = 0

    @property
    def epochs(self) -> float:
        """Epochs that were used."""
        return self.used / self.epoch

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.used >= self.limit * (1.0 - _SLACK)

    def claim(self, entries: float) -> None:
        """Grants entries of the operator before they are used, or refuses them all."""
        if self.is_spent or self.used + entries > self.limit * (1.0 + _SLACK):
            self.refusals += 1
            raise Stop("the budget is spent")
        self.used += entries

    def charge(self, entries: float) -> None:
        """Counts entries of the solver's own, which may exceed the budget."""
        self.used += entries
        self.charged += entries
        if self.is_spent:
            self.refusals += 1
            raise Stop("the budget is spent")
