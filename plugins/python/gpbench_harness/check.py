"""Runs a solver or learner in this process, without the harness, and says what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .arrays import Array
from .dense import Observation
from .fit import Fit
from .learner import Learner
from .problem import Problem
from .report import Report
from .solver import Solver

__all__ = ["CheckResult", "Finding", "Solved", "check"]


@dataclass(frozen=True)
class Finding:
    """What one rule found.

    Attributes
    ----------
    rule : str
    outcome : str
        ``"passed"``, ``"failed"``, or ``"skipped"``: the rule does not concern this solver or learner.
    detail : str
        Why it failed or was skipped; empty otherwise.
    """

    rule: str
    outcome: Literal["passed", "failed", "skipped"]
    detail: str = ""

    def __str__(self) -> str:
        mark = {"passed": "ok     ", "failed": "FAILED ", "skipped": "skipped"}[self.outcome]
        return f"{mark} {self.rule}" + (f": {self.detail}" if self.detail else "")


@dataclass(frozen=True)
class Solved:
    """One solve.

    Attributes
    ----------
    report : Report
        What the solver reports; after `Stop`, what the last observation says.
    x : Array, m x s
        The solution.
    residuals : Array, s
        True residual norms of it, relative to the right-hand sides.
    epochs, setup_epochs : float
        Epochs used in all, and by `prepare`.
    charged : float
        Epochs that the solver reported by `Operator.charge`; part of `epochs`.
    refusals : int
        Calls that were refused because the budget was spent.
    observed : list of Observation
        ``iteration``, ``norms`` and ``epochs`` of each observation.
    log : list of (str, str)
        Levels and lines.
    notes : list of (int, str, float)
        Iteration, name and value.
    """

    report: Report
    x: Array
    residuals: Array
    epochs: float
    setup_epochs: float
    charged: float
    refusals: int
    observed: list[Observation] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[int, str, float]] = field(default_factory=list)
    iterates: list[Array] = field(default_factory=list)

    def __str__(self) -> str:
        largest = float(self.residuals.max())
        return (
            f"{self.report.reason} after {self.report.iterations} iterations and {self.epochs:.4g} epochs "
            f"({self.setup_epochs:.4g} of setup); largest true residual {largest:.2e}"
        )


@dataclass(frozen=True)
class CheckResult:
    """What `check` found. It is true if nothing failed, and its text says all.

    Attributes
    ----------
    name : str
        Id of the solver or learner.
    findings : list of Finding
    solved : Solved or None
        The solve that a solver was first asked for.
    """

    name: str
    findings: list[Finding]
    solved: Solved | None = None

    @property
    def passed(self) -> bool:
        """Whether no rule failed."""
        return all(finding.outcome != "failed" for finding in self.findings)

    @property
    def failed(self) -> list[Finding]:
        """The rules that failed."""
        return [finding for finding in self.findings if finding.outcome == "failed"]

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        count = len(self.findings)
        head = f"{self.name}: " + ("no rule failed" if self.passed else f"{len(self.failed)} of {count} rules failed")
        lines = [head]
        if self.solved is not None:
            lines.append(f"  {self.solved}")
        return "\n".join(lines + [f"  {finding}" for finding in self.findings])

    __repr__ = __str__


def check(
    method: type[Solver] | type[Learner],
    problem: Problem | Fit | None = None,
    *,
    params: Mapping[str, Any] | None = None,
) -> CheckResult:
    """Runs a solver or learner in this process, without the harness.

    Without a problem it solves several small ones and applies the rules that every solver must keep: true residuals, the
    budget, `Stop`, warm starts, zero right-hand sides, equal bits for equal seeds, reports. ``gpbench plugin test`` applies more
    of them. With a problem it solves that one alone.

    An exception of the solver passes out, so that pytest and a debugger show where it was raised.

    Parameters
    ----------
    method : type
        The class.
    problem : Problem or Fit, optional
        Made by `Problem.from_dense`, `Problem.from_inputs` or `Fit.from_arrays`, and not used before.
    params : mapping of str to value, optional
        Parameters; the others have their defaults.

    Returns
    -------
    CheckResult
        ``assert check(MySolver)`` is a test; ``print(check(MySolver))`` shows the rules.

    Raises
    ------
    TypeError
        If `method` is no class that extends `Solver` or `Learner`, or the problem is not of its kind.

    Examples
    --------
    >>> result = check(MySolver, Problem.from_dense(A, b, tolerance=1e-6))  # doctest: +SKIP
    >>> print(result.solved.residuals)  # doctest: +SKIP
    """
    if isinstance(method, type) and issubclass(method, Solver):
        from .check_solver import check_solver

        if problem is not None and not isinstance(problem, Problem):
            raise TypeError(f"{method.__name__} is a solver: pass a Problem, not a {type(problem).__name__}")
        return check_solver(method, problem, dict(params or {}))
    if isinstance(method, type) and issubclass(method, Learner):
        from .check_learner import check_learner

        if problem is not None and not isinstance(problem, Fit):
            raise TypeError(f"{method.__name__} is a learner: pass a Fit, not a {type(problem).__name__}")
        return check_learner(method, problem, dict(params or {}))
    raise TypeError(f"`check` takes a class that extends Solver or Learner, not {method!r}")
