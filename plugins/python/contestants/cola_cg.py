# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "cola-ml>=0.0.7"]
# ///
"""CoLA's conjugate gradients over the harness's operator."""

import warnings

import numpy as np
import torch
from _watch import Finished, Watch, local, running, sizes

from gpbench_harness import Problem, Report, Solver, param

warnings.filterwarnings("ignore", category=FutureWarning, module="torch")

import cola  # noqa: E402
from cola.linalg.inverse import cg as module  # noqa: E402


class ColaCg(Solver):
    """CoLA's conjugate gradients, without a preconditioner, over the harness's products"""

    id = "cola-cg"
    source = (
        "A. Potapczynski, M. Finzi, G. Pleiss, A. G. Wilson. CoLA: Exploiting Compositional Structure for Automatic "
        "and Efficient Numerical Linear Algebra. NeurIPS 2023."
    )
    max_iterations: int = param(10_000, min=1, doc="Iterations after which to give up; CoLA's default is 1000")

    def solve(self, problem: Problem) -> Report:
        size = sizes(problem.rhs)
        watch, iteration = Watch(problem), -1

        def product(v: torch.Tensor) -> torch.Tensor:
            nonlocal iteration
            iteration += 1
            multiply = lambda: torch.from_numpy(np.asarray(problem.operator @ v.numpy()))  # noqa: E731
            if iteration == 0:  # CoLA multiplies the start, which is zero here.
                return watch.before(0, np.where(problem.rhs.any(axis=0), 1.0, 0.0), lambda x: None, multiply)
            frame = running(module.take_cg_step.__code__)
            norms = torch.linalg.vector_norm(local(frame, "r0"), dim=0).numpy()

            def iterate(x: np.ndarray) -> None:
                x[...] = local(frame, "x0").numpy() * size

            return watch.before(iteration - 1, norms, iterate, multiply)

        operator = cola.ops.LinearOperator(torch.float64, (problem.n, problem.n), matmat=product)
        with torch.no_grad():
            # The tolerance is 0 because CoLA's is relative to the largest residual, and doubled for a start of zero.
            method = cola.linalg.CG(tol=0.0, max_iters=self.max_iterations)
            try:
                x = cola.linalg.solve(cola.PSD(operator), torch.tensor(problem.rhs), method)
            except Finished as finished:
                return watch.report(finished.reason)
        problem.x[...] = x.numpy()
        return watch.report("iterations")
