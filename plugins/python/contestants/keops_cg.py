# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "pykeops>=2.1"]
# ///
"""KeOps' conjugate gradients over KeOps' reductions."""

import os

for name in ("PYKEOPS_VERBOSE", "KEOPS_VERBOSE"):
    os.environ.setdefault(name, "0")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from _inputs import check_family, inputs_of, scaled  # noqa: E402
from _watch import Finished, Watch, local, running, sizes  # noqa: E402
from pykeops.common.operations import ConjugateGradientSolver  # noqa: E402
from pykeops.torch import LazyTensor  # noqa: E402

from gpbench_harness import Problem, Report, Shape, Solver  # noqa: E402


def correlations(family: str, x: torch.Tensor) -> LazyTensor:
    """The kernel matrix with signal and length scale 1, which KeOps evaluates anew in each product"""
    r2 = ((LazyTensor(x[:, None, :]) - LazyTensor(x[None, :, :])) ** 2).sum(-1)
    if family == "rbf":
        return (-0.5 * r2).exp()
    if family == "matern12":
        return (-r2.sqrt()).exp()
    a = ({"matern32": 3.0, "matern52": 5.0}[family] * r2).sqrt()
    return (1.0 + a if family == "matern32" else 1.0 + a + a * a / 3.0) * (-a).exp()


class KeopsCg(Solver):
    """KeOps' conjugate gradients and reductions; all right-hand sides, normalised, share one step size"""

    id = "keops-cg"
    source = (
        "B. Charlier, J. Feydy, J. A. Glaunès, F.-D. Collin, G. Durif. Kernel Operations on the GPU, with Autodiff, "
        "without Memory Overflows. JMLR 22, 2021."
    )

    def warm_up(self, shape: Shape) -> None:
        """Compiles the reduction for this number of inputs and right-hand sides"""
        check_family(self.id, shape.family)
        x, v = torch.zeros(2, shape.d, dtype=torch.float64), torch.zeros(2, shape.s, dtype=torch.float64)
        correlations(shape.family, x) @ v

    def solve(self, problem: Problem) -> Report:
        inputs = inputs_of(self.id, problem)
        kernel = correlations(inputs.family, torch.from_numpy(scaled(inputs)))
        signal, noise = float(inputs.signal_scale) ** 2, float(inputs.noise_scale) ** 2
        size = sizes(problem.rhs)
        watch, iteration = Watch(problem, entries=problem.n * problem.n), -1

        def product(v: torch.Tensor) -> torch.Tensor:
            nonlocal iteration
            iteration += 1
            frame = running(ConjugateGradientSolver.__code__)
            norms = torch.linalg.vector_norm(local(frame, "r"), dim=0).numpy()

            def iterate(x: np.ndarray) -> None:
                x[...] = np.asarray(local(frame, "a")) * size  # `a` is the number 0 before the first step

            return watch.before(iteration, norms, iterate, lambda: signal * (kernel @ v) + noise * v)

        try:
            # Its own rule is the root mean square of all entries: 0 leaves the end of the loop to `watch`.
            x = ConjugateGradientSolver("torch", product, torch.tensor(problem.rhs / size), eps=0.0)
        except Finished as finished:
            return watch.report(finished.reason)
        problem.x[...] = x.numpy() * size
        return watch.report("stagnated")
