"""Conjugate gradients on all right-hand sides."""

import numpy as np

from gpbench_harness import Problem, Report, Solver, param


class ConjugateGradients(Solver):
    """Conjugate gradients without preconditioner"""

    id = "numpy-cg"
    capabilities = ("warm_start",)
    limit: int = param(1000, min=1, doc="Iterations after which to give up")

    def solve(self, problem: Problem) -> Report:
        x, operator = problem.x, problem.operator
        residual, sizes = problem.relative_residual()
        direction = problem.empty(problem.n, problem.s)
        direction[...] = residual
        product = problem.empty(problem.n, problem.s)
        square = np.einsum("ij,ij->j", residual, residual)
        for iteration in range(self.limit):
            norms = np.sqrt(square)
            problem.observe(iteration, norms)
            if not np.isfinite(norms).all():
                return Report("diverged", iteration, norms)
            if problem.converged(norms) or not square.any():
                return Report("converged", iteration, norms)
            operator.apply(direction, out=product)
            curvature = np.einsum("ij,ij->j", direction, product)
            alpha = np.divide(square, curvature, out=np.zeros_like(square), where=curvature > 0.0)
            x += direction * (alpha * sizes)
            residual -= product * alpha
            new = np.einsum("ij,ij->j", residual, residual)
            direction *= np.divide(new, square, out=np.zeros_like(square), where=square > 0.0)
            direction += residual
            square = new
        return Report("iterations", self.limit, np.sqrt(square))
