"""A learner whose predictions are what it was given."""

import numpy as np

from gpbench_harness import Learner


class Data(Learner):
    """Tells what it was given"""

    id = "data"
    capabilities = ("network", "kernel", "inducing", "mean", "finite")

    def begin(self, fit):
        assert fit.network.activation == "relu"
        self.seen = [
            *fit.network.widths,
            fit.network.random,
            len(fit.inputs.basis),
            len(fit.inputs.length_scale),
            float(fit.trains_mean and fit.shared_length_scale),
        ]
        assert (fit.inputs.basis == 0.5).all() and fit.inputs.family == "rbf"
        self.noise = fit.inputs.noise_scale

    def step(self, fit):
        fit.batch(5)
        return 1.0

    def predict(self, x):
        mean = np.zeros(len(x))
        mean[: len(self.seen)] = self.seen
        return mean, np.full(len(x), self.noise)
