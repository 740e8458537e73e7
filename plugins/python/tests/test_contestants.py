"""Solvers and learners of other libraries: their answers, and the entries that they charge.

A test whose packages are not installed is skipped, and says which.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"):
    os.environ.setdefault(variable, "1")  # systems are small; pools of threads would wait for each other

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from conftest import described  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "contestants")]

from gpbench_harness import Fit, Learner, Problem, Shape, Solver, Stop, check  # noqa: E402
from gpbench_harness.dense import DenseSolve, DenseSystem, Limits  # noqa: E402
from gpbench_harness.kernels import kernel  # noqa: E402
from gpbench_harness.loop import Loop  # noqa: E402

N, D, PROBES, RANK = 300, 3, 4, 20
FAMILIES = ("rbf", "matern12", "matern32", "matern52")
GPYTORCH = ("torch", "gpytorch", "linear_operator")

# File, packages, whether it uses the harness's products, parameters.
SOLVERS = {
    "scipy_cg": (("scipy",), True, {}),
    "scipy_minres": (("scipy",), True, {}),
    "gpytorch_cg": (GPYTORCH, True, {"rank": RANK}),
    "gpytorch_cg_own": (GPYTORCH, False, {"rank": RANK}),
    "gpytorch_cholesky": (GPYTORCH, False, {}),
    "sklearn_gpr": (("sklearn",), False, {}),
    "jax_cg": (("jax",), False, {}),
    "higp_cg": (("higp_cext",), False, {"rank": RANK}),
    "keops_cg": (("torch", "pykeops"), False, {}),
    "cola_cg": (("torch", "cola"), True, {}),
    "askotch_numpy": (("numpy",), False, {"block_size": 60, "rank": RANK}),
}
ITERATIVE = [name for name in SOLVERS if name not in ("gpytorch_cholesky", "sklearn_gpr")]
BY_BLOCKS = ("askotch_numpy",)  # their products are not of the whole matrix
LEARNERS = {"gpytorch_svgp": {"batch": 60}, "gpytorch_sgpr": {"points": 25}, "gpytorch_exact": {}}


@functools.cache
def absent(name: str) -> str | None:
    """What a contestant needs and is not installed"""
    return described(ROOT / "contestants" / f"{name}.py")["absent"]


def load(name: str, packages: tuple[str, ...], base: type):
    """The module of a contestant, and its class"""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{name}: {package} is not installed (benchmarks/libraries-requirements.txt)")
    if absent(name):
        pytest.skip(f"{name}: {absent(name)}")
    module = importlib.import_module(name)
    found = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, base) and c is not base]
    assert len(found) == 1
    return module, found[0]


def system(family: str = "matern32", **changes) -> DenseSystem:
    rng = np.random.default_rng(7)
    x = rng.uniform(size=(N, D))
    y = np.sin(6.0 * x[:, 0]) + x[:, 1] + 0.1 * rng.standard_normal(N)
    scales = {"length_scale": [0.3, 0.5, 0.8], "signal_scale": 1.3, "noise_scale": 0.2, "probes": PROBES}
    return DenseSystem.from_inputs(x, y, family=family, **{**scales, **changes})


def backend_of(given: DenseSystem, max_epochs: float = 1e4, tolerance: float = 0.01, **options) -> DenseSolve:
    return DenseSolve(given, Limits(tolerance, max_epochs, 3, 2), **options)


def run(solver: Solver, backend: DenseSolve):
    """Solves as the harness does: what `prepare` was given has ended before `solve`."""
    family = backend.system.inputs.family
    solver.warm_up(Shape(n=N, m=N, d=D, s=backend.s, family=family, threads=2))
    report = None
    for call in ("prepare", "solve"):
        problem = Problem(backend)
        problem._enter(call)
        try:
            report = getattr(solver, call)(problem)
        except Stop:
            return problem._stopped()
        finally:
            problem._end()
    return report


def make(name: str, base: type = Solver):
    packages, own, params = SOLVERS[name]
    module, found = load(name, packages, base)
    made = found()
    made._configure(params)
    return module, made


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", SOLVERS)
def test_reaches_the_tolerance(name, family):
    module, solver = make(name)
    if name == "higp_cg" and family == "matern12":
        with pytest.raises(ValueError, match="has no kernel 'matern12'"):
            run(solver, backend_of(system(family)))
        return
    given = system(family)
    backend = backend_of(given)
    report = run(solver, backend)
    assert report.reason == "converged"
    norms = given.residuals(backend.x)
    assert norms[0] <= 0.01 and norms[1:].mean() <= 0.01
    if report.residuals is not None:
        np.testing.assert_allclose(report.residuals, norms, rtol=1e-4, atol=1e-10)
    expected = np.linalg.solve(given.A, given.B)
    error = expected - backend.x
    energy = np.sqrt(np.einsum("ij,ij->j", error, given.A @ error) / np.einsum("ij,ij->j", expected, given.B))
    assert energy.max() < 0.1


@pytest.mark.parametrize("name", SOLVERS)
def test_small_tolerance_gives_the_solution_of_a_cholesky_factor(name):
    _, solver = make(name)
    given = system()
    backend = backend_of(given, tolerance=1e-7)
    run(solver, backend)
    factor = np.linalg.cholesky(given.A)
    expected = np.linalg.solve(factor.T, np.linalg.solve(factor, given.B))
    np.testing.assert_allclose(backend.x, expected, atol=1e-4 * np.abs(expected).max())


def count_products(name: str, module, solver, monkeypatch) -> list[int]:
    """Counts the products that the library computes, by its own functions: not by what is charged."""
    calls: list[int] = []

    def counted(function):
        def call(*arguments, **options):
            calls.append(1)
            return function(*arguments, **options)

        return call

    if name == "gpytorch_cg_own":
        from linear_operator.operators import AddedDiagLinearOperator as matrix

        monkeypatch.setattr(matrix, "_matmul", counted(matrix._matmul))
    elif name == "gpytorch_cholesky":
        monkeypatch.setattr(module.torch.linalg, "cholesky_ex", counted(module.torch.linalg.cholesky_ex))
    elif name == "sklearn_gpr":
        monkeypatch.setattr(module.GaussianProcessRegressor, "fit", counted(module.GaussianProcessRegressor.fit))
    elif name == "jax_cg":
        warm_up = solver.warm_up

        def compiling(shape):
            warm_up(shape)
            solver.compiled = counted(solver.compiled)

        monkeypatch.setattr(solver, "warm_up", compiling)
    elif name == "higp_cg":
        multiply = solver.multiply

        def multiplying(factor, v):
            if factor is solver.matrix:
                calls.append(1)
            return multiply(factor, v)

        monkeypatch.setattr(solver, "multiply", multiplying)
    elif name == "keops_cg":
        monkeypatch.setattr(module.LazyTensor, "__matmul__", counted(module.LazyTensor.__matmul__))
    else:
        raise AssertionError(f"no count of the products of {name}")
    return calls


@pytest.mark.parametrize("name", [name for name in SOLVERS if not SOLVERS[name][1] and name not in BY_BLOCKS])
def test_own_products_are_charged(name, monkeypatch):
    module, solver = make(name)
    backend = backend_of(system())
    calls = count_products(name, module, solver, monkeypatch)
    run(solver, backend)
    if name == "keops_cg":
        calls.pop()  # that of `warm_up`, which has no data
    setup = RANK * N if "rank" in SOLVERS[name][2] else 0
    assert len(calls) >= 1
    assert backend.budget.charged == len(calls) * N * N + setup
    assert backend.budget.used == backend.budget.charged


def test_askotch_charges_a_strip_and_a_block_a_step(monkeypatch):
    module, solver = make("askotch_numpy")
    strip, sizes = module.Matrix.strip, []

    def counted(self, rows):
        sizes.append(len(rows))
        return strip(self, rows)

    monkeypatch.setattr(module.Matrix, "strip", counted)
    backend = backend_of(system())
    run(solver, backend)
    assert set(sizes) == {60}
    assert backend.budget.used == backend.budget.charged == len(sizes) * (60 * N + 60 * 60)


def test_askotch_takes_the_published_steps():
    """The residual form against the published one, which computes its gradients by products"""
    module, _ = make("askotch_numpy")
    rng = np.random.default_rng(2)
    root = rng.standard_normal((40, 40))
    matrix, rhs = root @ root.T + np.eye(40), rng.standard_normal((40, 3))
    mu, blocks = 0.05, 4.0
    beta, gamma = 1.0 - (mu / blocks) ** 0.5, 1.0 / (mu * blocks) ** 0.5
    alpha = 1.0 / (1.0 + gamma * blocks)
    iterates = module.Iterates(np.zeros((40, 3)), rhs.copy(), mu, blocks)
    w = v = z = np.zeros((40, 3))
    for _ in range(6):
        rows = np.sort(rng.choice(40, 10, replace=False))
        gradient = rhs[rows] - matrix[rows] @ z
        np.testing.assert_allclose(iterates.residual_z[rows], gradient, atol=1e-10)
        change = np.linalg.solve(matrix[np.ix_(rows, rows)], gradient)
        iterates.step(rows, matrix[rows], change)
        w, v = z.copy(), beta * v + (1.0 - beta) * z
        w[rows] += change
        v[rows] += gamma * change
        z = alpha * v + (1.0 - alpha) * w
        np.testing.assert_allclose(iterates.w, w, atol=1e-10)
        np.testing.assert_allclose(iterates.residual, rhs - matrix @ w, atol=1e-10)


@pytest.mark.parametrize("name", [name for name in SOLVERS if SOLVERS[name][1]])
def test_the_harness_counts_its_own_products(name):
    _, solver = make(name)
    backend = backend_of(system())
    run(solver, backend)
    assert backend.budget.charged == 0
    assert backend.budget.used >= N * N


@pytest.mark.parametrize("name", ITERATIVE)
def test_observes_true_norms_and_iterates(name):
    _, solver = make(name)
    given = system()
    backend = backend_of(given, asks=True)
    run(solver, backend)
    assert len(backend.observed) == len(backend.iterates) >= 3
    for observation, iterate in zip(backend.observed, backend.iterates):
        np.testing.assert_allclose(given.residuals(iterate), observation.norms, rtol=1e-4, atol=1e-8)
    iterations = [observation.iteration for observation in backend.observed]
    assert iterations == sorted(iterations)


@pytest.mark.parametrize("name", ITERATIVE)
def test_ends_with_the_budget(name):
    _, solver = make(name)
    given = system("matern12")
    if name == "higp_cg":
        given = system()
    backend = backend_of(given, max_epochs=4.5, tolerance=1e-9)
    report = run(solver, backend)
    assert report.reason == "stopped"
    # A charge is counted even where it is refused.
    assert backend.budget.used <= 5.5 * N * N
    np.testing.assert_allclose(given.residuals(backend.x), report.residuals, rtol=1e-4, atol=1e-8)
    assert backend.x.any()


@pytest.mark.parametrize("name", ITERATIVE)
def test_columns_of_zeros_have_zero_solutions(name):
    _, solver = make(name)
    given = system()
    rhs = np.array(given.B)
    rhs[:, 2] = 0.0
    given.B = np.asfortranarray(rhs)
    backend = backend_of(given)
    report = run(solver, backend)
    assert report.reason == "converged"
    assert not backend.x[:, 2].any()


@pytest.mark.parametrize("name", SOLVERS)
def test_solves_again_after_one_prepare(name):
    _, solver = make(name)
    given = system()
    run(solver, backend_of(given))
    backend = backend_of(given)
    problem = Problem(backend)
    problem._enter("solve")
    report = solver.solve(problem)
    assert report.reason == "converged"
    assert given.residuals(backend.x).max() < 0.05


@pytest.mark.parametrize("name", [name for name in SOLVERS if not SOLVERS[name][1]])
def test_inducing_points_are_refused(name):
    _, solver = make(name)
    given = system(basis=np.random.default_rng(1).uniform(size=(20, D)))
    with pytest.raises(ValueError, match="square systems only"):
        run(solver, backend_of(given))


@pytest.mark.parametrize("name", [*SOLVERS, *LEARNERS])
def test_keeps_the_rules_of_the_package(name):
    packages, base = (SOLVERS[name][0], Solver) if name in SOLVERS else (GPYTORCH, Learner)
    _, found = load(name, packages, base)
    result = check(found)
    assert result.passed, str(result)


# Learners -----------------------------------------------------------------------------------------------------------


def data():
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(150, D))
    y = np.sin(6.0 * x[:, 0]) + x[:, 1] + 0.1 * rng.standard_normal(150)
    return x, y - y.mean(), rng.uniform(size=(20, D))


def begin(name: str, load_only: bool = False, **options):
    _, found = load(name, GPYTORCH, Learner)
    learner = found()
    learner._configure(LEARNERS[name])
    x, y, _ = data()
    fit = Fit.from_arrays(x, y, length_scale=0.5, noise_scale=0.3, passes=8, **options)
    loop = Loop(learner)
    if not load_only:
        loop.begin(fit)
    return loop, fit, fit._link.use()


def judge(model, family: str, rows: np.ndarray):
    """Means and variances of y by the definition of the model's kind"""
    x, y, _ = data()
    model = {name: value.ravel() if 1 in value.shape else value for name, value in model.items()}
    length, (signal,), (noise,), (mean,) = (model[k] for k in ("length_scale", "signal_scale", "noise_scale", "mean"))

    def k(a, b):
        return signal**2 * kernel(family, a, b, length)

    if model["kind"][0] == 1:
        cross = k(x, rows)
        weights = np.linalg.solve(k(x, x) + noise**2 * np.eye(len(x)), cross)
        return mean + weights.T @ (y - mean), signal**2 - (cross * weights).sum(0) + noise**2
    z = model["z"]
    factor = np.linalg.cholesky(k(z, z) + model["jitter"][0] * np.eye(len(z)))
    a = np.linalg.solve(factor, k(z, rows))
    assert not np.triu(model["q_root"], 1).any()
    variance = signal**2 - (a * a).sum(0) + ((model["q_root"].T @ a) ** 2).sum(0)
    return mean + a.T @ model["q_mean"], variance + noise**2


OPTIONS = ({}, {"basis": data()[0][:20] + 0.01}, {"trains_mean": True, "shared_length_scale": True})


@pytest.mark.parametrize("options", OPTIONS, ids=("plain", "points", "mean"))
@pytest.mark.parametrize("family", ("rbf", "matern32"))
@pytest.mark.parametrize("name", LEARNERS)
def test_predicts_as_its_model(name, family, options):
    loop, fit, _ = begin(name, family=family, **options)
    rows = data()[2]
    for _ in range(2):  # before the first step, and after the last
        mean, variance = loop.predict(rows)
        expected = judge(loop.model(), family, rows)
        np.testing.assert_allclose(mean, expected[0], atol=1e-7)
        np.testing.assert_allclose(variance, expected[1], rtol=1e-7)
        alone = loop.predict(rows[3:4])
        np.testing.assert_allclose([alone[0][0], alone[1][0]], [mean[3], variance[3]], rtol=1e-9)
        assert [part.shape for part in loop.predict(rows[:0])] == [(0,), (0,)]
        assert loop.run(fit).reason == "stopped"
    if options.get("shared_length_scale"):
        assert len(set(loop.model()["length_scale"].ravel())) == 1
    assert (float(loop.model()["mean"].item()) != 0.0) == bool(options.get("trains_mean"))


@pytest.mark.parametrize("name", LEARNERS)
def test_improves(name):
    loop, fit, backend = begin(name)
    loop.run(fit)
    assert backend.objectives[-1] < backend.objectives[0]


@pytest.mark.parametrize("name", LEARNERS)
def test_charges_each_step(name):
    loop, fit, backend = begin(name, basis=data()[0][:20])
    loop.run(fit)
    sizes = [len(rows) for _, rows in backend.batches]
    each = {"gpytorch_exact": lambda b: b * b}.get(name, lambda b: 20 * b + 20 * 20)
    assert backend.entries == sum(each(size) for size in sizes)
    assert backend.rows == 8 * 150


@pytest.mark.parametrize("name", LEARNERS)
def test_goes_on_bit_by_bit(name):
    options = {"trains_mean": True}
    whole, fit, recorded = begin(name, **options)
    recorded.pause_each_step = True
    for _ in range(4):
        recorded.resume()
        whole.run(fit)
    saved = whole.save()
    recorded.pause_each_step = False
    recorded.resume()
    whole.run(fit)
    resumed, fit, backend = begin(name, load_only=True, **options)
    backend.positions, backend.passed = positions_after(recorded, 4)
    backend.objectives = recorded.objectives[:4]
    resumed.load(fit, saved.get)
    resumed.run(fit)
    assert backend.objectives == recorded.objectives
    for name, value in whole.model().items():
        np.testing.assert_array_equal(value, resumed.model()[name])


def positions_after(backend, steps: int):
    """Where stream 0 stands after so many of the recorded batches"""
    rows = sum(len(rows) for stream, rows in [b for b in backend.batches if b[0] == 0][:steps])
    return {0: divmod(rows, 150)}, rows


@pytest.mark.parametrize("name", ["gpytorch_cg_own", "gpytorch_cholesky"])
def test_a_gpu_that_is_not_there_is_one_line(name):
    _, solver = make(name)
    import torch

    if torch.cuda.is_available():
        pytest.skip("torch sees a GPU")
    solver._configure({**SOLVERS[name][2], "device": "cuda"})
    with pytest.raises(ValueError, match=r'^device = "cuda": .+$'):
        run(solver, backend_of(system()))


# GPBoost: one step is its whole fit ------------------------------------------------------------------------------------


def nearest_judge(model, family: str, rows: np.ndarray):
    """Means and variances of y by the definition of the kind `neighbours`"""
    x, y, _ = data()
    length, signal, noise, mean, count = (
        model[k].ravel() for k in ("length_scale", "signal_scale", "noise_scale", "mean", "neighbours")
    )
    means, variances = [], []
    for row in rows:
        near = np.argsort((((x - row) / length) ** 2).sum(1), kind="stable")[: int(count[0])]
        cross = signal**2 * kernel(family, x[near], row[np.newaxis], length)[:, 0]
        gram = signal**2 * kernel(family, x[near], x[near], length) + noise**2 * np.eye(len(near))
        weights = np.linalg.solve(gram, cross)
        means.append(mean[0] + weights @ (y[near] - mean[0]))
        variances.append(signal[0] ** 2 - weights @ cross + noise[0] ** 2)
    return np.array(means), np.array(variances)


@pytest.mark.parametrize("options", [{}, {"trains_mean": True, "shared_length_scale": True}])
@pytest.mark.parametrize("family", FAMILIES)
def test_gpboost_predicts_as_its_model(family, options):
    _, found = load("gpboost_vecchia", ("gpboost",), Learner)
    learner = found()
    learner._configure({"neighbours": 15})
    x, y, rows = data()
    options = {"length_scale": 0.5, "noise_scale": 0.3, "passes": 30, "family": family, **options}
    fit = Fit.from_arrays(x, y, **options)
    loop = Loop(learner)
    loop.begin(fit)
    for _ in range(2):  # before the fit, and after it
        mean, variance = loop.predict(rows)
        expected = nearest_judge(loop.model(), family, rows)
        np.testing.assert_allclose(mean, expected[0], atol=1e-9)
        np.testing.assert_allclose(variance, expected[1], rtol=1e-9)
        assert loop.run(fit).reason == "converged"
    backend = fit._link.use()
    assert len(backend.objectives) == 1 and backend.rows >= 2 * 150
    assert backend.entries == (backend.rows - 150) * 16**2
    resumed = Loop(found())
    resumed.learner._configure({"neighbours": 15})
    resumed.load(Fit.from_arrays(x, y, **options), loop.save().get)
    for name, value in loop.model().items():
        np.testing.assert_array_equal(value, resumed.model()[name])


def test_gpboost_keeps_the_rules():
    result = check(load("gpboost_vecchia", ("gpboost",), Learner)[1])
    assert result.passed, str(result)
