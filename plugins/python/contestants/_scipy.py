"""SciPy's solvers of one right-hand side, applied to all of them one after another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from _watch import Finished, Watch, local, running, sizes
from scipy.sparse.linalg import LinearOperator

from gpbench_harness import Problem, Report


def solve_columns(
    problem: Problem,
    method: Callable,
    residual: str,
    options: dict[str, object],
) -> Report:
    """Calls `method(A, b, ...)` for each right-hand side b.

    `residual` names the method's local variable with the residual of the present iterate, or with its norm.
    Every product has one column and is an epoch: SciPy's interface takes no block of right-hand sides. Starts are zero: a product for
    each column would cost an epoch before the first iteration.
    """
    size, norms = sizes(problem.rhs), np.ones(problem.s)
    problem.x[...] = 0.0
    watch, total = Watch(problem), 0

    def solve(column: int) -> None:
        def product(v: np.ndarray) -> np.ndarray:
            nonlocal total
            frame = running(method.__code__)

            def iterate(x: np.ndarray) -> None:
                x[:, column] = local(frame, "x")

            norms[column] = np.linalg.norm(local(frame, residual)) / size[column]
            if norms[column] <= problem.tolerance:
                iterate(problem.x)
                raise Finished("converged")
            result = watch.before(total, norms, iterate, lambda: problem.operator @ v)
            total += 1
            return result

        operator = LinearOperator((problem.n, problem.n), matvec=product, dtype=np.float64)
        problem.x[:, column], _ = method(operator, problem.rhs[:, column], **options)
        raise Finished("iterations")

    for column in range(problem.s):
        if not problem.rhs[:, column].any():
            norms[column] = 0.0
            continue
        try:
            solve(column)
        except Finished as finished:
            watch.iterations, watch.norms = total, norms
            if finished.reason != "converged":
                return watch.report(finished.reason)
    return watch.report("converged")
