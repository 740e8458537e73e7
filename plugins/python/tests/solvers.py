"""Solvers and learners for the tests of `check`: right ones, and wrong ones that are each wrong in one way."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpbench_harness import Fit, Learner, Problem, Report, Solver, Stop, param


class Gradients(Solver):
    """Conjugate gradients on all right-hand sides"""

    id = "gradients"
    capabilities = ("warm_start",)
    limit: int = param(1000, min=1, doc="Iterations after which to give up")

    def solve(self, problem: Problem) -> Report | None:
        residual, scale = problem.relative_residual()
        scale = np.where(scale == 0.0, 1.0, scale)
        direction, product = residual.copy(order="F"), problem.empty(problem.n, problem.s)
        squares = (residual * residual).sum(axis=0)
        for iteration in range(self.limit):
            norms = np.sqrt(squares)
            self.observe(problem, iteration, norms)
            if self.is_done(problem, norms):
                return Report("converged", iteration, norms)
            problem.operator.apply(direction, out=product)
            curvature = (direction * product).sum(axis=0)
            step = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0.0)
            self.move(problem, scale * step * direction)
            residual -= step * product
            new = (residual * residual).sum(axis=0)
            direction *= np.divide(new, squares, out=np.zeros_like(new), where=squares > 0.0)
            direction += residual
            squares = new
        return Report("iterations", self.limit, np.sqrt(squares))

    def observe(self, problem: Problem, iteration: int, norms: Any) -> None:
        problem.observe(iteration, norms)

    def is_done(self, problem: Problem, norms: Any) -> bool:
        return problem.converged(norms)

    def move(self, problem: Problem, change: Any) -> None:
        problem.x += change


class Silent(Gradients):
    """Reports its last observation by returning nothing"""

    id = "silent"

    def solve(self, problem: Problem) -> Report | None:
        super().solve(problem)
        return None


class Exact(Solver):
    """A factorisation of the block of all entries"""

    id = "exact"
    capabilities = ("exact", "dense")

    def prepare(self, problem: Problem) -> None:
        self.factor = None
        everything = slice(None)
        self.factor = np.linalg.inv(problem.operator.block(everything, everything))

    def solve(self, problem: Problem) -> Report:
        if self.factor is None:
            return Report("stopped")
        problem.x = self.factor @ problem.rhs
        return Report("converged", 1)


class Boastful(Gradients):
    """Claims to have converged long before"""

    id = "boastful"

    def is_done(self, problem: Problem, norms: Any) -> bool:
        return problem.worst(norms) <= 10.0 * problem.tolerance


class Flattering(Gradients):
    """Reports norms that are too small"""

    id = "flattering"

    def observe(self, problem: Problem, iteration: int, norms: Any) -> None:
        norms *= 0.1
        problem.observe(iteration, norms)


class Rebinding(Gradients):
    """Makes another array in place of writing x"""

    id = "rebinding"

    def move(self, problem: Problem, change: Any) -> None:
        x = problem.x
        x = x + change  # noqa: F841


class Greedy(Gradients):
    """Catches Stop and goes on"""

    id = "greedy"

    def solve(self, problem: Problem) -> Report | None:
        for _ in range(20):
            try:
                return super().solve(problem)
            except Stop:
                pass
        return Report("iterations", 0)


class Deaf(Gradients):
    """Does not stop where an observation tells it to"""

    id = "deaf"

    def observe(self, problem: Problem, iteration: int, norms: Any) -> None:
        try:
            problem.observe(iteration, norms)
        except Stop:
            pass


class Forgetful(Gradients):
    """Never observes"""

    id = "forgetful"

    def observe(self, problem: Problem, iteration: int, norms: Any) -> None:
        pass


class Sticky(Gradients):
    """Begins where another problem ended"""

    id = "sticky"
    limit: int = param(3, min=1, doc="Iterations after which to give up")

    def solve(self, problem: Problem) -> Report | None:
        if getattr(self, "last", None) is not None and self.last.shape == problem.x.shape:
            problem.x += self.last
        report = super().solve(problem)
        self.last = problem.x.copy()
        return report


class Random(Gradients):
    """Draws random numbers without the seed"""

    id = "random"
    limit: int = param(3, min=1, doc="Iterations after which to give up")

    def move(self, problem: Problem, change: Any) -> None:
        problem.x += change * np.random.default_rng().uniform(0.9, 1.1)


class Overflowing(Gradients):
    """Leaves infinities"""

    id = "overflowing"

    def solve(self, problem: Problem) -> Report | None:
        report = super().solve(problem)
        problem.x[0, 0] = np.inf
        return report


class ColdZero(Gradients):
    """Leaves a start where the right-hand side is zero"""

    id = "cold-zero"

    def solve(self, problem: Problem) -> Report | None:
        start = problem.x.copy()
        report = super().solve(problem)
        zero = ~problem.rhs.any(axis=0)
        problem.x[:, zero] = start[:, zero]
        return report


class WrongReport(Gradients):
    """Reports a norm too few"""

    id = "wrong-report"

    def solve(self, problem: Problem) -> Report | None:
        super().solve(problem)
        return Report("converged", 1, np.zeros(problem.s + 1))


class Mean(Learner):
    """Learns the noise about zero: y has no structure"""

    id = "mean"
    capabilities = ("kernel",)
    batch: int = param(16, min=1, doc="Rows in a batch")

    def begin(self, fit: Fit) -> None:
        self.noise, self.count = fit.inputs.noise_scale, 0

    def step(self, fit: Fit) -> float:
        rows = fit.batch(self.batch)
        mean_square = float(np.mean(fit.y[rows] ** 2))
        self.noise = 0.9 * self.noise + 0.1 * np.sqrt(mean_square)
        self.count += 1
        fit.note("noise", self.noise)
        return mean_square

    def predict(self, x: Any) -> tuple[Any, Any]:
        return np.zeros(len(x)), np.full(len(x), self.noise**2)

    def save(self) -> dict[str, Any]:
        return {"noise": self.noise, "count": self.count}

    def load(self, fit: Fit, state: dict[str, Any]) -> None:
        self.noise, self.count = float(state["noise"]), int(state["count"])


class Coupled(Mean):
    """A prediction depends on the other rows"""

    id = "coupled"

    def predict(self, x: Any) -> tuple[Any, Any]:
        mean, variance = super().predict(x)
        return mean + x.sum(), variance


class Variances(Mean):
    """Gives a variance where a standard deviation belongs"""

    id = "variances"

    def model(self) -> dict[str, Any]:
        scales = {"signal_scale": 1e-6, "noise_scale": self.noise**2, "length_scale": np.ones(2)}
        return {"kind": "gp", **scales}


class HalfSaved(Mean):
    """Saves only a part of its state"""

    id = "half-saved"

    def load(self, fit: Fit, state: dict[str, Any]) -> None:
        super().load(fit, {**state, "noise": fit.inputs.noise_scale})


class Paused(Mean):
    """Changes when it is asked for numbers"""

    id = "paused"

    def numbers(self) -> dict[str, float]:
        self.noise *= 1.001
        return {}


class Diverging(Mean):
    """Its objective is not a number"""

    id = "diverging"

    def step(self, fit: Fit) -> float:
        super().step(fit)
        return float("nan")


class Catching(Mean):
    """Catches Stop in a step"""

    id = "catching"

    def step(self, fit: Fit) -> float:
        for _ in range(2):
            fit.batch(self.batch)
        try:
            return super().step(fit)
        except Stop:
            fit.batch(4)
            raise


class WrongShape(Mean):
    """Predicts a scalar"""

    id = "wrong-shape"

    def predict(self, x: Any) -> tuple[Any, Any]:
        return np.zeros(1), np.ones(1)
