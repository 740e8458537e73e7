# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "scipy>=1.14"]
# ///
"""`scipy.sparse.linalg.minres` over the harness's operator."""

from _scipy import solve_columns
from scipy.sparse.linalg import minres

from gpbench_harness import Problem, Report, Solver, param


class ScipyMinres(Solver):
    """SciPy's minimal residuals; one right-hand side at a time, so each column's product is an epoch"""

    id = "scipy-minres"
    source = (
        "P. Virtanen et al. SciPy 1.0: Fundamental Algorithms for Scientific Computing in Python. "
        "Nature Methods 17, 2020."
    )
    max_iterations: int = param(10_000, min=1, doc="Iterations for a right-hand side after which to give up")

    def solve(self, problem: Problem) -> Report:
        # `phibar` is the norm of the residual. SciPy's own rule compares it with |A| |x|, not with |b|.
        options = {"rtol": 0.0, "maxiter": self.max_iterations}
        return solve_columns(problem, minres, "phibar", options)
