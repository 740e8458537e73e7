"""What GPyTorch's learners share: modules with the case's starting values, steps of Adam, saved states, predictions."""

from __future__ import annotations

import _gpytorch as gp
import gpytorch
import numpy as np
import torch

from gpbench_harness import Fit


def likelihood(fit: Fit, noise_floor: float, on: torch.device) -> gpytorch.likelihoods.GaussianLikelihood:
    """Noise that starts at the case's, with a least variance; half of the start where that is less"""
    variance = float(fit.inputs.noise_scale) ** 2
    floor = gpytorch.constraints.GreaterThan(min(noise_floor, 0.5 * variance))
    made = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=floor).double()
    made.noise = variance
    return made.to(on)


def prior_mean(fit: Fit) -> gpytorch.means.ConstantMean:
    """A constant mean, trained where the case asks for it"""
    mean = gpytorch.means.ConstantMean().double()
    mean.constant.data.fill_(fit.mean)
    return mean.requires_grad_(fit.trains_mean)


class Schedule:
    """A learning rate that falls at shares of the passes"""

    def __init__(self, rate: float, milestones: str, factor: float) -> None:
        try:
            self.milestones = [float(word) for word in milestones.split()]
        except ValueError:
            raise ValueError(f"milestones: {milestones!r} is no list of numbers with spaces between them") from None
        self.rate, self.factor = rate, factor

    def at(self, share: float) -> float:
        return self.rate * self.factor ** sum(share >= milestone for milestone in self.milestones)


class Descent:
    """Adam on the parameters of a model and its likelihood"""

    def __init__(self, modules: torch.nn.ModuleList, schedule: Schedule) -> None:
        self.modules = modules
        trained = [parameter for parameter in modules.parameters() if parameter.requires_grad]
        self.adam = torch.optim.Adam(trained, lr=schedule.rate)
        self.schedule = schedule
        self.drawn = 0

    def step(self, fit: Fit, rows: int, loss: torch.Tensor) -> float:
        """Takes a step along the gradient of `loss`, unless it is not finite, and returns it"""
        for group in self.adam.param_groups:
            group["lr"] = self.schedule.at(self.drawn / (fit.n * fit.passes))
        self.drawn += rows
        objective = float(loss.detach())
        if np.isfinite(objective):
            self.adam.zero_grad()
            loss.backward()
            self.adam.step()
        gp.settle(loss.device)
        return objective

    def save(self) -> dict[str, np.ndarray]:
        """All that later steps depend on"""
        state = {f"module {name}": gp.array(value).copy() for name, value in self.modules.state_dict().items()}
        for index, numbers in self.adam.state_dict()["state"].items():
            for name, value in numbers.items():
                state[f"adam {index} {name}"] = gp.array(value).copy()
        state["drawn"] = np.array(self.drawn)
        return state

    def load(self, state: dict[str, np.ndarray]) -> None:
        """Takes up a saved state"""
        self.drawn = int(state["drawn"])
        modules, adam = {}, self.adam.state_dict()
        for key, value in state.items():
            kind, _, name = key.partition(" ")
            if kind == "module":
                modules[name] = torch.tensor(value)
            elif kind == "adam":
                index, name = name.split(" ")
                adam["state"].setdefault(int(index), {})[name] = torch.tensor(value)
        self.modules.load_state_dict(modules)
        self.adam.load_state_dict(adam)


def scales(fit_inputs: int, kernel, noise: torch.Tensor, mean) -> dict[str, np.ndarray | float]:
    """The learned scales under the harness's names: standard deviations"""
    length = gp.array(kernel.base_kernel.lengthscale).ravel()
    return {
        "signal_scale": float(kernel.outputscale.detach()) ** 0.5,
        "noise_scale": float(noise.detach()) ** 0.5,
        "length_scale": np.broadcast_to(length, (fit_inputs,)).copy(),
        "mean": float(mean.constant.detach()),
    }


def root(matrix: torch.Tensor, jitter: float) -> tuple[torch.Tensor, float]:
    """The Cholesky factor of matrix + jitter I, and the jitter: ten times that, up to 1e-3, where it does not suffice"""
    least = 1e-5 * float(matrix.diagonal().max()) ** 0.5
    while jitter <= 1e-3:
        identity = torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
        factor, failed = torch.linalg.cholesky_ex(matrix + jitter * identity)
        if not failed and (jitter > 0.0 or float(factor.diagonal().min()) > least):
            return factor, jitter
        jitter = max(10.0 * jitter, 1e-8)
    raise np.linalg.LinAlgError(
        "the covariance of the inducing points is not positive definite with a jitter of 1e-3"
    )


def predict_inducing(kernel, model: dict, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predictions of a model of kind `inducing`.

    GPyTorch's own add the jitter to the variances of predictions too; the harness's definition does not.
    """
    on = kernel.outputscale.device
    z, rows, q_mean, q_root = (gp.tensor(numbers, on) for numbers in (model["z"], x, model["q_mean"], model["q_root"]))
    with torch.no_grad():
        gram = kernel(z).to_dense()
        factor = torch.linalg.cholesky(gram + model["jitter"] * torch.eye(len(z), dtype=gram.dtype, device=on))
        a = torch.linalg.solve_triangular(factor, kernel(z, rows).to_dense(), upper=False)
        variance = kernel.outputscale - (a * a).sum(0) + ((q_root.T @ a) ** 2).sum(0)
        mean = model["mean"] + a.T @ q_mean
    return gp.array(mean), gp.array(variance.clamp_min(0.0)) + model["noise_scale"] ** 2
