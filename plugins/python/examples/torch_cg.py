# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0"]
# ///
"""Conjugate gradients in torch, on the arrays that the harness sees."""

import numpy as np
import torch

from gpbench_harness import Problem, Report, Solver, param


class TorchCg(Solver):
    """Conjugate gradients without preconditioner, in torch"""

    id = "torch-cg"
    capabilities = ("warm_start",)
    limit: int = param(1000, min=1, doc="Iterations after which to give up")

    def solve(self, problem: Problem) -> Report:
        start, sizes = problem.relative_residual()
        # Tensors of the same memory: products need no copies.
        arrays = [problem.empty(problem.n, problem.s) for _ in range(2)]
        direction, product = (torch.from_numpy(array) for array in arrays)
        x, sizes = torch.from_numpy(problem.x), torch.from_numpy(np.array(sizes))
        residual = torch.from_numpy(np.array(start))
        direction.copy_(residual)
        square = (residual * residual).sum(0)
        zero = torch.zeros_like(square)
        for iteration in range(self.limit):
            norms = square.sqrt().numpy()
            problem.observe(iteration, norms)
            if not np.isfinite(norms).all():
                return Report("diverged", iteration, norms)
            if problem.converged(norms) or not norms.any():
                return Report("converged", iteration, norms)
            problem.operator.apply(arrays[0], out=arrays[1])
            curvature = (direction * product).sum(0)
            alpha = torch.where(curvature > 0.0, square / curvature, zero)
            x += direction * (alpha * sizes)
            residual -= product * alpha
            new = (residual * residual).sum(0)
            direction.mul_(torch.where(square > 0.0, new / square, zero)).add_(residual)
            square = new
        return Report("iterations", self.limit, square.sqrt().numpy())
