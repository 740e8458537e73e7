# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22"]
# ///
"""ASkotch, accelerated sketch-and-project, written in NumPy after the published algorithm."""

from __future__ import annotations

import numpy as np
from _inputs import inputs_of, scaled
from _watch import sizes

from gpbench_harness import Array, Inputs, Problem, Report, Solver, Stop, param
from gpbench_harness.kernels import FAMILIES

LEAST_ROWS = 256
"""Least number of rows in a block of automatic size"""

OBSERVATIONS = 4
"""Least number of observations an epoch"""

INCREASES = 6
"""Largest number of increases of the shift until the core of an approximation has a Cholesky factor"""

DIVERGED = 1e10
"""Relative residual of an iterate that has diverged"""


class Matrix:
    """A = K(x, x) + noise_variance I, evaluated by strips of rows"""

    def __init__(self, inputs: Inputs) -> None:
        x = scaled(inputs)
        self.x = x - x.mean(axis=0)  # squared distances from products have rounding errors of eps |x|^2
        self.squares = (self.x * self.x).sum(axis=1)
        self.correlation = FAMILIES[inputs.family]
        self.signal_variance = float(inputs.signal_scale) ** 2
        self.noise_variance = float(inputs.noise_scale) ** 2

    def strip(self, rows: np.ndarray) -> Array:
        """A[rows], |rows| x n"""
        distances = self.squares[rows, np.newaxis] + self.squares - 2.0 * (self.x[rows] @ self.x.T)
        entries = self.correlation(np.sqrt(np.maximum(distances, 0.0)))
        entries *= self.signal_variance
        entries[np.arange(len(rows)), rows] = self.signal_variance + self.noise_variance
        return entries

    def product(self, v: Array, rows: int) -> Array:
        """A v, by strips of so many rows"""
        n = len(self.x)
        strips = (np.arange(start, min(start + rows, n)) for start in range(0, n, rows))
        return np.concatenate([self.strip(strip) @ v for strip in strips])


class Nystrom:
    """U diag(values) U^T + rho I, which approximates A on a block of rows: b x r and r numbers

    Frangella, Tropp and Udell 2023 (arXiv 2110.02820), Algorithm 2.1, as ASkotch uses it.
    """

    def __init__(self, block: Array, noise_variance: float, gaussian: Array) -> None:
        omega, _ = np.linalg.qr(gaussian)
        product = block @ omega - noise_variance * omega
        factor, shift = shifted_factor(omega.T @ product)
        root = np.linalg.solve(factor, (product + shift * omega).T).T
        self.vectors, singular, _ = np.linalg.svd(root, full_matrices=False)
        self.values = np.maximum(singular**2 - shift, 0.0)
        self.rho = noise_variance + self.values[-1]

    def apply(self, g: Array) -> Array:
        """The inverse times g, b x s"""
        shares = (self.values / (self.values + self.rho))[:, np.newaxis]
        return (g - self.vectors @ (shares * (self.vectors.T @ g))) / self.rho

    def step_size(self, block: Array, start: Array, rounds: int) -> float:
        """The inverse of the largest eigenvalue of the inverse times A on the block, by a power iteration"""
        vector, eigenvalue = start, 1.0
        for _ in range(rounds):
            vector = vector / np.linalg.norm(vector)
            image = self.apply(block @ vector)
            eigenvalue = float(np.vdot(vector, image))
            vector = image
        return 1.0 / eigenvalue


def shifted_factor(core: Array) -> tuple[Array, float]:
    """The Cholesky factor of core + shift I, and the shift: the rounding error of the trace, or more if need be"""
    shift = float(np.finfo(float).eps * np.trace(core))
    for attempt in range(INCREASES + 1):
        try:
            return np.linalg.cholesky((core + core.T) / 2.0 + shift * np.eye(len(core))), shift
        except np.linalg.LinAlgError:
            if attempt == INCREASES:
                raise
            shift *= 10.0
    raise AssertionError("the last attempt returns or raises")


class Iterates:
    """The sequences W, V and Z with their residuals, n x s each

    The published form computes A[rows] Z for the gradient. Here the residuals are kept, so that the gradient is a
    part of Z's, and a product with as many entries updates them. The iterates are the same up to rounding, and the
    residual of W is always known.
    """

    def __init__(self, w: Array, residual: Array, mu: float, blocks: float) -> None:
        mu = min(mu, 1.0 / blocks)
        self.beta = 1.0 - np.sqrt(mu / blocks)
        self.gamma = 1.0 / np.sqrt(mu * blocks)
        self.alpha = 1.0 / (1.0 + self.gamma * blocks)
        self.w, self.residual = w, residual
        self.v, self.z = w.copy(), w.copy()
        self.residual_v, self.residual_z = residual.copy(), residual.copy()

    def step(self, rows: np.ndarray, strip: Array, change: Array) -> None:
        """A step of W by `change` on these rows, whose strip of A is given"""
        alpha, beta, gamma = self.alpha, self.beta, self.gamma
        image = strip.T @ change
        self.v = beta * self.v + (1.0 - beta) * self.z
        self.v[rows] += gamma * change
        self.residual_v = beta * self.residual_v + (1.0 - beta) * self.residual_z - gamma * image
        self.w = self.z
        self.w[rows] += change
        self.residual = self.residual_z - image
        self.z = alpha * self.v + (1.0 - alpha) * self.w
        self.residual_z = alpha * self.residual_v + (1.0 - alpha) * self.residual


class AskotchNumpy(Solver):
    """ASkotch in NumPy, written after the published algorithm; kernel entries are evaluated by strips in each step"""

    id = "askotch-numpy"
    source = (
        "P. Rathore, Z. Frangella, J. Yang, M. Dereziński, M. Udell. Have ASkotch: A Neat Solution for Large-scale "
        "Kernel Ridge Regression. arXiv 2407.10070, 2024."
    )
    capabilities = ("warm_start", "randomized")
    block_size: int = param(
        0, min=0, max=100_000, doc="Rows in a block; 0: a hundredth of all rows, and at least 256"
    )
    rank: int = param(
        100,
        min=1,
        max=100_000,
        doc="Rank of the Nystrom approximation of a block; blocks of at most so many rows are solved exactly",
    )
    power_iterations: int = param(
        10, min=1, max=1000, doc="Rounds of the power iteration that determines the length of a step"
    )
    max_iterations: int = param(10_000_000, min=1, doc="Steps after which to give up")

    def rows_of_block(self, n: int) -> int:
        return min(self.block_size or max(n // 100, LEAST_ROWS), n)

    def solve(self, problem: Problem) -> Report:
        matrix = Matrix(inputs_of(self.id, problem))
        n, size = problem.n, sizes(problem.rhs)
        rows_of_block = self.rows_of_block(n)
        period = max(1, n // rows_of_block // OBSERVATIONS)
        random = np.random.default_rng(problem.seed)
        iterates = self.start(problem, matrix, rows_of_block)
        for count in range(self.max_iterations + 1):
            norms = np.linalg.norm(iterates.residual, axis=0) / size
            reason = "iterations" if count == self.max_iterations else None
            if not (norms < DIVERGED).all():
                reason = "diverged"
            if problem.converged(norms):
                reason = "converged"
            if reason is not None or count % period == 0:
                problem.x[...] = iterates.w
                problem.observe(count, norms)
            if reason is not None:
                return Report(reason, count, norms, {"block_size": rows_of_block})
            rows = np.sort(random.choice(n, rows_of_block, replace=False))
            try:
                problem.operator.charge(rows_of_block * rows_of_block)
                problem.operator.charge(rows_of_block * n)
            except Stop:
                problem.x[...] = iterates.w
                return Report("stopped", count, norms)
            strip = matrix.strip(rows)
            change = self.change(strip[:, rows], iterates.residual_z[rows], matrix.noise_variance, random)
            iterates.step(rows, strip, change)
        raise AssertionError("the last round returns")

    def start(self, problem: Problem, matrix: Matrix, rows_of_block: int) -> Iterates:
        """The iterates at the start in `x`, whose residual takes a product unless it is zero"""
        n = problem.n
        problem.x[:, ~problem.rhs.any(axis=0)] = 0.0
        residual = np.array(problem.rhs)
        if problem.x.any():
            problem.operator.charge(n * n)
            residual -= matrix.product(problem.x, rows_of_block)
        if matrix.noise_variance == 0.0:
            raise ValueError(f"{self.id}: momentum needs noise, and the noise scale is 0")
        # As published, and where blocks are solved exactly relative to the signal.
        unit = matrix.signal_variance if rows_of_block <= self.rank else 1.0
        return Iterates(np.array(problem.x), residual, matrix.noise_variance / unit, n / rows_of_block)

    def change(self, block: Array, gradient: Array, noise_variance: float, random: np.random.Generator) -> Array:
        """The change of W on a block's rows, b x s"""
        if len(block) <= self.rank:
            return np.linalg.solve(block, gradient)
        inverse = Nystrom(block, noise_variance, random.standard_normal((len(block), self.rank)))
        start = random.standard_normal((len(block), 1))
        return inverse.step_size(block, start, self.power_iterations) * inverse.apply(gradient)

    def estimate(self, n: int, d: int, s: int) -> float:
        b = self.rows_of_block(n)
        return 8.0 * (10 * n * s + 4 * n * b + b * (b + 3 * self.rank))
