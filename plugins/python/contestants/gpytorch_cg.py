# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "gpytorch>=1.12", "linear-operator>=0.6"]
# ///
"""GPyTorch's conjugate gradients over the harness's operator."""

import _gpytorch as gp
import numpy as np
import torch
from _inputs import inputs_of
from _watch import Watch
from linear_operator import LinearOperator, settings
from linear_operator.operators import AddedDiagLinearOperator, ConstantDiagLinearOperator

from gpbench_harness import Problem, Report, Solver, param


class HarnessKernel(LinearOperator):
    """The kernel matrix without noise: products, diagonal and entries are the harness's.

    `token` is an empty tensor of the matrix's type: a LinearOperator is made of tensors.
    """

    def __init__(self, token: torch.Tensor, problem: Problem) -> None:
        super().__init__(token, problem=problem)
        self.problem = problem
        self.noise = problem.operator.inputs.noise_scale**2

    def _matmul(self, rhs: torch.Tensor) -> torch.Tensor:
        v = rhs.detach().numpy()
        return torch.from_numpy(np.asarray(self.problem.operator @ v)) - self.noise * rhs

    def _diagonal(self) -> torch.Tensor:
        return torch.from_numpy(np.array(self.problem.operator.diagonal())) - self.noise

    def _get_indices(self, row_index, col_index, *batch_indices) -> torch.Tensor:
        rows, columns = (index.numpy() for index in torch.broadcast_tensors(row_index, col_index))
        entries = np.empty(rows.shape)
        for row in np.unique(rows):  # Pivoted Cholesky asks for one row at a time.
            here = rows == row
            entries[here] = self.problem.operator.block([row], columns[here])[0]
        return torch.from_numpy(entries - self.noise * (rows == columns))

    def _size(self) -> torch.Size:
        return torch.Size(self.problem.operator.shape)

    def _transpose_nonbatch(self) -> LinearOperator:
        return self


class GpytorchCg(Solver):
    """GPyTorch's conjugate gradients with a pivoted Cholesky preconditioner, over the harness's products"""

    id = "gpytorch-cg"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("warm_start",)
    rank: int = param(100, min=0, doc="Rank of the preconditioner; 0: none. GPyTorch's default is 15")
    max_iterations: int = param(10_000, min=1, doc="Iterations after which to give up; GPyTorch's default is 1000")

    def prepare(self, problem: Problem) -> None:
        inputs = inputs_of(self.id, problem)
        noise = torch.tensor([inputs.noise_scale**2], dtype=torch.float64)
        self.kernel = HarnessKernel(torch.empty(0, dtype=torch.float64), problem)
        self.matrix = AddedDiagLinearOperator(self.kernel, ConstantDiagLinearOperator(noise, problem.n))
        self.preconditioner = None
        if self.rank > 0:
            with torch.no_grad(), settings.max_preconditioner_size(self.rank), settings.min_preconditioning_size(0):
                self.preconditioner, _, _ = self.matrix._preconditioner()

    def solve(self, problem: Problem) -> Report:
        self.kernel.problem = problem  # that of `prepare` has ended
        product, watch = self.matrix._matmul, Watch(problem)
        return gp.conjugate_gradients(problem, product, self.preconditioner, watch, self.max_iterations)
