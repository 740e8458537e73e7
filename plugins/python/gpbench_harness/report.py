"""The report of a finished solve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from .arrays import check_name

__all__ = ["Reason", "Report"]

#: Why a solve or fit ended.
Reason = Literal["converged", "stopped", "iterations", "stagnated", "diverged"]

REASONS: tuple[str, ...] = get_args(Reason)


@dataclass(frozen=True)
class Report:
    """How a solve ended. The solution is in ``problem.x``.

    Parameters
    ----------
    reason : str
        ``"converged"``: the tolerance is reached, or the solver is exact. ``"stopped"``: the harness asked to stop.
        ``"iterations"``: the solver's own limit. ``"stagnated"``: the residual no longer falls. ``"diverged"``: the
        residual grows without bound or is not a number.
    iterations : int
        Iterations, as the solver counts them.
    residuals : array_like or None, s
        Norms of b - A x relative to the norm of b, one a right-hand side; None if the solver knows none. The harness
        computes the true ones by itself and compares.
    numbers : mapping of str to float
        Further numbers for the results, under names of lower-case letters, digits and underscores.

    Raises
    ------
    ValueError
        If the reason is none of these, `iterations` is negative or no whole number, or a name is not plain.
    """

    reason: Reason
    iterations: int = 0
    residuals: npt.ArrayLike | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is no reason: use one of {', '.join(REASONS)}")
        if isinstance(self.iterations, bool) or not isinstance(self.iterations, (int, np.integer)):
            raise ValueError(f"`iterations` must be a whole number, not {self.iterations!r}")
        if self.iterations < 0:
            raise ValueError(f"`iterations` is {self.iterations}, but a count is not negative")
        for name, value in self.numbers.items():
            check_name(name)
            try:
                float(value)
            except (TypeError, ValueError):
                raise ValueError(f"`numbers` has {value!r} under {name!r}, which is no number") from None
