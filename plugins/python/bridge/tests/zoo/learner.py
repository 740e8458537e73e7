"""A learner: linear regression by stochastic gradient descent, with a state that it saves."""

import numpy as np

from gpbench_harness import Learner, param


class Line(Learner):
    """Linear regression by stochastic gradient descent"""

    id = "line"
    capabilities = ("kernel", "finite", "network", "mean", "randomized")
    batch: int = param(10, min=1, doc="Rows in a batch")
    rate: float = param(0.1, min=0.0, doc="Length of a step")
    modelled: bool = param(False, doc="Whether to give a model")
    fail: str = param("", choices=["", "nan", "linalg", "raise", "stop-in-step"], doc="What to do in the third step")

    def begin(self, fit):
        assert not fit.x.flags.writeable and fit.y.shape == (fit.n,)
        self.weights = np.zeros(fit.d)
        self.variance = fit.inputs.noise_scale**2
        self.random = np.random.Generator(np.random.PCG64(fit.seed))
        self.steps = 0
        self.x = np.array(fit.x)

    def step(self, fit):
        rows = fit.batch(self.batch)
        self.steps += 1
        if self.steps == 3:
            self.misbehave()
        x, y = fit.x[rows], fit.y[rows] + 1e-3 * self.random.normal(size=len(rows))
        residual = y - x @ self.weights
        objective = float(residual @ residual) / len(rows)
        self.weights += self.rate / len(rows) * (x.T @ residual)
        self.variance += 0.1 * (objective - self.variance)
        fit.charge(entries=len(rows), features=len(rows))
        fit.note("variance", self.variance)
        return objective

    def misbehave(self):
        if self.fail == "nan":
            self.variance = np.nan
            self.weights[:] = np.nan
        elif self.fail == "linalg":
            np.linalg.cholesky(-np.eye(2))
        elif self.fail == "raise":
            raise ValueError("wrong batch")

    def predict(self, x):
        return x @ self.weights, np.full(x.shape[0], self.variance)

    def model(self):
        if not self.modelled:
            return None
        d = len(self.weights)
        scales = {"signal_scale": 1.5, "noise_scale": 0.5, "length_scale": np.full(d, 2.0), "mean": 0.25}
        return {"kind": "gp", **scales}

    def save(self):
        state = self.random.bit_generator.state
        words = [state["state"]["state"], state["state"]["inc"]]
        mask = (1 << 64) - 1
        return {
            "weights": self.weights,
            "variance": self.variance,
            "steps": self.steps,
            "generator": np.array([part for word in words for part in (word & mask, word >> 64)], dtype=np.uint64),
        }

    def load(self, fit, state):
        self.weights = state["weights"]
        self.variance = float(state["variance"])
        self.steps = int(state["steps"])
        self.random = np.random.Generator(np.random.PCG64(fit.seed))
        low, high, inc_low, inc_high = (int(part) for part in state["generator"])
        self.random.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": low | high << 64, "inc": inc_low | inc_high << 64},
            "has_uint32": 0,
            "uinteger": 0,
        }

    def numbers(self):
        return {"weights": float(len(self.weights))}


class Plain(Learner):
    """A learner without model and state"""

    id = "plain"

    def begin(self, fit):
        self.mean = float(fit.y.mean())

    def step(self, fit):
        fit.batch(fit.n)
        return 1.0

    def predict(self, x):
        return np.full(len(x), self.mean), np.ones(len(x))

    def finished(self):
        return False
