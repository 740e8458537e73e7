"""Tests without the harness: `pytest test_fancy_learner.py`."""

import numpy as np
from fancy_learner import FancyLearner

from gpbench_harness import Fit, check


def test_the_rules_of_every_learner():
    result = check(FancyLearner)
    assert result.passed, result


def test_the_derivatives_are_those_of_the_objective():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    for family in ("rbf", "matern12", "matern32", "matern52"):
        learner = FancyLearner()
        learner.begin(Fit.from_arrays(x, y, family=family, noise_scale=0.5))
        _, gradient = learner.likelihood(x, y)
        for k in range(len(gradient)):
            learner.logs[k] += 1e-6
            above, _ = learner.likelihood(x, y)
            learner.logs[k] -= 2e-6
            below, _ = learner.likelihood(x, y)
            learner.logs[k] += 1e-6
            np.testing.assert_allclose(gradient[k], (above - below) / 2e-6, atol=1e-6)
