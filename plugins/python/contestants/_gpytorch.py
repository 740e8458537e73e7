"""GPyTorch: its import, its kernels, and its conjugate gradients under the harness's eyes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import numpy as np
from _inputs import SMOOTHNESS
from _watch import Finished, Watch, local, running

from gpbench_harness import Problem, Report

for name in ("PYKEOPS_VERBOSE", "KEOPS_VERBOSE"):
    os.environ.setdefault(name, "0")  # GPyTorch imports KeOps where that is installed, which then prints
warnings.filterwarnings("ignore", category=FutureWarning, module="torch")

import gpytorch  # noqa: E402
import torch  # noqa: E402
from linear_operator.utils.linear_cg import linear_cg  # noqa: E402
from linear_operator.utils.warnings import NumericalWarning  # noqa: E402


CPU = torch.device("cpu")


def device(name: str) -> torch.device:
    """The device of this name, which is started if it is a GPU; torch's own words in one line where there is none"""
    try:
        return torch.zeros(1, device=name).device
    except (AssertionError, RuntimeError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f'device = "{name}": {reason[0]}') from None


def settle(on: torch.device) -> None:
    """Waits until a GPU has done what it was asked to do: until then its work is not in the harness's clock."""
    if on.type == "cuda":
        torch.cuda.synchronize(on)


def array(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor of any device"""
    return tensor.detach().cpu().numpy()


def covariance(inputs, shared: bool = False, on: torch.device = CPU) -> gpytorch.kernels.ScaleKernel:
    """GPyTorch's kernel in double precision, with the scales of the case; `shared`: with one length scale"""
    length = np.array(inputs.length_scale, dtype=float)
    dimensions = None if shared else len(length)
    if inputs.family == "rbf":
        base = gpytorch.kernels.RBFKernel(ard_num_dims=dimensions)
    else:
        base = gpytorch.kernels.MaternKernel(nu=SMOOTHNESS[inputs.family], ard_num_dims=dimensions)
    kernel = gpytorch.kernels.ScaleKernel(base).double()
    base.lengthscale = torch.tensor(length[:1] if shared else length)
    kernel.outputscale = float(inputs.signal_scale) ** 2
    return kernel.to(on)


def tensor(numbers: np.ndarray, on: torch.device = CPU) -> torch.Tensor:
    """A tensor with a copy of the array, row-major as the library's own data"""
    return torch.tensor(np.ascontiguousarray(numbers), device=on)


def conjugate_gradients(
    problem: Problem,
    product: Callable[[torch.Tensor], torch.Tensor],
    preconditioner: Callable[[torch.Tensor], torch.Tensor] | None,
    watch: Watch,
    max_iterations: int,
    on: torch.device = CPU,
) -> Report:
    """One call of `linear_cg` from the start in `problem.x`, observed before each of its products.

    Its own rule, the mean residual of all columns after at least 11 iterations, is replaced by the harness's.
    The product that it begins with, of the start, counts even where the start is zero.
    """
    rhs = problem.rhs
    iteration = -1

    def observed(v: torch.Tensor) -> torch.Tensor:
        nonlocal iteration
        iteration += 1
        if iteration == 0:  # The residual of a start that is not zero is not known before this product.
            norms = None if problem.x.any() else np.where(rhs.any(axis=0), 1.0, 0.0)
            return watch.before(0, norms, lambda x: None, lambda: product(v))
        frame = running(linear_cg.__code__)
        norms = array(local(frame, "residual_norm")).ravel()

        def iterate(x: np.ndarray) -> None:
            x[...] = array(local(frame, "result") * local(frame, "rhs_norm"))

        return watch.before(iteration - 1, norms, iterate, lambda: product(v))

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)
        try:
            found = linear_cg(
                observed,
                tensor(rhs, on),
                tolerance=0.0,
                max_iter=max_iterations,
                max_tridiag_iter=1,
                initial_guess=tensor(problem.x, on),
                preconditioner=preconditioner,
            )
            problem.x[...] = array(found)
        except Finished as finished:
            return watch.report(finished.reason)
    # It ends by itself after the last iteration, or where the start is the solution.
    return Report("iterations" if iteration == max_iterations else "converged", iteration)
