# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "gpytorch>=1.12", "linear-operator>=0.6"]
# ///
"""GPyTorch's training loop of an exact Gaussian process."""

import _gpytorch as gp
import gpytorch
import numpy as np
import torch
from _inputs import check_family
from _learning import Descent, Schedule, likelihood, prior_mean, scales
from linear_operator import settings
from linear_operator.utils.errors import NotPSDError

from gpbench_harness import Array, Fit, Learner, Shape, param


class Process(gpytorch.models.ExactGP):
    """An exact process, as in GPyTorch's first tutorial"""

    def __init__(self, fit: Fit, x, y, noise: gpytorch.likelihoods.GaussianLikelihood) -> None:
        super().__init__(x, y, noise)
        self.mean_module = prior_mean(fit)
        self.covar_module = gp.covariance(fit.inputs, fit.shared_length_scale)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class GpytorchExact(Learner):
    """GPyTorch's exact process: Adam on the marginal likelihood, by Cholesky factors; a step takes all rows"""

    id = "gpytorch-exact"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("kernel", "mean")
    learning_rate: float = param(0.1, min=0.0, doc="Learning rate of Adam")
    milestones: str = param(
        "0.5 0.7 0.9", doc="Shares of the passes after which the learning rate falls; empty: it stays"
    )
    factor: float = param(0.1, min=0.0, max=1.0, doc="Factor of the learning rate there")
    noise_floor: float = param(1e-4, min=1e-12, doc="Least noise variance")
    device: str = param("cpu", choices=("cpu", "cuda"), doc="Where torch computes; cuda: the first GPU that it sees")

    def warm_up(self, shape: Shape) -> None:
        gp.device(self.device)  # a GPU is started outside of the clock

    def begin(self, fit: Fit) -> None:
        check_family(self.id, fit.family)
        self.d = fit.d
        on = gp.device(self.device)
        self.likelihood = likelihood(fit, self.noise_floor, on)
        self.x, self.y = gp.tensor(fit.x, on), gp.tensor(fit.y, on)
        self.process = Process(fit, self.x, self.y, self.likelihood).double().to(on)
        self.likelihood_of_data = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.process)
        modules = torch.nn.ModuleList([self.process])  # contains the likelihood
        self.descent = Descent(modules, Schedule(self.learning_rate, self.milestones, self.factor))

    def step(self, fit: Fit) -> float:
        fit.batch(fit.n)
        fit.charge(entries=fit.n * fit.n)
        self.process.train()
        try:
            with settings.fast_computations(covar_root_decomposition=False, log_prob=False, solves=False):
                loss = -self.likelihood_of_data(self.process(self.x), self.y)
                return self.descent.step(fit, fit.n, loss)
        except NotPSDError as error:
            raise np.linalg.LinAlgError(str(error)) from error

    def predict(self, x: Array) -> tuple[Array, Array]:
        if len(x) == 0:
            return np.empty(0), np.empty(0)
        self.process.eval()
        with torch.no_grad(), settings.fast_computations(False, False, False):
            prediction = self.likelihood(self.process(gp.tensor(x, self.x.device)))
            return gp.array(prediction.mean), gp.array(prediction.variance)

    def model(self) -> dict[str, object]:
        process = self.process
        return {"kind": "gp", **scales(self.d, process.covar_module, self.likelihood.noise, process.mean_module)}

    def save(self) -> dict[str, np.ndarray]:
        return self.descent.save()

    def load(self, fit: Fit, state: dict[str, np.ndarray]) -> None:
        self.begin(fit)
        self.descent.load(state)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 8.0 * 11 * n * n
