"""The rules that `check` applies to a solver."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Array
from .check import CheckResult, Solved
from .dense import DenseSolve, DenseSystem, Limits
from .errors import Stop
from .problem import Problem
from .rules import Failed, Skipped, apply, demand_bytes, description, shape_of
from .solver import Solver

__all__ = ["check_solver", "solve"]

# True residuals may be so many times the tolerance where convergence is claimed, as in the harness.
_SLACK = 2.0

# So many calls may be refused before a solver counts as ignoring its budget.
_PATIENCE = 8

# Largest residual of an exact solver on these well-conditioned systems.
_WORKING_PRECISION = 1e-10


def make(method: type[Solver], params: dict[str, Any]) -> Solver:
    """Returns an object with these parameters."""
    solver = method()
    solver._configure(params)
    return solver


def solve(solver: Solver, problem: Problem, *, prepare: bool = True) -> Solved:
    """Calls a solver as the harness does."""
    backend = problem._link.use()
    if not isinstance(backend, DenseSolve):
        raise TypeError("this problem is the harness's: `check` takes one of `Problem.from_dense`")
    report, setup = None, 0.0
    if prepare:
        problem._enter("prepare")
        try:
            solver.prepare(problem)
        except Stop:
            report = problem._stopped()
        setup = backend.budget.epochs
    if report is None:
        problem._enter("solve")
        try:
            report = problem._finish(solver.solve(problem))
        except Stop:
            report = problem._stopped()
    problem._end()
    return Solved(
        report=report,
        x=backend.x,
        residuals=backend.system.residuals(backend.x),
        epochs=backend.budget.epochs,
        setup_epochs=setup,
        charged=backend.budget.charged / backend.budget.epoch,
        refusals=backend.budget.refusals,
        observed=backend.observed,
        log=backend.lines,
        notes=backend.notes,
        iterates=backend.iterates,
    )


def small_system(n: int, seed: int, columns: int = 4, **options: Any) -> DenseSystem:
    """A well-conditioned kernel system of one target and some probes."""
    rng = np.random.default_rng([seed, n])
    x = rng.standard_normal((n, 2))
    y = np.sin(x[:, 0]) + 0.5 * rng.standard_normal(n)
    settings = {"noise_scale": 1.0, "length_scale": [0.8, 1.2], "probes": columns - 1, "seed": seed, **options}
    return DenseSystem.from_inputs(x, y, **settings)


def worst(system: DenseSystem, norms: Array) -> float:
    """The number that is compared with the tolerance."""
    return system.problem(Limits()).worst(norms)


def check_solver(method: type[Solver], problem: Problem | None, params: dict[str, Any]) -> CheckResult:
    """See `check`."""
    name = method.id or method.__name__
    if problem is not None:
        backend = problem._link.use()
        solved = solve(make(method, params), problem)
        assert isinstance(backend, DenseSolve)
        rules = SolverRules(method, params, solved)
        findings = apply(
            {
                "claims": lambda: rules.claims_of(backend.system, Limits(problem.tolerance), solved),
                "budget": lambda: rules.budget_of(problem.max_epochs, solved),
                "finite": lambda: rules.finite(solved),
            }
        )
        return CheckResult(name, findings, solved)
    limits = Limits(tolerance=0.01, max_epochs=1000.0)
    system = small_system(120, 1)
    solver = make(method, params)
    solver.warm_up(shape_of(n=120, m=120, d=2, s=4))
    first = solve(solver, system.problem(limits))
    rules = SolverRules(method, params, first)
    findings = apply(
        {
            "description": lambda: description(method),
            "converges": lambda: rules.converges(first),
            "claims": lambda: rules.claims(),
            "finite": lambda: rules.finite(first),
            "observes": lambda: rules.observes(first),
            "exact": rules.exact,
            "zero": rules.zero,
            "one column": rules.one_column,
            "budget": rules.budget,
            "no budget": rules.no_budget,
            "stop": rules.stop,
            "iterates": rules.iterates,
            "warm start": rules.warm_start,
            "any start": rules.any_start,
            "same bits": rules.same_bits,
            "inducing": rules.inducing,
            "estimate": rules.estimate,
        }
    )
    return CheckResult(name, findings, first)


class SolverRules:
    """The rules, with the solver that they are about."""

    def __init__(self, method: type[Solver], params: dict[str, Any], first: Solved) -> None:
        self.method = method
        self.params = params
        self.first = first
        self.capabilities = set(method.capabilities)

    def run(self, system: DenseSystem, limits: Limits, x: npt.ArrayLike | None = None, **options: Any) -> Solved:
        """Solves with a new object."""
        return solve(make(self.method, self.params), Problem(DenseSolve(system, limits, x, **options)))

    def converges(self, solved: Solved) -> None:
        """It reaches the tolerance of a well-conditioned system within 1000 epochs."""
        reason = solved.report.reason
        if reason != "converged":
            raise Failed(f'it ended "{reason}" on a well-conditioned system of 120 rows: {solved}')

    def claims(self) -> None:
        """Where it claims convergence, the true residual agrees; so do the norms that it reports."""
        for n, seed in ((61, 1), (90, 2)):
            for tolerance in (0.1, 0.01, 1e-4):
                system = small_system(n, seed)
                limits = Limits(tolerance, 2000.0, seed)
                self.claims_of(system, limits, self.run(system, limits))

    def claims_of(self, system: DenseSystem, limits: Limits, solved: Solved) -> None:
        """As `claims`, of one solve."""
        tolerance = limits.tolerance
        truth = worst(system, solved.residuals)
        if solved.report.reason == "converged" and tolerance > 0.0 and not truth <= _SLACK * tolerance:
            raise Failed(
                f"it claims convergence to {tolerance:g}, but the true residual is {truth:.1e} "
                f"({', '.join(f'{norm:.1e}' for norm in solved.residuals)})"
            )
        if solved.report.residuals is None or solved.report.reason != "converged":
            return
        claimed = np.asarray(solved.report.residuals, dtype=np.float64)
        if "randomized" in self.capabilities:
            return  # these may be estimates
        least = 0.01 * tolerance
        for column, (norm, true) in enumerate(zip(claimed, solved.residuals)):
            if not (true <= 2.0 * max(norm, least) and norm <= 2.0 * max(true, least)):
                raise Failed(
                    f"it reports a residual norm of {norm:.1e} for column {column}, where {true:.1e} is true"
                )

    def finite(self, solved: Solved) -> None:
        """The solution is finite, unless it says that it diverged."""
        if not np.isfinite(solved.x).all() and solved.report.reason != "diverged":
            raise Failed(f'problem.x has numbers that are not finite, and the reason is "{solved.report.reason}"')

    def observes(self, solved: Solved) -> None:
        """It observes its iterations, as many as it reports, in rising order."""
        if "exact" in self.capabilities and not solved.observed:
            raise Skipped("an exact solver need not observe")
        if not solved.observed:
            raise Failed("it never calls problem.observe, so that curves are empty and no user can stop it")
        iterations = [one.iteration for one in solved.observed]
        if any(later < earlier for earlier, later in zip(iterations, iterations[1:])):
            raise Failed(f"the iterations that it observes do not rise: {iterations[:20]}")

    def exact(self) -> None:
        """An exact solver solves to working precision whatever the tolerance."""
        if "exact" not in self.capabilities:
            raise Skipped("it does not claim to be exact")
        for tolerance in (0.0, 0.5):
            solved = self.run(small_system(80, 1), Limits(tolerance))
            largest = float(solved.residuals.max())
            if solved.report.reason != "converged" or not largest <= _WORKING_PRECISION:
                raise Failed(f"with the tolerance {tolerance:g} it ended: {solved}")

    def zero(self) -> None:
        """A right-hand side of zero has a zero solution."""
        system = small_system(70, 5)
        B = np.array(system.B)
        B[:, 1] = 0.0
        system = replace(system, B=DenseSystem.from_matrix(system.A, B).B, targets=None)
        limits = Limits(0.01, 1000.0)
        for start in (None, 0.1 * np.ones((70, 4))):
            if start is not None and "warm_start" not in self.capabilities:
                continue
            solved = self.run(system, limits, start)
            self.finite(solved)
            if solved.report.reason == "converged" and np.abs(solved.x[:, 1]).max() > 1e-12:
                raise Failed(
                    "the solution of a zero right-hand side is not zero: put zeros into these columns of problem.x, which may "
                    "have started elsewhere"
                )
            if solved.report.reason == "diverged":
                raise Failed("a zero right-hand side makes it diverge")

    def one_column(self) -> None:
        """It solves a system of one right-hand side."""
        system = small_system(50, 6, columns=1)
        solved = self.run(system, Limits(0.01, 1000.0))
        self.claims_of(system, Limits(0.01), solved)
        self.finite(solved)

    def budget(self) -> None:
        """It keeps its budget, and stops soon after it is spent."""
        for epochs in (3.0, 2.5, 0.3):
            system = small_system(60, 14)
            solved = self.run(system, Limits(1e-13, epochs))
            self.budget_of(epochs, solved)
            self.finite(solved)
            truth = worst(system, solved.residuals)
            if solved.report.reason == "converged" and not truth <= 1e-8:
                raise Failed(f"with {epochs:g} epochs it claims a convergence that it has not reached")

    def budget_of(self, epochs: float, solved: Solved) -> None:
        """As `budget`, of one solve."""
        # What a solver reports by itself has been used already.
        allowed = epochs * (1.0 + 1e-9) + (1.0 if solved.charged else 0.0)
        if solved.epochs > allowed:
            raise Failed(f"with {epochs:g} epochs it used {solved.epochs:.3g}")
        if solved.refusals > _PATIENCE:
            raise Failed(
                f"it called the operator {solved.refusals} times after the budget of {epochs:g} epochs was spent: "
                "does it catch Stop?"
            )

    def no_budget(self) -> None:
        """Without a budget it leaves a warm start, or zeros."""
        starts = [0.0, 0.25] if "warm_start" in self.capabilities else [0.0]
        for value in starts:
            start = np.full((60, 4), value)
            solved = self.run(small_system(60, 28), Limits(0.01, 0.0), start)
            if solved.epochs > (1.0 if solved.charged else 0.0):
                raise Failed(f"without a budget it used {solved.epochs:.3g} epochs")
            if not ((solved.x == value) | (solved.x == 0.0)).all():
                raise Failed("without a budget it leaves another iterate than it was given")

    def stop(self) -> None:
        """It stops where an observation tells it to."""
        stopped = 0
        for at in (0, 1, 3):
            solved = self.run(small_system(60, 15), Limits(1e-13, 50.0), stop_at=at)
            if len(solved.observed) <= at:
                continue
            stopped += 1
            further = len(solved.observed) - at - 1
            used = solved.epochs - solved.observed[at].epochs
            if further > 1 or used > 1.0 + 1e-9:
                raise Failed(f"told to stop at observation {at}, it made {further} more and used {used:.3g} epochs")
            self.finite(solved)
        if not stopped:
            raise Skipped("it makes no observations")

    def iterates(self) -> None:
        """The iterate that it gives where the harness asks has the norms that it observes."""
        if "randomized" in self.capabilities:
            raise Skipped("its norms may be estimates")
        system = small_system(60, 16)
        solved = self.run(system, Limits(0.001, 200.0), asks=True)
        for observation, x in zip(solved.observed[:200], solved.iterates):
            if observation.norms is None:
                continue
            true = system.residuals(x)
            wrong = ~((true <= 2.0 * observation.norms + 1e-6) & (observation.norms <= 2.0 * true + 1e-6))
            if wrong.any():
                column = int(np.flatnonzero(wrong)[0])
                raise Failed(
                    f"at iteration {observation.iteration} it observes a norm of {observation.norms[column]:.1e} for column "
                    f"{column}, but problem.x has {true[column]:.1e}: is the iterate in problem.x? See `iterate` of observe"
                )

    def warm_start(self) -> None:
        """From the solution it finds it at once."""
        if "warm_start" not in self.capabilities:
            raise Skipped("it does not claim to use a warm start")
        system = small_system(80, 11)
        limits = Limits(0.01, 1000.0)
        solved = self.run(system, limits, np.linalg.solve(system.A, system.B))
        used = solved.epochs - solved.setup_epochs
        if solved.report.reason != "converged" or used > 1.0 + 1e-9:
            raise Failed(f'started at the solution, it took {used:.3g} epochs, and ended "{solved.report.reason}"')
        self.claims_of(system, limits, solved)

    def any_start(self) -> None:
        """It converges from another start, too."""
        system = small_system(80, 12)
        start = 3.0 * np.random.default_rng(13).standard_normal((80, 4))
        limits = Limits(0.01, 2000.0)
        solved = self.run(system, limits, start)
        if solved.report.reason != "converged" and self.first.report.reason == "converged":
            raise Failed(f"from a start that is not zero, it ended: {solved}")
        self.claims_of(system, limits, solved)

    def same_bits(self) -> None:
        """The same seed gives the same bits, also on an object that has solved before."""
        system, limits = small_system(70, 20), Limits(0.01, 200.0, 7)
        first = self.run(system, limits)
        second = self.run(replace(system, kept={}, state={}), limits)
        if not np.array_equal(first.x, second.x, equal_nan=True):
            raise Failed("two solves with the same seed differ: draw random numbers from problem.seed")
        solver = make(self.method, self.params)
        solve(solver, small_system(70, 21).problem(limits))
        third = solve(solver, replace(system, kept={}, state={}).problem(limits))
        if not np.array_equal(first.x, third.x, equal_nan=True):
            raise Failed(
                "a solve differs after another problem was solved with the same object: what is left of that?"
            )

    def inducing(self) -> None:
        """It solves a problem with inducing points, if it says so."""
        if "inducing" not in self.capabilities:
            raise Skipped("it does not claim to take inducing points")
        basis = np.random.default_rng(30).standard_normal((12, 2))
        system, limits = small_system(60, 31, basis=basis), Limits(0.01, 3000.0)
        self.claims_of(system, limits, self.run(system, limits))

    def estimate(self) -> None:
        """Its estimate of memory is a number that is not negative."""
        demand_bytes(make(self.method, self.params).estimate(1000, 3, 5))
