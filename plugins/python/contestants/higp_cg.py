# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "higp>=2025.5"]
# ///
"""HiGP's products and preconditioner, under conjugate gradients in NumPy."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import higp_cext
import numpy as np
from _inputs import inputs_of, scaled
from _watch import Finished, Watch, sizes

from gpbench_harness import Problem, Report, Solver, param

KINDS = {"rbf": 1, "matern32": 2, "matern52": 3}
"""HiGP's numbers of its kernels"""


@contextmanager
def silence() -> Iterator[None]:
    """Discards what HiGP's C++ code prints to standard output"""
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


class HigpCg(Solver):
    """HiGP's products and AFN preconditioner, under a loop in NumPy: HiGP does not offer its own loop in Python"""

    id = "higp-cg"
    source = (
        "H. Huang, T. Xu, Y. Xi, E. Chow. HiGP: A high-performance Python package for Gaussian Process. "
        "arXiv:2503.02259, 2025."
    )
    capabilities = ("warm_start", "randomized")
    matrix = preconditioner = None
    rank: int = param(100, min=0, doc="Rank of the preconditioner; 0: none. HiGP's default is 50")
    precision: str = param("double", choices=("double", "single"), doc="Precision of products and preconditioner")
    max_iterations: int = param(10_000, min=1, doc="Iterations after which to give up")

    def prepare(self, problem: Problem) -> None:
        inputs = inputs_of(self.id, problem, tuple(KINDS))
        dtype = np.float64 if self.precision == "double" else np.float32
        # HiGP has one length scale for all inputs, so these are scaled here. It takes the transpose of x.
        x = np.ascontiguousarray(scaled(inputs).T.astype(dtype))
        scales = (KINDS[inputs.family], 1.0, float(inputs.signal_scale), float(inputs.noise_scale) ** 2)
        seed = problem.seed % 2**31
        with silence():
            self.matrix = self.preconditioner = None  # frees the last ones before there are others
            self.matrix = higp_cext.krnlmat.setup(x, *scales, use_h2=0, nthreads=problem.threads)
            if self.rank > 0:
                rank = min(self.rank, problem.n)
                problem.operator.charge(rank * problem.n)
                self.preconditioner = higp_cext.precond.setup_afn(
                    x, *scales, nthreads=problem.threads, rank=rank, seed=seed
                )
        self.dtype = dtype

    def multiply(self, factor, v: np.ndarray) -> np.ndarray:
        """The product of one of HiGP's objects with the columns of v"""
        rows = np.ascontiguousarray(v.T, dtype=self.dtype)
        with silence():
            return factor.matmul(rows).reshape(rows.shape).T.astype(np.float64)

    def solve(self, problem: Problem) -> Report:
        watch = Watch(problem, entries=problem.n * problem.n)
        size = sizes(problem.rhs)
        u, r = np.array(problem.x), np.array(problem.rhs)
        u[:, ~r.any(axis=0)] = 0.0
        if u.any():
            problem.operator.charge(problem.n * problem.n)
            r -= self.multiply(self.matrix, u)
        p, rz = np.zeros_like(r), np.zeros(problem.s)

        def write(x: np.ndarray) -> None:
            x[...] = u

        try:
            for iteration in range(self.max_iterations):
                z = r if self.preconditioner is None else self.multiply(self.preconditioner, r)
                before, rz = rz, np.einsum("ij,ij->j", r, z)
                p *= np.divide(rz, before, out=np.zeros_like(rz), where=before > 0.0)
                p += z
                norms = np.linalg.norm(r, axis=0) / size
                q = watch.before(iteration, norms, write, lambda: self.multiply(self.matrix, p))
                curvature = np.einsum("ij,ij->j", p, q)
                step = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0.0)
                u += step * p
                r -= step * q
        except Finished as finished:
            return watch.report(finished.reason)
        write(problem.x)
        return watch.report("iterations")

    def estimate(self, n: int, d: int, s: int) -> float:
        return 8.0 * n * (6 * s + 3 * self.rank)
