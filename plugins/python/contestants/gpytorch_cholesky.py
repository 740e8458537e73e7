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

from gpbench_harness import Problem, Report, Shape, Solver, param


class GpytorchCholesky(Solver):
    """GPyTorch's exact solve: a Cholesky factor of its kernel matrix"""

    id = "gpytorch-cholesky"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("exact", "dense")
    device: str = param("cpu", choices=("cpu", "cuda"), doc="Where torch computes; cuda: the first GPU that it sees")

    def warm_up(self, shape: Shape) -> None:
        gp.device(self.device)  # a GPU is started outside of the clock

    def prepare(self, problem: Problem) -> None:
        inputs = inputs_of(self.id, problem)
        problem.operator.charge(problem.n * problem.n)
        self.on = gp.device(self.device)
        noise = torch.tensor(inputs.noise_scale**2, dtype=torch.float64, device=self.on)
        with torch.no_grad():
            matrix = gp.covariance(inputs, on=self.on)(gp.tensor(inputs.x, self.on)).add_diagonal(noise)
            try:
                self.factor = matrix.cholesky()
            except NotPSDError as error:
                raise np.linalg.LinAlgError(str(error)) from error
        gp.settle(self.on)

    def solve(self, problem: Problem) -> Report:
        # What `matrix.solve` calls; it would first compute the factor again.
        with torch.no_grad():
            problem.x[...] = gp.array(self.factor._cholesky_solve(gp.tensor(problem.rhs, self.on)))
        return Report("converged", 1)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 5 * 8.0 * n * n
