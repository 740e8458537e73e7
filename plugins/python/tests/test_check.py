"""`check`: right solvers and learners pass, and each wrong one fails by the rule that it breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import solvers

import gpbench_harness as gpb
from gpbench_harness import Fit, Problem, check


def failures(result: gpb.CheckResult) -> dict[str, str]:
    return {finding.rule: finding.detail for finding in result.failed}


@pytest.mark.parametrize("method", [solvers.Gradients, solvers.Silent, solvers.Exact])
def test_right_solvers(method: type[gpb.Solver]) -> None:
    result = check(method)
    assert result.passed and result and failures(result) == {}, result
    assert result.solved is not None and result.solved.report.reason == "converged"


@pytest.mark.parametrize(
    ("method", "rule", "text"),
    [
        (solvers.Boastful, "claims", "it claims convergence to 0.1, but the true residual is"),
        (solvers.Flattering, "iterates", "is the iterate in problem.x?"),
        (solvers.Rebinding, "claims", "but the true residual is 1.0e"),
        (solvers.Greedy, "budget", "does it catch Stop?"),
        (solvers.Deaf, "stop", "told to stop at observation 0, it made"),
        (solvers.Forgetful, "observes", "never calls problem.observe"),
        (solvers.Sticky, "same bits", "after another problem was solved with the same object"),
        (solvers.Random, "same bits", "draw random numbers from problem.seed"),
        (solvers.Overflowing, "finite", "numbers that are not finite"),
        (solvers.ColdZero, "zero", "put zeros into these columns"),
    ],
)
def test_wrong_solvers(method: type[gpb.Solver], rule: str, text: str) -> None:
    result = check(method)
    assert text in failures(result).get(rule, ""), result
    assert not result and f"FAILED  {rule}: " in str(result)


def test_a_wrong_report_passes_out() -> None:
    with pytest.raises(ValueError, match="residuals of shape 5 for 4 right-hand sides"):
        check(solvers.WrongReport)


def test_an_exception_of_the_author_passes_out() -> None:
    class Broken(solvers.Gradients):
        """A line"""

        def move(self, problem: Problem, change: Any) -> None:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        check(Broken)


def test_a_problem_of_ones_own() -> None:
    A, b = np.diag([1.0, 2.0, 4.0]), np.ones(3)
    result = check(solvers.Gradients, Problem.from_dense(A, b, tolerance=1e-10))
    assert [finding.rule for finding in result.findings] == ["claims", "budget", "finite"]
    assert result.solved is not None
    np.testing.assert_allclose(result.solved.x[:, 0], [1.0, 0.5, 0.25])
    assert result.solved.epochs == 3.0 and len(result.solved.observed) == 4
    assert (result.solved.residuals <= 1e-10).all()
    assert "converged after 3 iterations and 3 epochs" in str(result)

    start = np.linalg.solve(A, b)
    result = check(solvers.Gradients, Problem.from_dense(A, b, x=start))
    assert result.solved is not None and result.solved.report.iterations == 0

    result = check(solvers.Gradients, Problem.from_dense(A, b, max_epochs=2.0, tolerance=1e-10))
    assert result.solved is not None and result.solved.report.reason == "stopped"
    assert result.solved.epochs == 2.0 and result.solved.report.iterations == 2


def test_a_limit_of_iterations_without_a_report() -> None:
    problem = Problem.from_dense(np.diag([1.0, 2.0, 4.0]), np.ones(3), tolerance=1e-10)
    result = check(solvers.Silent, problem, params={"limit": 2})
    assert result.solved is not None and result.solved.report.reason == "iterations"


def test_a_rebound_x_is_said() -> None:
    result = check(solvers.Rebinding, Problem.from_dense(np.diag([1.0, 2.0]), np.ones(2)))
    assert result.solved is not None
    assert any("write it in place" in text.lower() for _, text in result.solved.log)


def test_a_solver_needs_a_report_or_an_observation() -> None:
    class Nothing(gpb.Solver):
        """A line"""

        id = "nothing"

        def solve(self, problem: Problem) -> None:
            pass

    with pytest.raises(TypeError, match="returned None and has observed nothing"):
        check(Nothing, Problem.from_dense(np.eye(2), np.ones(2)))

    class Number(Nothing):
        """A line"""

        def solve(self, problem: Problem) -> Any:
            return 3

    with pytest.raises(TypeError, match="returned a int; it must return a Report or None"):
        check(Number, Problem.from_dense(np.eye(2), np.ones(2)))


def test_what_check_takes() -> None:
    with pytest.raises(TypeError, match="a class that extends Solver or Learner, not 3"):
        check(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Gradients is a solver: pass a Problem, not a Fit"):
        check(solvers.Gradients, Fit.from_arrays(np.eye(2), np.ones(2)))
    with pytest.raises(TypeError, match="Mean is a learner: pass a Fit, not a Problem"):
        check(solvers.Mean, Problem.from_dense(np.eye(2), np.ones(2)))
    with pytest.raises(ValueError, match="Gradients has no parameter `rank`; it has limit"):
        check(solvers.Gradients, params={"rank": 3})
    with pytest.raises(gpb.Ended):
        problem = Problem.from_dense(np.eye(2), np.ones(2))
        check(solvers.Gradients, problem)
        check(solvers.Gradients, problem)


def test_right_learners() -> None:
    result = check(solvers.Mean)
    assert result.passed, result
    fit = Fit.from_arrays(np.random.default_rng(0).standard_normal((30, 2)), np.ones(30), passes=2.0)
    result = check(solvers.Mean, fit, params={"batch": 10})
    assert result.passed, result


@pytest.mark.parametrize(
    ("method", "rule", "text"),
    [
        (solvers.Coupled, "one row", "the mean of a row is"),
        (solvers.Variances, "model", "are scales standard deviations"),
        (solvers.HalfSaved, "save", "other bits after save and load"),
        (solvers.Paused, "pauses", "other bits with a pause after each step"),
        (solvers.Diverging, "steps", "the fit diverged"),
        (solvers.Catching, "passes", "asked for rows 1 times after Stop"),
    ],
)
def test_wrong_learners(method: type[gpb.Learner], rule: str, text: str) -> None:
    result = check(method)
    assert text in failures(result).get(rule, ""), result


def test_predictions_of_a_wrong_shape_pass_out() -> None:
    with pytest.raises(ValueError, match="returned means of shape 1 for 17 rows"):
        check(solvers.WrongShape)
