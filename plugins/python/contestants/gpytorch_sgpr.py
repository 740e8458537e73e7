# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "gpytorch>=1.12", "linear-operator>=0.6"]
# ///
"""GPyTorch's sparse Gaussian process regression with the collapsed bound."""

import _gpytorch as gp
import gpytorch
import numpy as np
import torch
from _inputs import check_family
from _learning import Descent, Schedule, likelihood, predict_inducing, prior_mean, root, scales
from linear_operator.utils.errors import NotPSDError

from gpbench_harness import Array, Fit, Learner, Shape, param


class Process(gpytorch.models.ExactGP):
    """An exact process with the covariance of inducing points"""

    def __init__(self, fit: Fit, x, y, points: torch.Tensor, noise: gpytorch.likelihoods.GaussianLikelihood) -> None:
        super().__init__(x, y, noise)
        self.mean_module = prior_mean(fit)
        kernel = gp.covariance(fit.inputs, fit.shared_length_scale)
        self.covar_module = gpytorch.kernels.InducingPointKernel(kernel, points, noise)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class GpytorchSgpr(Learner):
    """GPyTorch's SGPR: inducing points and Titsias' collapsed bound; a step takes all rows"""

    id = "gpytorch-sgpr"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("kernel", "inducing", "mean")
    points: int = param(
        512, min=1, max=65536, doc="Inducing points, where the spec chooses none: inputs of random rows"
    )
    learning_rate: float = param(0.03, min=0.0, doc="Learning rate of Adam")
    milestones: str = param(
        "0.5 0.7 0.9", doc="Shares of the passes after which the learning rate falls; empty: it stays"
    )
    factor: float = param(0.1, min=0.0, max=1.0, doc="Factor of the learning rate there")
    noise_floor: float = param(1e-4, min=1e-12, doc="Least noise variance")
    device: str = param("cpu", choices=("cpu", "cuda"), doc="Where torch computes; cuda: the first GPU that it sees")

    def warm_up(self, shape: Shape) -> None:
        gp.device(self.device)  # a GPU is started outside of the clock

    def start(self, fit: Fit, points: np.ndarray) -> None:
        check_family(self.id, fit.family)
        self.d = fit.d
        on = gp.device(self.device)
        self.likelihood = likelihood(fit, self.noise_floor, on)
        self.x, self.y = gp.tensor(fit.x, on), gp.tensor(fit.y, on)
        self.process = Process(fit, self.x, self.y, gp.tensor(points, on), self.likelihood).double().to(on)
        self.bound = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.process)
        modules = torch.nn.ModuleList([self.process])  # contains the likelihood
        self.descent = Descent(modules, Schedule(self.learning_rate, self.milestones, self.factor))
        self.answer: dict[str, object] | None = None

    def begin(self, fit: Fit) -> None:
        points = fit.inputs.basis
        if points is None:
            points = fit.x[fit.batch(self.points, stream=1)]
        self.start(fit, points)

    def step(self, fit: Fit) -> float:
        fit.batch(fit.n)
        points = self.process.covar_module.inducing_points.shape[0]
        fit.charge(entries=points * (points + fit.n))
        self.answer = None
        self.process.train()
        try:
            loss = -self.bound(self.process(self.x), self.y)
            return self.descent.step(fit, fit.n, loss)
        except NotPSDError as error:
            raise np.linalg.LinAlgError(str(error)) from error

    def model(self) -> dict[str, object]:
        """The optimal distribution: with A = L^-1 K(Z, X) and B = I + A A^T / s^2, mean B^-1 A (y - mean) / s^2, covariance B^-1"""
        if self.answer is not None:
            return self.answer
        inducing, noise = self.process.covar_module, self.likelihood.noise.detach()
        kernel, z = inducing.base_kernel, inducing.inducing_points.detach()
        common = scales(self.d, kernel, noise, self.process.mean_module)
        with torch.no_grad():
            factor, jitter = root(kernel(z).to_dense(), 0.0)
            a = torch.linalg.solve_triangular(factor, kernel(z, self.x).to_dense(), upper=False)
            b = torch.linalg.cholesky(torch.eye(len(z), dtype=a.dtype, device=a.device) + a @ a.T / noise)
            q_mean = torch.cholesky_solve((a @ (self.y - common["mean"]) / noise)[:, None], b)[:, 0]
            q_root = torch.linalg.cholesky(torch.cholesky_inverse(b))
        self.answer = {
            "kind": "inducing",
            **common,
            "z": gp.array(z).copy(),
            "q_mean": gp.array(q_mean),
            "q_root": gp.array(q_root),
            "jitter": jitter,
        }
        return self.answer

    def predict(self, x: Array) -> tuple[Array, Array]:
        return predict_inducing(self.process.covar_module.base_kernel, self.model(), x)

    def save(self) -> dict[str, np.ndarray]:
        return self.descent.save()

    def load(self, fit: Fit, state: dict[str, np.ndarray]) -> None:
        self.start(fit, state["module 0.covar_module.inducing_points"])
        self.descent.load(state)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 8.0 * (n * d + 8 * n * self.points)
