# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "scipy>=1.14"]
# ///
"""`scipy.sparse.linalg.cg` over the harness's operator."""

from _scipy import solve_columns
from scipy.sparse.linalg import cg

from gpbench_harness import Problem, Report, Solver, param


class ScipyCg(Solver):
    """SciPy's conjugate gradients; one right-hand side at a time, so each column's product is an epoch"""

    id = "scipy-cg"
    source = (
        "P. Virtanen et al. SciPy 1.0: Fundamental Algorithms for Scientific Computing in Python. "
        "Nature Methods 17, 2020."
    )
    max_iterations: int = param(10_000, min=1, doc="Iterations for a right-hand side after which to give up")

    def solve(self, problem: Problem) -> Report:
        # The tolerance 0 leaves the end of the loop to `solve_columns`.
        options = {"rtol": 0.0, "atol": 0.0, "maxiter": self.max_iterations}
        return solve_columns(problem, cg, "r", options)
