"""Solvers that use every request, and arrays in every way."""

import numpy as np

from gpbench_harness import Report, Solver, Stop

KEPT = []


class Everything(Solver):
    """Uses every call of a problem and compares it with the matrix that the products give"""

    id = "everything"

    def warm_up(self, shape):
        self.shape = shape

    def prepare(self, problem):
        assert not problem.x.flags.writeable and not problem.rhs.flags.writeable
        try:
            problem.rhs.flags.writeable = True
        except ValueError:
            pass
        else:
            raise AssertionError("the right-hand sides can be made writeable")
        self.matrix = np.array(problem.operator @ np.eye(problem.m))

    def solve(self, problem):
        a, operator = self.matrix, problem.operator
        n, m, s = problem.n, problem.m, problem.s
        random = np.random.default_rng(1)
        rows = random.permutation(n)[: n // 2]
        near = np.testing.assert_allclose

        def close(found, expected):
            near(found, expected, rtol=1e-12, atol=1e-12)

        layouts = [
            random.normal(size=(m, s)),
            np.asfortranarray(random.normal(size=(m, s))),
            random.normal(size=(m, 2 * s))[:, ::2],
            random.normal(size=(2 * m, s))[::2],
            random.normal(size=(m, s)).astype(np.float32),
        ]
        v = problem.empty(m, s + 2)
        v[...] = random.normal(size=v.shape)
        layouts += [v[:, :s], v[:, 1 : s + 1], v[:, ::2][:, :1], v]
        for x in layouts:
            close(operator @ x, a @ x)
            close(operator.rows(rows, x), a[rows] @ x)
            close(operator.mixed @ x, a @ x) if operator.mixed is operator else near(
                operator.mixed @ x, a @ x, rtol=1e-3, atol=1e-3
            )
        close(operator @ v[:, 0], a @ v[:, 0])
        out = np.zeros((n, s))  # row-major: written by a copy
        operator.apply(v[:, :s], out=out)
        close(out, a @ v[:, :s])
        both = problem.empty(m, 2 * s)
        both[...] = random.normal(size=both.shape)
        expected = a @ both[:, :s]
        operator.apply(both[:, :s], out=both[:, s:])
        close(both[:, s:], expected)
        if n == m:
            expected = a @ v
            operator.apply(v, out=v)  # input and output are the same array
            close(v, expected)

        z = np.ones((m, s))
        x = random.normal(size=(m, s))
        seen = []

        def transform(u):
            seen.append(u.copy())
            u *= 2.0

        u = operator.rows_and_back(rows, x, transform, z)
        close(seen[0], a[rows] @ x)
        close(u, 2.0 * a[rows] @ x)
        close(z, 1.0 + a[rows].T @ u)
        y = np.ones((n, s))
        operator.columns(rows, x[rows], y)
        close(y, 1.0 + a[:, rows] @ x[rows])
        close(operator.block(rows, rows[:3]), a[np.ix_(rows, rows[:3])])
        close(operator.diagonal(), np.diag(a))
        operator.charge(5)

        inputs = operator.inputs
        assert inputs.x.shape == (n, problem.d) and not inputs.x.flags.writeable
        assert inputs.family == "matern32" and inputs.length_scale.shape == (problem.d,)
        targets = problem.targets
        close(targets.f + targets.noise, problem.rhs[:, problem.n_targets :])
        w = random.normal(size=(4, s))
        phi = operator.features(7, 4, w)
        back = operator.features_transposed(7, 4, phi)
        assert phi.shape == (m, s) and back.shape == (4, s)
        close((phi * phi).sum(), (back * w).sum())

        problem.note(3, "variance", 0.5)
        problem.note(3, "nothing", np.nan)
        problem.log("a line", level="debug")
        problem.state["a"] = np.arange(3)
        problem.state["b"] = b"\x00\x01"
        assert problem.state["b"] == b"\x00\x01" and list(problem.state["a"]) == [0, 1, 2]
        assert "c" not in problem.state
        calls = problem.kept.get("calls", 0)
        problem.kept["calls"] = calls + 1

        iterates = []

        def iterate(into):
            iterates.append(1)
            into[...] = 3.0

        problem.observe(1, np.ones(s), iterate)
        problem.x = np.full((m, s), 4.0)
        problem.observe(2, np.ones(s))
        problem.x[...] = np.linalg.solve(a, problem.rhs)
        return Report(
            "converged",
            2,
            np.zeros(s),
            {"calls": calls, "iterates": len(iterates), "d": self.shape.d if hasattr(self, "shape") else -1},
        )


class Keeper(Solver):
    """Keeps views and a problem beyond the solve, and writes to them in the next one"""

    id = "keeper"

    def solve(self, problem):
        from gpbench_harness import Ended

        for view in KEPT:
            view[...] = 1e300
        if hasattr(self, "old"):
            try:
                self.old.operator @ problem.rhs
            except Ended:
                pass
            else:
                raise AssertionError("an ended problem answers")
        self.old = problem
        product = problem.operator @ problem.rhs
        KEPT.append(problem.x[1:, :])
        KEPT.append(product[:, :1].T)
        problem.x[...] = product
        return Report("iterations", 1)


class Stopper(Solver):
    """Never ends by itself, and keeps its best iterate where it is told to stop"""

    id = "stopper"

    def solve(self, problem):
        best = np.zeros((problem.m, problem.s))
        iteration = 0
        try:
            while True:
                best += 1.0
                iteration += 1
                problem.operator @ problem.rhs
                problem.observe(iteration, np.full(problem.s, 1.0 / iteration), lambda x: np.copyto(x, best))
        except Stop:
            problem.x[...] = best
            raise
