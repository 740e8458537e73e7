"""What the harness asks of a loop that belongs to a library: reports of its iterations, and an end where the harness says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType

import numpy as np

from gpbench_harness import Problem, Report, Stop

Iterate = Callable[[np.ndarray], None]


class Finished(Exception):
    """Leaves a library's loop from inside a product."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Watch:
    """Watches a loop through the products that it asks for.

    `before` ends the loop as soon as the harness's rule holds: the largest residual of the targets and the mean one of the probes are
    at most the tolerance. Libraries have other rules, so a file sets its library's rule such that it never holds
    earlier. However the loop ends, its iterate is put into `problem.x`.

    `entries` are charged before each product, which is not computed if the budget is spent. They are 0 for products
    of the harness's operator, which counts by itself.
    """

    def __init__(self, problem: Problem, entries: int = 0) -> None:
        self.problem = problem
        self.entries = entries
        self.iterations = 0
        self.norms: np.ndarray | None = None

    def before(self, iteration: int, norms: np.ndarray | None, iterate: Iterate, product: Callable[[], object]):
        """Reports the state after `iteration` iterations, and computes the product that the next one needs

        `norms` are the relative residual norms of the iterate; None if they are not known before the product.
        """
        problem = self.problem
        self.iterations, self.norms = iteration, None if norms is None else np.array(norms, dtype=float)
        if self.norms is not None:
            reason = None if np.isfinite(self.norms).all() else "diverged"
            if problem.converged(self.norms):
                reason = "converged"
            if reason is not None:
                iterate(problem.x)
                raise Finished(reason)
        problem.observe(iteration, self.norms, iterate)
        try:
            if self.entries:
                problem.operator.charge(self.entries)
            return product()
        except Stop:
            iterate(problem.x)
            raise

    def report(self, reason: str, **numbers: float) -> Report:
        """The report of a loop that has ended"""
        return Report(reason, self.iterations, self.norms, numbers)


def sizes(rhs: np.ndarray) -> np.ndarray:
    """Norms of the columns; 1 for a column of zeros, whose solution is zero"""
    norms = np.linalg.norm(rhs, axis=0)
    norms[norms == 0.0] = 1.0
    return norms


def running(code: CodeType) -> FrameType:
    """The innermost running call of the function with this code.

    A library without a callback keeps its iterate in local variables. They are read from its frame, so that its loop runs
    unchanged. Calling it again for every few iterations would restart it, which costs iterations.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    if frame is None:
        raise RuntimeError(f"no call of {code.co_name} is running")
    return frame


def local(frame: FrameType, name: str):
    """A local variable of a library's function"""
    try:
        return frame.f_locals[name]
    except KeyError:
        place = f"{frame.f_code.co_name} in {frame.f_code.co_filename}"
        text = f"{place} has no variable {name!r}: install the versions of benchmarks/libraries-requirements.txt"
        raise RuntimeError(text) from None
