"""Solvers and learners for gpbench in Python, and its results.

A file ``my_solver.py`` with a class that extends `Solver` (or `Learner`) is a library of gpbench::

    gpbench plugin test my_solver.py
    gpbench run benchmarks/quickstart.toml --library my_solver.py

Write one
    `Solver`, `Learner`, `param`: the class and its parameters.
    `Problem`, `Operator`, `Report`: what a solver gets, and what it returns.
    `Fit`: what a learner gets.
    `Stop`, `Error`, `Ended`: what calls may raise.

Test one, without the harness
    `check`, `Problem.from_dense`, `Problem.from_inputs`, `Fit.from_arrays`.

Read results
    `read`, `run`, `compare`.

All arrays are numpy's, of float64 and column-major where nothing else is said. Sizes: n rows, m unknowns (n, or the number of
inducing points), s right-hand sides, d inputs. Budgets are in epochs of n^2 kernel entries.
"""

from __future__ import annotations

from .arrays import Array
from .check import CheckResult, check
from .errors import Ended, Error, Stop
from .fit import Fit
from .inputs import Family, Inputs, Network, Shape, Targets
from .learner import Learner, LearnerCapability
from .operator import Operator
from .param import param
from .problem import Problem
from .report import Reason, Report
from .results import Comparison, Run, compare, read, run
from .solver import Capability, Solver

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Capability",
    "CheckResult",
    "Comparison",
    "Ended",
    "Error",
    "Family",
    "Fit",
    "Inputs",
    "Learner",
    "LearnerCapability",
    "Network",
    "Operator",
    "Problem",
    "Reason",
    "Report",
    "Run",
    "Shape",
    "Solver",
    "Stop",
    "Targets",
    "check",
    "compare",
    "param",
    "read",
    "run",
]
