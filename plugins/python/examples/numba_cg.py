# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "numba>=0.57"]
# ///
"""Conjugate gradients whose vector operations are compiled by numba."""

import numba
import numpy as np

from gpbench_harness import Problem, Report, Shape, Solver, param


@numba.njit
def advance(x, residual, direction, product, square, sizes):
    """One iteration on each column, in place; `square` are the squared norms of the residuals"""
    n, s = x.shape
    for j in range(s):
        curvature = 0.0
        for i in range(n):
            curvature += direction[i, j] * product[i, j]
        if square[j] == 0.0 or curvature <= 0.0:
            continue
        alpha, new = square[j] / curvature, 0.0
        for i in range(n):
            x[i, j] += alpha * sizes[j] * direction[i, j]
            residual[i, j] -= alpha * product[i, j]
            new += residual[i, j] * residual[i, j]
        for i in range(n):
            direction[i, j] = residual[i, j] + new / square[j] * direction[i, j]
        square[j] = new


def block(n: int, s: int) -> np.ndarray:
    """A column-major array, as `problem.x` is: compiled code is for one type"""
    return np.zeros((n, s), order="F")


class NumbaCg(Solver):
    """Conjugate gradients without preconditioner, compiled by numba"""

    id = "numba-cg"
    capabilities = ("warm_start",)
    limit: int = param(1000, min=1, doc="Iterations after which to give up")

    def warm_up(self, shape: Shape) -> None:
        advance(*(block(2, 2) for _ in range(4)), np.zeros(2), np.ones(2))  # compiles, outside of the clock

    def solve(self, problem: Problem) -> Report:
        start, sizes = problem.relative_residual()
        residual, direction, product = (block(problem.n, problem.s) for _ in range(3))
        residual[...] = start
        direction[...] = start
        square, sizes = (residual * residual).sum(axis=0), np.array(sizes)
        for iteration in range(self.limit):
            norms = np.sqrt(square)
            problem.observe(iteration, norms)
            if not np.isfinite(norms).all():
                return Report("diverged", iteration, norms)
            if problem.converged(norms) or not norms.any():
                return Report("converged", iteration, norms)
            problem.operator.apply(direction, out=product)
            advance(problem.x, residual, direction, product, square, sizes)
        return Report("iterations", self.limit, np.sqrt(square))
