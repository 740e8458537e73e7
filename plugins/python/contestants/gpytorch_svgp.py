# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "torch>=2.0", "gpytorch>=1.12", "linear-operator>=0.6"]
# ///
"""GPyTorch's sparse variational Gaussian process."""

import _gpytorch as gp
import gpytorch
import numpy as np
import torch
from _inputs import check_family
from _learning import Descent, Schedule, likelihood, predict_inducing, prior_mean, root, scales
from linear_operator.utils.errors import NotPSDError

from gpbench_harness import Array, Fit, Learner, Shape, param


class Process(gpytorch.models.ApproximateGP):
    """Inducing points that move, with a whitened variational distribution"""

    def __init__(self, fit: Fit, points: torch.Tensor, jitter: float) -> None:
        distribution = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        strategy = gpytorch.variational.VariationalStrategy(
            self, points, distribution, learn_inducing_locations=True, jitter_val=jitter
        )
        super().__init__(strategy)
        self.mean_module = prior_mean(fit)
        self.covar_module = gp.covariance(fit.inputs, fit.shared_length_scale)

    def forward(self, x: torch.Tensor) -> gpytorch.distributions.MultivariateNormal:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class GpytorchSvgp(Learner):
    """GPyTorch's SVGP: inducing points, a whitened variational distribution, minibatches, Adam"""

    id = "gpytorch-svgp"
    source = (
        "J. R. Gardner, G. Pleiss, D. Bindel, K. Q. Weinberger, A. G. Wilson. GPyTorch: Blackbox Matrix-Matrix "
        "Gaussian Process Inference with GPU Acceleration. NeurIPS 2018."
    )
    capabilities = ("kernel", "inducing", "mean")
    batch: int = param(1024, min=1, max=65536, doc="Rows of a minibatch; all of them if there are fewer")
    learning_rate: float = param(0.01, min=0.0, doc="Learning rate of Adam")
    milestones: str = param(
        "0.5 0.7 0.9", doc="Shares of the passes after which the learning rate falls; empty: it stays"
    )
    factor: float = param(0.1, min=0.0, max=1.0, doc="Factor of the learning rate there")
    noise_floor: float = param(1e-4, min=1e-12, doc="Least noise variance")
    jitter: float = param(
        1e-6, min=1e-12, max=1e-3, doc="Number added to the diagonal of the inducing points' covariance"
    )
    device: str = param("cpu", choices=("cpu", "cuda"), doc="Where torch computes; cuda: the first GPU that it sees")

    def warm_up(self, shape: Shape) -> None:
        gp.device(self.device)  # a GPU is started outside of the clock

    def start(self, fit: Fit, points: np.ndarray) -> None:
        check_family(self.id, fit.family)
        self.d = fit.d
        on = gp.device(self.device)
        self.x, self.y = gp.tensor(fit.x, on), gp.tensor(fit.y, on)
        self.process = Process(fit, gp.tensor(points), self.jitter).double().to(on)
        self.likelihood = likelihood(fit, self.noise_floor, on)
        self.bound = gpytorch.mlls.VariationalELBO(self.likelihood, self.process, num_data=fit.n)
        modules = torch.nn.ModuleList([self.process, self.likelihood])
        self.descent = Descent(modules, Schedule(self.learning_rate, self.milestones, self.factor))

    def begin(self, fit: Fit) -> None:
        points = fit.inputs.basis
        if points is None:
            points = fit.x[fit.batch(self.batch, stream=1)]
        self.start(fit, points)
        # The library would do this in the first step, with a random mean of standard deviation 1e-3.
        strategy = self.process.variational_strategy
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(fit.seed)
            strategy._variational_distribution.initialize_variational_distribution(strategy.prior_distribution)
        strategy.variational_params_initialized.fill_(1)
        gp.settle(self.x.device)

    def step(self, fit: Fit) -> float:
        rows = fit.batch(self.batch)
        points = self.process.variational_strategy.inducing_points.shape[0]
        fit.charge(entries=points * (points + len(rows)))
        self.process.train()
        self.likelihood.train()
        index = torch.from_numpy(np.array(rows))
        try:
            loss = -self.bound(self.process(self.x[index]), self.y[index])
            return self.descent.step(fit, len(rows), loss)
        except NotPSDError as error:
            raise np.linalg.LinAlgError(str(error)) from error

    def model(self) -> dict[str, object]:
        strategy = self.process.variational_strategy
        q = strategy._variational_distribution
        kernel, points = self.process.covar_module, strategy.inducing_points.detach()
        with torch.no_grad():
            _, jitter = root(kernel(points).to_dense(), self.jitter)
        return {
            "kind": "inducing",
            **scales(self.d, kernel, self.likelihood.noise, self.process.mean_module),
            "z": gp.array(points).copy(),
            "q_mean": gp.array(q.variational_mean).copy(),
            "q_root": np.tril(gp.array(q.chol_variational_covar)),
            "jitter": jitter,
        }

    def predict(self, x: Array) -> tuple[Array, Array]:
        return predict_inducing(self.process.covar_module, self.model(), x)

    def save(self) -> dict[str, np.ndarray]:
        return self.descent.save()

    def load(self, fit: Fit, state: dict[str, np.ndarray]) -> None:
        points = state["module 0.variational_strategy.inducing_points"]
        self.start(fit, points)
        self.descent.load(state)

    def estimate(self, n: int, d: int, s: int) -> float:
        return 8.0 * (n * d + 12 * self.batch**2)
