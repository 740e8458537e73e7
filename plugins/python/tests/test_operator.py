"""`Operator` and `Problem` over a stored matrix: products, budget, shapes, end."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gpbench_harness as gpb
from gpbench_harness import Problem, Stop
from gpbench_harness.dense import DenseSolve

N, S = 12, 3


def matrix() -> Any:
    root = np.random.default_rng(0).standard_normal((N, N))
    return root @ root.T + N * np.eye(N)


def problem(**options: Any) -> Problem:
    return Problem.from_dense(matrix(), np.random.default_rng(1).standard_normal((N, S)), **options)


def inducing() -> Problem:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((N, 2))
    return Problem.from_inputs(x, rng.standard_normal(N), basis=x[:5], max_epochs=1000.0)


def epochs(made: Problem) -> float:
    backend = made._link.use()
    assert isinstance(backend, DenseSolve)
    return backend.budget.epochs


V = np.random.default_rng(3).standard_normal((N, S))
LAYOUTS = [
    V,
    np.asfortranarray(V),
    np.repeat(V, 2, axis=0)[::2],
    V.tolist(),
    V.astype(np.float32).astype(float),
    np.asfortranarray(np.hstack([V, V]))[:, 2 : 2 + S],
]


@pytest.mark.parametrize("v", LAYOUTS)
def test_products_of_any_layout(v: Any) -> None:
    made = problem()
    np.testing.assert_allclose(made.operator @ v, matrix() @ np.asarray(v))
    rows = [3, 3, 0]
    np.testing.assert_allclose(made.operator.rows(rows, v), matrix()[rows] @ np.asarray(v))


def test_products_with_vectors_give_vectors() -> None:
    A = problem().operator
    v = V[:, 0]
    assert A.shape == (N, N) and A.dtype == np.float64
    assert (A @ v).shape == (N,)
    out = np.empty(N)
    assert A.apply(v, out=out) is out
    np.testing.assert_allclose(out, matrix() @ v)
    assert A.rows([1], v).shape == (1,)
    assert A.rows(np.zeros(N, dtype=bool), v).shape == (0,)
    y = np.ones(N)
    A.columns([1, 4], np.array([2.0, 3.0]), y)
    np.testing.assert_allclose(y, 1.0 + matrix()[:, [1, 4]] @ [2.0, 3.0])


def test_out_may_be_the_argument() -> None:
    v = np.asfortranarray(V)
    problem().operator.apply(v, out=v)
    np.testing.assert_allclose(v, matrix() @ V)


def test_rows_and_back() -> None:
    A, z = problem().operator, np.ones((N, S))
    rows = np.array([5, 2, 7])
    seen = []

    def halve(u: Any) -> None:
        seen.append(u.copy())
        u *= 0.5

    u = A.rows_and_back(rows, V, halve, z)
    product = matrix()[rows] @ V
    np.testing.assert_allclose(seen[0], product)
    np.testing.assert_allclose(u, 0.5 * product)
    np.testing.assert_allclose(z, 1.0 + matrix()[rows].T @ (0.5 * product))
    vector, w = np.zeros(N), V[:, 0]
    assert A.rows_and_back(slice(0, 4), w, None, vector).shape == (4,)
    np.testing.assert_allclose(vector, matrix()[:4].T @ (matrix()[:4] @ w))


def test_blocks_and_the_diagonal() -> None:
    A = problem().operator
    np.testing.assert_array_equal(A.block([1, 2], slice(0, 3)), matrix()[1:3, :3])
    np.testing.assert_array_equal(A.diagonal(), np.diag(matrix()))
    with pytest.raises(gpb.Error, match="no diagonal"):
        inducing().operator.diagonal()


def test_each_call_counts_its_entries() -> None:
    made = problem(max_epochs=100.0)
    A = made.operator
    total = 0.0
    for call, entries in [
        (lambda: A @ V, N * N),
        (lambda: A @ V[:, 0], N * N),
        (lambda: A.rows([1, 2], V), 2 * N),
        (lambda: A.rows_and_back([1, 2, 3], V, None, np.zeros((N, S))), 3 * N),
        (lambda: A.columns([1, 2], V[:2], np.zeros((N, S))), 2 * N),
        (lambda: A.block([1, 2], [3, 4, 5]), 6),
        (lambda: A.diagonal(), 0),
        (lambda: A.charge(17), 17),
        (lambda: A.mixed @ V, N * N),
    ]:
        call()
        total += entries / N**2
        assert epochs(made) == pytest.approx(total)


def test_the_budget() -> None:
    made = problem(max_epochs=2.5)
    A = made.operator
    A @ V
    A @ V
    untouched = np.ones((N, S))
    with pytest.raises(Stop):
        A.apply(V, out=untouched)
    assert (untouched == 1.0).all() and epochs(made) == 2.0
    A.rows(slice(0, N // 2), V)  # what still fits is done
    with pytest.raises(Stop):
        A.rows([0], V)
    with pytest.raises(Stop):
        made.observe(3, np.ones(S))
    with pytest.raises(Stop):
        A.charge(1)
    assert epochs(made) > 2.5  # what was used already is counted
    assert not issubclass(Stop, Exception)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: p.operator @ V[:5], ValueError, r"A is 12 x 12, so `v` must have 12 rows; its shape is 5 x 3"),
        (lambda p: p.operator @ np.zeros((2, 2, 2)), ValueError, "2 x 2 x 2"),
        (lambda p: p.operator.apply(V, out=np.zeros((N, 2))), ValueError, "must have the shape 12 x 3"),
        (lambda p: p.operator.apply(V, out=V.tolist()), TypeError, "a numpy array of float64, not a list"),
        (lambda p: p.operator.apply(V, out=np.zeros((N, S), np.float32)), TypeError, "not an array of float32"),
        (lambda p: p.operator.apply(V, out=p.rhs), ValueError, "read-only"),
        (lambda p: p.operator.rows([12], V), IndexError, "`rows` has the number 12; numbers are from 0 to 11"),
        (lambda p: p.operator.rows([-1], V), IndexError, "the number -1"),
        (lambda p: p.operator.rows([0.5], V), TypeError, "whole numbers, not float64"),
        (lambda p: p.operator.rows([[1]], V), ValueError, "one dimension"),
        (lambda p: p.operator.rows([True], V), ValueError, "a mask of length 1 over 12 rows"),
        (lambda p: p.operator.columns([1], V, p.x), ValueError, "1 columns are chosen, so `v` must have 1 rows"),
        (lambda p: p.operator.charge(-1), ValueError, "not negative"),
        (lambda p: p.operator.features(0, 3, V[:3]), ValueError, "an even number of features, not 3"),
        (lambda p: p.operator.features(-1, 2, V[:2]), ValueError, r"from 0 to 2\^64 - 1"),
        (lambda p: p.operator.inputs, gpb.Error, "from_inputs"),
        (lambda p: p.observe(-1), ValueError, "not negative"),
        (lambda p: p.observe(1, np.ones(2)), ValueError, "3 right-hand sides, so there must be 3 norms"),
        (lambda p: p.worst(np.ones(2)), ValueError, "3 norms"),
        (lambda p: p.note(1, "Name", 1.0), ValueError, "64 lower-case letters"),
        (lambda p: p.log("text", "loud"), ValueError, "use one of warning, info, debug"),
        (lambda p: setattr(p, "x", np.zeros((2, 2))), ValueError, "has the shape 12 x 3; what is assigned has 2 x 2"),
    ],
)  # fmt: skip
def test_errors_have_sizes(call: Any, error: type[Exception], text: str) -> None:
    made = problem()
    with pytest.raises(error, match=text):
        call(made)
    assert epochs(made) == 0.0


def test_inducing_points_and_features() -> None:
    made = inducing()
    A = made.operator
    assert (A.shape, made.m, made.d, made.n_targets) == ((N, 5), 5, 2, 1)
    inputs = A.inputs
    assert inputs.basis is not None and inputs.basis.shape == (5, 2)
    w = np.ones((4, 2))
    assert A.features(1, 4, w).shape == (5, 2)
    np.testing.assert_array_equal(A.features(1, 4, w), A.features(1, 4, w))
    assert A.features_transposed(1, 4, np.ones(5)).shape == (4,)
    linear = pytest.importorskip("scipy.sparse.linalg") and A.linear()
    dense = A @ np.eye(5)
    np.testing.assert_allclose(linear.T @ V, dense.T @ V)
    np.testing.assert_allclose(linear @ np.ones(5), dense @ np.ones(5))


def test_features_have_the_kernel_as_their_mean() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((6, 2))
    for family in ("rbf", "matern12", "matern32", "matern52"):
        made = Problem.from_inputs(x, np.ones(6), family=family, noise_scale=1e-3)
        phi = made.operator.features_transposed(1, 40_000, np.eye(6))
        np.testing.assert_allclose(phi.T @ phi, made.operator @ np.eye(6), atol=0.03)


def test_probes_are_prior_draws_plus_noise() -> None:
    made = Problem.from_inputs(np.eye(4), np.ones(4), probes=2)
    assert made.targets is not None and (made.s, made.n_targets) == (3, 1)
    np.testing.assert_allclose(made.rhs[:, 1:], made.targets.f + made.targets.noise)
    assert problem().targets is None


def test_kernels_of_all_families() -> None:
    x, r = np.array([[0.0], [1.0]]), 2.0  # a length scale of one half
    expected = {
        "rbf": np.exp(-(r**2) / 2),
        "matern12": np.exp(-r),
        "matern32": (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
        "matern52": (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
    }
    for family, value in expected.items():
        made = Problem.from_inputs(x, [1.0, 2.0], family=family, length_scale=0.5, signal_scale=3.0, noise_scale=2.0)
        np.testing.assert_allclose(made.operator @ np.eye(2), [[13.0, 9 * value], [9 * value, 13.0]])
    with pytest.raises(ValueError, match="`family` is 'cubic': use one of rbf"):
        Problem.from_inputs(x, [1.0, 2.0], family="cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`length_scale` must be one number or 1"):
        Problem.from_inputs(x, [1.0, 2.0], length_scale=[1.0, 2.0])


def test_right_hand_sides_cannot_be_written() -> None:
    made = problem()
    with pytest.raises(ValueError, match="read-only"):
        made.rhs[0, 0] = 1.0
    with pytest.raises(ValueError):
        made.rhs.flags.writeable = True


def test_x_is_written_in_place_and_is_read_only_in_prepare() -> None:
    made = problem()
    held = made.x
    made.x += 1.0
    made.x = 2.0 * np.ones((N, S))
    assert made.x is held and (held == 2.0).all()
    made._enter("prepare")
    with pytest.raises(ValueError, match="read-only"):
        made.x[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        made.x = V
    made._enter("solve")
    made.x[...] = V
    assert held[0, 0] == V[0, 0]


def test_norms_and_the_tolerance() -> None:
    made = problem(tolerance=0.3, n_targets=2)
    assert made.worst([0.1, 0.2, 0.3]) == 0.3 and made.converged([0.1, 0.2, 0.3])
    assert made.worst([0.1, 0.4, 0.3]) == 0.4 and not made.converged([0.1, 0.4, 0.3])
    assert np.isnan(made.worst([np.nan, 0.1, 0.1])) and np.isnan(made.worst([0.1, 0.1, np.nan]))
    assert not made.converged([0.1, 0.1, np.nan])
    probes = problem(tolerance=0.3, n_targets=0)
    assert probes.worst([0.1, 0.2, 0.6]) == pytest.approx(0.3)
    assert not problem(tolerance=0.0).converged([0.0, 0.0, 0.0])


def test_the_relative_residual() -> None:
    B = np.array(problem().rhs)
    B[:, 1] = 0.0
    made = Problem.from_dense(matrix(), B, x=np.ones((N, S)))
    made._enter("solve")
    residual, norms = made.relative_residual()
    expected = (B - matrix() @ np.ones((N, S)))[:, [0, 2]] / np.linalg.norm(B, axis=0)[[0, 2]]
    np.testing.assert_allclose(residual[:, [0, 2]], expected)
    assert (residual[:, 1] == 0.0).all() and (made.x[:, 1] == 0.0).all() and norms[1] == 0.0
    assert epochs(made) == 1.0
    fresh = problem()
    fresh.relative_residual()
    assert epochs(fresh) == 0.0  # zero needs no product


def test_an_ended_problem_refuses_every_call() -> None:
    made = problem()
    operator, state = made.operator, made.state
    made._end()
    for call in [
        lambda: operator @ V,
        lambda: made.observe(1),
        lambda: made.empty(2),
        lambda: state["a"],
        lambda: made.targets,
        lambda: made.kept.get("a"),
        lambda: operator.mixed @ V,
    ]:
        with pytest.raises(gpb.Ended, match="Problem has ended"):
            call()


def test_another_thread_may_not_call() -> None:
    made = problem()
    found: list[BaseException] = []

    def work() -> None:
        try:
            made.operator @ V
        except RuntimeError as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "another thread" in str(found[0])


def test_callbacks_may_not_call() -> None:
    made = problem()
    made._link.use().asks = True  # type: ignore[attr-defined]

    def nested(_: Any) -> None:
        made.operator @ V

    with pytest.raises(RuntimeError, match="inside the transform of `rows_and_back`"):
        made.operator.rows_and_back([1], V, nested, np.zeros((N, S)))
    with pytest.raises(RuntimeError, match="inside `iterate` of `observe`"):
        made.observe(1, None, nested)
    made.operator @ V  # it goes on


def test_state_and_kept_objects() -> None:
    first = problem()
    system = first._link.use().system  # type: ignore[attr-defined]
    first.state["bytes"] = b""
    first.state["array"] = np.arange(6, dtype=np.float64).reshape(2, 3)
    first.state["gone"] = b"x"
    del first.state["gone"]
    first.kept["factor"] = {"L": np.eye(3)}
    first.kept["none"] = None
    first._end()

    from gpbench_harness.dense import Limits

    second = system.problem(Limits())
    assert dict(second.state)["bytes"] == b"" and set(second.state) == {"bytes", "array"}
    np.testing.assert_array_equal(second.state["array"], np.arange(6.0).reshape(2, 3))
    with pytest.raises(KeyError):
        second.state["gone"]
    with pytest.raises(TypeError, match="bytes and numpy arrays, not a str"):
        second.state["text"] = "x"  # type: ignore[assignment]
    assert set(second.kept) == {"factor", "none"} and second.kept["none"] is None
    assert second.kept["factor"] is second.kept["factor"]
    assert second.kept.pop("factor")["L"].shape == (3, 3)
    assert "factor" not in second.kept and second.kept.get("factor") is None


def test_wrong_systems_are_refused() -> None:
    for A, B, text in [
        (np.eye(3), np.ones(2), "A is 3 x 3, so B must have 3 rows; its shape is 2 x 1"),
        (np.ones(0), np.ones(2), "not empty"),
        (np.ones((2, 2, 2)), np.ones(2), "2 x 2 x 2"),
    ]:
        with pytest.raises(ValueError, match=text):
            Problem.from_dense(A, B)
    with pytest.raises(ValueError, match="`n_targets` is 2, but B has 1 columns"):
        Problem.from_dense(np.eye(2), np.ones(2), n_targets=2)
    with pytest.raises(ValueError, match="`x` must have the shape 2 x 1"):
        Problem.from_dense(np.eye(2), np.ones(2), x=np.ones(3))


def test_reports() -> None:
    for arguments, text in [
        (("done", 1), "'done' is no reason: use one of converged, stopped"),
        (("converged", -1), "not negative"),
        (("converged", 1.5), "whole number"),
        (("converged", 1, None, {"A b": 1.0}), "no name of a number"),
        (("converged", 1, None, {"a": "x"}), "which is no number"),
    ]:
        with pytest.raises(ValueError, match=text):
            gpb.Report(*arguments)  # type: ignore[arg-type]
