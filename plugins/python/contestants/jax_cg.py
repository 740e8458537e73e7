# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "jax>=0.4.30"]
# ///
"""Conjugate gradients written in JAX: products, vectors and rules in one compiled function."""

import os
from functools import partial

import numpy as np
from _inputs import check_family, inputs_of, scaled
from _watch import Finished, Watch, sizes

from gpbench_harness import Problem, Report, Shape, Solver, param

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)


def correlation(family: str, r2):
    """The kernel with signal and length scale 1, as a function of squared distances"""
    if family == "rbf":
        return jnp.exp(-0.5 * r2)
    if family == "matern12":
        return jnp.exp(-jnp.sqrt(r2))
    a = jnp.sqrt({"matern32": 3.0, "matern52": 5.0}[family] * r2)
    return (1.0 + a if family == "matern32" else 1.0 + a + a * a / 3.0) * jnp.exp(-a)


def product(family: str, strip: int, x, scales, v):
    """A v for scaled inputs x and scales (signal variance, noise variance), by strips of rows"""
    n = x.shape[0]
    strips = -(-n // strip)
    norms = (x * x).sum(1)
    padded = jnp.pad(x, ((0, strips * strip - n), (0, 0))).reshape(strips, strip, -1)

    def one(rows):
        r2 = (rows * rows).sum(1)[:, None] + norms[None, :] - 2.0 * rows @ x.T
        return correlation(family, jnp.maximum(r2, 0.0)) @ v

    return scales[0] * jax.lax.map(one, padded).reshape(strips * strip, -1)[:n] + scales[1] * v


def divide(a, b):
    """a / b, or 0 where b is not positive: such a column keeps its iterate"""
    return jnp.where(b > 0.0, a / jnp.where(b > 0.0, b, 1.0), 0.0)


@partial(jax.jit, static_argnames=("family", "strip", "count"), donate_argnames="state")
def iterate(family: str, strip: int, count: int, x, scales, state):
    """`count` iterations from a state: iterate, residual, direction, squared norms of the residual's columns"""

    def one(_, state):
        u, r, p, rr = state
        q = product(family, strip, x, scales, p)
        step = divide(rr, (p * q).sum(0))
        u, r = u + step * p, r - step * q
        squares = (r * r).sum(0)
        return u, r, r + divide(squares, rr) * p, squares

    return jax.lax.fori_loop(0, count, one, state)


class JaxCg(Solver):
    """Conjugate gradients in JAX: one compiled function, kernel entries evaluated by strips in every product"""

    id = "jax-cg"
    source = "J. Bradbury et al. JAX: composable transformations of Python+NumPy programs. 2018."
    capabilities = ("warm_start",)
    strip: int = param(1024, min=1, doc="Rows of the kernel matrix that are evaluated at a time")
    chunk: int = param(
        1, min=1, doc="Iterations of one call, between which the tolerance is looked at; all are charged"
    )
    max_iterations: int = param(10_000, min=1, doc="Iterations after which to give up")

    def warm_up(self, shape: Shape) -> None:
        """Compiles for these sizes, without data"""
        check_family(self.id, shape.family)

        def array(*sizes: int) -> jax.ShapeDtypeStruct:
            return jax.ShapeDtypeStruct(sizes, jnp.float64)

        n, s = shape.n, shape.s
        state = (array(n, s), array(n, s), array(n, s), array(s))
        lowered = iterate.lower(shape.family, self.strip, self.chunk, array(n, shape.d), array(2), state)
        self.sizes, self.compiled = (n, shape.d, s, shape.family), lowered.compile()

    def solve(self, problem: Problem) -> Report:
        inputs = inputs_of(self.id, problem)
        expected = (problem.n, problem.d, problem.s, inputs.family)
        if getattr(self, "sizes", None) != expected:
            self.warm_up(Shape(n=problem.n, m=problem.m, d=problem.d, s=problem.s, family=inputs.family))
        x = jnp.array(scaled(inputs))
        scales = jnp.array([inputs.signal_scale**2, inputs.noise_scale**2])
        watch = Watch(problem, entries=self.chunk * problem.n * problem.n)
        size = sizes(problem.rhs)
        problem.x[:, ~problem.rhs.any(axis=0)] = 0.0
        r = problem.rhs
        if problem.x.any():
            problem.operator.charge(problem.n * problem.n)
            r = r - np.asarray(product(inputs.family, self.strip, x, scales, jnp.array(problem.x)))
        r = jnp.array(r)
        state = (jnp.array(problem.x), r, r + 0.0, (r * r).sum(0))

        def advance():
            return jax.block_until_ready(self.compiled(x, scales, state))

        def write(out: np.ndarray) -> None:
            out[...] = np.asarray(state[0])

        try:
            for iteration in range(0, self.max_iterations, self.chunk):
                norms = np.sqrt(np.asarray(state[3])) / size
                state = watch.before(iteration, norms, write, advance)
        except Finished as finished:
            return watch.report(finished.reason)
        write(problem.x)
        return watch.report("iterations")
