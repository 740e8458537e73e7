"""Richardson's iteration, as the template of a new solver has it."""

import numpy as np

from gpbench_harness import Problem, Report, Solver, param


class Richardson(Solver):
    """Richardson's iteration with a fixed step"""

    id = "richardson"
    source = "Richardson (1911)"
    facts = {"step": "n^2 entries"}
    capabilities = ("warm_start",)
    step: float = param(0.5, min=0.0, max=2.0, doc="Step, relative to the largest row sum")
    limit: int = param(10_000, min=1, doc="Iterations after which to give up")

    def prepare(self, problem: Problem) -> None:
        self.scale = self.step / np.abs(problem.operator @ np.ones(problem.m)).max()

    def solve(self, problem: Problem) -> Report:
        size = np.linalg.norm(problem.rhs, axis=0)
        problem.x[:, size == 0.0] = 0.0
        size[size == 0.0] = 1.0
        product = problem.empty(problem.n, problem.s)
        for iteration in range(self.limit):
            problem.operator.apply(problem.x, out=product)
            residual = problem.rhs - product
            norms = np.linalg.norm(residual, axis=0) / size
            problem.observe(iteration, norms)
            if not np.isfinite(norms).all():
                return Report("diverged", iteration, norms)
            if problem.converged(norms):
                return Report("converged", iteration, norms, {"scale": self.scale})
            problem.x += self.scale * residual
        return Report("iterations", self.limit, norms)
