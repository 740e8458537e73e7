# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "scikit-learn>=1.2"]
# ///
"""scikit-learn's `GaussianProcessRegressor` with fixed hyperparameters."""

import numpy as np
from _inputs import SMOOTHNESS, inputs_of
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from gpbench_harness import Problem, Report, Solver


class SklearnGpr(Solver):
    """scikit-learn's GaussianProcessRegressor: `alpha_` of a fit without an optimizer, by a Cholesky factor"""

    id = "sklearn-gpr"
    source = "F. Pedregosa et al. Scikit-learn: Machine Learning in Python. JMLR 12, 2011."
    capabilities = ("exact", "dense")

    def solve(self, problem: Problem) -> Report:
        inputs = inputs_of(self.id, problem)
        length = np.asarray(inputs.length_scale)
        if inputs.family == "rbf":
            base = RBF(length, "fixed")
        else:
            base = Matern(length, "fixed", nu=SMOOTHNESS[inputs.family])
        kernel = ConstantKernel(inputs.signal_scale**2, "fixed") * base
        process = GaussianProcessRegressor(kernel, alpha=inputs.noise_scale**2, optimizer=None, copy_X_train=False)
        problem.operator.charge(problem.n * problem.n)
        process.fit(inputs.x, problem.rhs)
        problem.x[...] = process.alpha_.reshape(problem.x.shape)
        return Report("converged", 1)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 4 * 8.0 * n * n
