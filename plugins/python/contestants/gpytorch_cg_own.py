# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "gpytorch>=1.12", "linear-operator>=0.6"]
# ///
"""GPyTorch's conjugate gradients over GPyTorch's own kernel matrix."""

import _gpytorch as gp
import torch
from _inputs import inputs_of
from _watch import Watch
from linear_operator import settings

from gpbench_harness import Problem, Report, Shape, Solver, param


class GpytorchCgOwn(Solver):
    """GPyTorch's conjugate gradients with a pivoted Cholesky preconditioner and GPyTorch's kernel matrix in memory"""

    id = "gpytorch-cg-own"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("warm_start",)
    rank: int = param(100, min=0, doc="Rank of the preconditioner; 0: none. GPyTorch's default is 15")
    max_iterations: int = param(10_000, min=1, doc="Iterations after which to give up; GPyTorch's default is 1000")
    device: str = param("cpu", choices=("cpu", "cuda"), doc="Where torch computes; cuda: the first GPU that it sees")

    def warm_up(self, shape: Shape) -> None:
        gp.device(self.device)  # a GPU is started outside of the clock

    def prepare(self, problem: Problem) -> None:
        inputs = inputs_of(self.id, problem)
        rank = min(self.rank, problem.n)
        problem.operator.charge(rank * problem.n)
        self.on = gp.device(self.device)
        noise = torch.tensor(inputs.noise_scale**2, dtype=torch.float64, device=self.on)
        with torch.no_grad(), settings.max_preconditioner_size(rank), settings.min_preconditioning_size(0):
            kernel = gp.covariance(inputs, on=self.on)(gp.tensor(inputs.x, self.on)).evaluate_kernel()  # kept in memory
            self.matrix = kernel.add_diagonal(noise)
            self.preconditioner, _, _ = self.matrix._preconditioner()
        gp.settle(self.on)

    def solve(self, problem: Problem) -> Report:
        # Entries are evaluated once, in `prepare`, but every product uses them all.
        product, watch = self.matrix._matmul, Watch(problem, entries=problem.n * problem.n)
        return gp.conjugate_gradients(problem, product, self.preconditioner, watch, self.max_iterations, self.on)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 4 * 8.0 * n * n
