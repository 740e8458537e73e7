# /// script
# dependencies = ["numpy>=1.22"]
# ///
"""The solver `fancy-solver` for gpbench. Change the iteration in `solve`, and what is set up in `prepare`.

gpbench plugin test fancy_solver.py
"""

import numpy as np

from gpbench_harness import Problem, Report, Solver, param


class FancySolver(Solver):
    """Richardson's iteration with a fixed step"""  # this line is shown by `gpbench list solvers`

    id = "fancy-solver"
    capabilities = ("warm_start",)
    step: float = param(0.5, min=0.0, max=2.0, doc="Step, relative to the largest row sum of A")
    limit: int = param(10_000, min=1, doc="Iterations after which to give up")

    def prepare(self, problem: Problem) -> None:
        row_sums = problem.operator @ np.ones(problem.m)  # one product: one epoch of the budget
        self.scale = self.step / np.abs(row_sums).max()

    def solve(self, problem: Problem) -> Report:
        size = np.linalg.norm(problem.rhs, axis=0)
        zero = size == 0.0
        problem.x[:, zero] = 0.0  # the solution of a zero right-hand side
        size[zero] = 1.0
        product = problem.empty(problem.n, problem.s)  # in memory that the harness shares: products copy nothing
        for iteration in range(self.limit):
            problem.operator.apply(problem.x, out=product)
            residual = problem.rhs - product
            norms = np.linalg.norm(residual, axis=0) / size
            problem.observe(iteration, norms)  # raises Stop when the budget is spent, which ends the solve
            if not np.isfinite(norms).all():
                return Report("diverged", iteration, norms)
            if problem.converged(norms):
                return Report("converged", iteration, norms)
            problem.x += self.scale * residual  # in place: `problem.x` is the solution
        return Report("iterations", self.limit)
