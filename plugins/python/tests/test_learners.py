"""`Fit`, the loop around steps, and what crosses the interface as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import solvers

import gpbench_harness as gpb
from gpbench_harness import Fit, Stop
from gpbench_harness.dense_fit import DenseFit
from gpbench_harness.loop import Loop
from gpbench_harness.matrices import model_matrices, pack_state, unpack_state

X = np.random.default_rng(0).standard_normal((10, 2))
Y = np.arange(10.0)


def fit(**options: Any) -> Fit:
    return Fit.from_arrays(X, Y, **options)


def served(made: Fit) -> DenseFit:
    found = made._link.use()
    assert isinstance(found, DenseFit)
    return found


def test_what_a_fit_has() -> None:
    made = fit(length_scale=[1.0, 2.0], signal_scale=3.0, passes=5.0, trains_mean=True, mean=0.5)
    assert (made.n, made.d, made.passes, made.mean, made.trains_mean) == (10, 2, 5.0, 0.5, True)
    assert made.family == "matern32" and made.inputs.signal_scale == 3.0 and made.network is None
    np.testing.assert_array_equal(made.inputs.length_scale, [1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        made.x[0, 0] = 1.0
    network = gpb.Network((4, 3))
    made = fit(network=network, family="linear")
    assert made.network == network and made.inputs.length_scale.shape == (3,)


def test_batches() -> None:
    made = fit(passes=2.0)
    first = [made.batch(4) for _ in range(3)]
    assert [len(rows) for rows in first] == [4, 4, 2]
    assert sorted(np.concatenate(first)) == list(range(10))
    second = [made.batch(4) for _ in range(3)]
    assert sorted(np.concatenate(second)) == list(range(10))
    assert any((a != b).any() for a, b in zip(first, second))
    with pytest.raises(Stop):
        made.batch(4)
    again = fit(passes=2.0)
    np.testing.assert_array_equal(again.batch(4), first[0])
    assert len(fit().batch(100)) == 10
    assert first[0].dtype == np.int64


def test_streams() -> None:
    made = fit(passes=1.0)
    same = [made.batch(10, 1, same_each_pass=True) for _ in range(2)]
    np.testing.assert_array_equal(same[0], same[1])
    drawn = [made.batch(8, 2, independent=True) for _ in range(3)]
    assert all(len(set(rows)) == 8 for rows in drawn)
    assert served(made).passed == 0 and served(made).rows == 44


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda f: f.batch(0), "`size` must be a whole number from 1, not 0"),
        (lambda f: f.batch(1, 70000), "from 0 to 65535, not 70000"),
        (lambda f: f.batch(1, same_each_pass=True, independent=True), "cannot be both"),
        (lambda f: f.charge(rows=-1), "`rows` must be a whole number that is not negative"),
        (lambda f: f.note("A", 1.0), "no name of a number"),
        (lambda f: fit(noise_scale=0.0), "`noise_scale` must be positive and finite"),
        (lambda f: Fit.from_arrays(X, Y[:3]), "x has 10 rows; the shape of y is 3"),
        (lambda f: fit(basis=np.ones((2, 3))), "`basis` has 3 inputs, and x 2"),
    ],
)
def test_errors_of_a_fit(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(fit())


def test_charges_do_not_interrupt() -> None:
    made = fit()
    made.charge(rows=3, entries=9, features=1)
    assert (served(made).rows, served(made).entries, served(made).features) == (3, 9, 1)

    def late(*_: int) -> None:
        raise Stop

    served(made).charge = late  # type: ignore[method-assign]
    made.charge(rows=1)
    assert made.is_stopped


def test_an_ended_fit() -> None:
    made = fit()
    made._end()
    with pytest.raises(gpb.Ended, match="Fit has ended"):
        made.batch(1)


class Scripted(gpb.Learner):
    """Returns objectives, or raises, as it is told"""

    id = "scripted"

    def __init__(self) -> None:
        self.script: list[Any] = []
        self.end: bool | str = False

    def begin(self, fit: Fit) -> None: ...

    def step(self, fit: Fit) -> float:
        fit.note("given", 1.0)
        value = self.script.pop(0)
        if isinstance(value, BaseException):
            raise value
        return float(value)

    def finished(self) -> Any:
        return self.end if not self.script else False

    def numbers(self) -> dict[str, float]:
        return {"left": float(len(self.script))}

    def predict(self, x: Any) -> Any:
        return np.zeros((len(x), 1)), np.ones(len(x))


@pytest.mark.parametrize(
    ("script", "end", "reason", "steps"),
    [
        ([3.0, 2.0], True, "converged", 2),
        ([3.0], "stagnated", "stagnated", 1),
        ([3.0, float("nan"), 1.0], True, "diverged", 1),
        ([3.0, np.linalg.LinAlgError("singular")], True, "diverged", 1),
        ([3.0, 2.0, Stop()], True, "stopped", 2),
    ],
)
def test_how_a_fit_ends(script: list[Any], end: Any, reason: str, steps: int) -> None:
    learner = Scripted()
    learner.script, learner.end = script, end
    loop, made = Loop(learner), fit()
    loop.begin(made)
    report = loop.run(made)
    assert (report.reason, report.iterations) == (reason, steps)
    assert served(made).objectives == [3.0, 2.0][:steps]
    assert [step for step, _, _ in served(made).notes][:2] == [1, 2][: len(served(made).notes)]
    assert "left" in report.numbers
    if reason == "diverged":
        assert loop.run(made).reason == "diverged"
    mean, _ = loop.predict(X)
    assert mean.shape == (10,)


def test_a_wrong_end_is_an_error() -> None:
    learner = Scripted()
    learner.end = "done"
    with pytest.raises(ValueError, match="`finished` returned 'done'"):
        Loop(learner).run(fit())


def test_states_of_any_type_come_back() -> None:
    state = {
        "layers.0.weight": np.random.default_rng(1).standard_normal((3, 2)),
        "vector": np.array([1.0, np.nan, np.inf]),
        "scalar": 0.1,
        "count": 2**62 + 1,
        "flag": True,
        "bytes": np.arange(7, dtype=np.uint8),
        "single": np.float32([[[1.5]], [[2.5]]]),
        "words": np.array([2**64 - 1], dtype=np.uint64),
        "empty": np.zeros((0, 3)),
    }
    matrices = pack_state(state)
    for name, matrix in matrices.items():
        assert matrix.ndim == 2 and matrix.dtype == np.float64 and len(name) <= 64
    back = unpack_state(matrices.get)
    assert list(back) == list(state)
    for name, value in state.items():
        expected = np.asarray(value)
        assert back[name].dtype == expected.dtype and back[name].shape == expected.shape, name
        np.testing.assert_array_equal(back[name], expected)
    with pytest.raises(TypeError, match="`a` of the saved state is <U1"):
        pack_state({"a": "x"})
    with pytest.raises(ValueError, match="gpbench_harness did not save it"):
        unpack_state({}.get)


def test_a_state_of_other_data_is_refused() -> None:
    loop, made = Loop(solvers.Mean()), fit(passes=1.0)
    loop.begin(made)
    loop.run(made)
    matrices = loop.save()
    Loop(solvers.Mean()).load(fit(), matrices.get)
    with pytest.raises(ValueError, match="other data or other parameters"):
        Loop(solvers.Mean()).load(Fit.from_arrays(X, Y + 1.0), matrices.get)
    other = solvers.Mean()
    other.batch = 3
    with pytest.raises(ValueError, match="other data or other parameters"):
        Loop(other).load(fit(), matrices.get)
    assert Loop(solvers.Mean()).saves and not Loop(Scripted()).saves


def test_models() -> None:
    scales = {"signal_scale": 1.0, "noise_scale": np.float32(0.5), "length_scale": np.ones(3)}
    matrices = model_matrices({"kind": "gp", **scales})
    assert {name: matrix.shape for name, matrix in matrices.items()} == {
        "kind": (1, 1),
        "signal_scale": (1, 1),
        "noise_scale": (1, 1),
        "length_scale": (3, 1),
    }
    assert matrices["kind"][0, 0] == 1.0
    experts = model_matrices({"kind": "experts", "weight": [1.0, 2.0], "length_scale": np.ones((3, 2))})
    assert experts["weight"].shape == (1, 2) and experts["kind"][0, 0] == 6.0
    neighbours = model_matrices({"kind": "neighbours", **scales, "neighbours": 30})
    assert neighbours["neighbours"].shape == (1, 1) and neighbours["kind"][0, 0] == 7.0
    actions = model_matrices({"kind": "actions", **scales, "action": [0, 1, 1], "entry": np.ones(3)})
    assert actions["action"].shape == (3, 1) and actions["kind"][0, 0] == 8.0
    for model, error, text in [
        ({}, ValueError, 'has no "kind": use one of gp, inducing'),
        ({"kind": "forest"}, ValueError, "has the kind 'forest'"),
        ({"kind": 1, "A": 1.0}, ValueError, "no name of a number"),
        ({"kind": 1, "a": "x"}, TypeError, "`a` of the model is a str"),
        ({"kind": 1, "a": np.ones((1, 1, 1))}, ValueError, "has 3 dimensions"),
        (3, TypeError, "`model` returned a int"),
    ]:
        with pytest.raises(error, match=text):
            model_matrices(model)  # type: ignore[arg-type]
