"""Tests without the harness: `pytest test_fancy_solver.py`."""

import numpy as np
from fancy_solver import FancySolver

from gpbench_harness import Problem, check


def test_the_rules_of_every_solver():
    result = check(FancySolver)
    assert result.passed, result


def test_a_system_of_my_own():
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    result = check(FancySolver, Problem.from_dense(A, [1.0, 2.0], tolerance=1e-8), params={"step": 0.9})
    assert result.passed and result.solved, result
    np.testing.assert_allclose(result.solved.x[:, 0], np.linalg.solve(A, [1.0, 2.0]), atol=1e-6)
