# /// script
# dependencies = ["numpy>=1.22"]
# ///
"""The learner `fancy-learner` for gpbench. Change `step`, which takes one step of a fit, and `predict`.

gpbench plugin test fancy_learner.py
"""

import numpy as np

from gpbench_harness import Fit, Learner, param


class FancyLearner(Learner):
    """A Gaussian process whose scales descend on the likelihoods of minibatches"""

    id = "fancy-learner"
    capabilities = ("kernel",)
    batch: int = param(64, min=2, doc="Rows in a minibatch")
    learning_rate: float = param(0.05, min=0.0, max=1.0, doc="Length of a step of the scales' logarithms")

    def begin(self, fit: Fit) -> None:
        start = fit.inputs
        self.family, self.x, self.y, self.mean = fit.family, fit.x, fit.y - fit.mean, fit.mean
        self.share = fit.shared_length_scale
        self.logs = np.log(np.concatenate([[start.signal_scale, start.noise_scale], start.length_scale]))
        self.average, self.steps, self.factor = np.zeros_like(self.logs), 0, None

    def step(self, fit: Fit) -> float:
        rows = fit.batch(self.batch)  # raises Stop when the passes are spent, which ends the fit
        fit.charge(entries=len(rows) ** 2)
        objective, gradient = self.likelihood(self.x[rows], self.y[rows])
        if self.share:
            gradient[2:] = gradient[2:].mean()
        self.average = 0.9 * self.average + 0.1 * gradient
        self.logs = self.logs - self.learning_rate * self.average / (1.0 + np.abs(self.average))
        self.steps, self.factor = self.steps + 1, None
        return objective

    def likelihood(self, x, y):
        """Negative log likelihood a row, and its derivatives by the scales' logarithms."""
        signal, noise = np.exp(2.0 * self.logs[:2])
        squares = ((x[:, None, :] - x[None, :, :]) / np.exp(self.logs[2:])) ** 2
        value, slope = correlation(self.family, squares.sum(axis=2))
        inverse = np.linalg.inv(signal * value + noise * np.eye(len(y)))
        solved = inverse @ y
        objective = 0.5 * (y @ solved - np.linalg.slogdet(inverse)[1] + len(y) * np.log(2.0 * np.pi))
        weights = 0.5 * (inverse - np.outer(solved, solved))  # of the matrix's derivatives
        scales = [2.0 * signal * np.sum(weights * value), 2.0 * noise * np.trace(weights)]
        lengths = -2.0 * signal * np.einsum("ij,ijk->k", weights * slope, squares)
        return objective / len(y), np.concatenate([scales, lengths]) / len(y)

    def predict(self, x):
        signal, noise = np.exp(2.0 * self.logs[:2])
        if self.factor is None:  # an exact process on all training rows
            matrix = signal * self.kernel(self.x) + noise * np.eye(len(self.y))
            self.factor = np.linalg.inv(np.linalg.cholesky(matrix))
            self.weights = self.factor.T @ (self.factor @ self.y)
        cross = signal * self.kernel(x)
        # One row at a time, so that a prediction has the same bits among others.
        means = np.array([row @ self.weights for row in cross])
        spread = np.array([np.sum((self.factor @ row) ** 2) for row in cross])
        return self.mean + means, signal + noise - spread

    def kernel(self, x):
        """Correlations of rows with the training rows."""
        squares = np.zeros((len(x), len(self.y)))
        for k, log in enumerate(self.logs[2:]):
            squares += (np.subtract.outer(x[:, k], self.x[:, k]) / np.exp(log)) ** 2
        return correlation(self.family, squares)[0]

    def model(self):  # from which the harness computes predictions and likelihoods by itself
        signal, noise = np.exp(self.logs[:2])
        scales = {"signal_scale": signal, "noise_scale": noise, "length_scale": np.exp(self.logs[2:])}
        return {"kind": "gp", "mean": self.mean, **scales}

    def save(self):  # all that the steps to come depend on
        return {"logs": self.logs, "average": self.average, "steps": self.steps}

    def load(self, fit, state):
        self.begin(fit)
        self.logs, self.average, self.steps = state["logs"], state["average"], int(state["steps"])


def correlation(family, squares):
    """The correlation at a squared distance, and its derivative by that."""
    if family == "rbf":
        value = np.exp(-0.5 * squares)
        return value, -0.5 * value
    r = np.sqrt(squares)
    if family == "matern12":
        value = np.exp(-r)
        return value, -0.5 * value / np.maximum(r, 1e-12)
    if family == "matern32":
        a = np.sqrt(3.0) * r
        return (1.0 + a) * np.exp(-a), -1.5 * np.exp(-a)
    a = np.sqrt(5.0) * r
    return (1.0 + a + a * a / 3.0) * np.exp(-a), -5.0 / 6.0 * (1.0 + a) * np.exp(-a)
