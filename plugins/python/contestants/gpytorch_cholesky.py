# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "gpytorch>=1.12", "linear-operator>=0.6"]
# ///
"""GPyTorch's kernel matrix and its Cholesky factor."""

import _gpytorch as gp
import numpy as np
import torch
from _inputs import inputs_of
from linear_operator.utils.errors import NotPSDError

from gpbench_harness import Problem, Report, Solver


class GpytorchCholesky(Solver):
    """GPyTorch's exact solve: a Cholesky factor of its kernel matrix"""

    id = "gpytorch-cholesky"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("exact", "dense")

    def prepare(self, problem: Problem) -> None:
        inputs = inputs_of(self.id, problem)
        problem.operator.charge(problem.n * problem.n)
        noise = torch.tensor(inputs.noise_scale**2, dtype=torch.float64)
        with torch.no_grad():
            matrix = gp.covariance(inputs)(gp.tensor(inputs.x)).add_diagonal(noise)
            try:
                self.factor = matrix.cholesky()
            except NotPSDError as error:
                raise np.linalg.LinAlgError(str(error)) from error

    def solve(self, problem: Problem) -> Report:
        # What `matrix.solve` calls; it would first compute the factor again.
        with torch.no_grad():
            problem.x[...] = self.factor._cholesky_solve(gp.tensor(problem.rhs)).numpy()
        return Report("converged", 1)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 5 * 8.0 * n * n
