"""The rules that `check` applies to a learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array
from .check import CheckResult
from .dense_fit import DenseFit
from .errors import Stop
from .fit import Fit
from .inputs import Network
from .kernels import FAMILIES, kernel
from .learner import Learner
from .loop import Loop
from .rules import Failed, Skipped, apply, demand_bytes, description, shape_of

__all__ = ["check_learner"]

# Points at which predictions are compared.
_POINTS = 17


def small_fit(method: type[Learner], passes: float = 4.0, seed: int = 1) -> Fit:
    """A fit of 120 rows with what the learner's capabilities ask for."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((120, 2))
    y = np.sin(2.0 * x[:, 0]) + 0.3 * rng.standard_normal(120)
    has = set(method.capabilities)
    network = None
    if not has & {"kernel", "finite"} and "network" in has:
        network = Network((8, 3))
    return Fit.from_arrays(
        x,
        y - y.mean(),
        family="rbf",
        length_scale=1.0,
        noise_scale=0.5,
        basis=x[:10] if "inducing" in has else None,
        network=network,
        passes=passes,
        seed=seed,
    )


def backend(fit: Fit) -> DenseFit:
    """What serves a fit, which must be one of `Fit.from_arrays`."""
    found = fit._link.use()
    if not isinstance(found, DenseFit):
        raise TypeError("this fit is the harness's: `check` takes one of `Fit.from_arrays`")
    return found


def check_learner(method: type[Learner], fit: Fit | None, params: dict[str, Any]) -> CheckResult:
    """See `check`."""
    rules = LearnerRules(method, params, fit)
    listed = {
        "description": lambda: description(method),
        "steps": rules.steps,
        "passes": rules.passes,
        "predictions": rules.predictions,
        "one row": rules.one_row,
        "model": rules.model,
        "pauses": rules.pauses,
        "save": rules.save,
        "same bits": rules.same_bits,
        "estimate": rules.estimate,
    }
    if fit is not None:
        listed = {name: listed[name] for name in ("steps", "passes", "predictions", "one row", "model")}
    return CheckResult(method.id or method.__name__, apply(listed))


class LearnerRules:
    """The rules, with the learner that they are about, and its first fit."""

    def __init__(self, method: type[Learner], params: dict[str, Any], fit: Fit | None) -> None:
        self.method = method
        self.params = params
        self.fit = small_fit(method) if fit is None else fit
        self.loop = self.begin(self.fit)
        self.reason = self.loop.run(self.fit).reason
        x = self.fit.x
        self.points: Array = np.asfortranarray(x[: min(_POINTS, x.shape[0])] + 0.1)

    def make(self) -> Learner:
        """A new object with these parameters."""
        learner = self.method()
        learner._configure(self.params)
        return learner

    def begin(self, fit: Fit) -> Loop:
        """A new object that has begun a fit."""
        learner = self.make()
        learner.warm_up(shape_of(n=fit.n, m=fit.n, d=fit.d, s=1, family=fit.family))
        loop = Loop(learner)
        try:
            loop.begin(fit)
        except Stop:
            loop.diverged = False
        return loop

    def steps(self) -> None:
        """It takes steps, whose objectives are finite."""
        if self.reason == "diverged":
            raise Failed(f"the fit diverged after {self.loop.steps} steps")
        if self.loop.steps == 0:
            raise Failed(f'it took no step, and ended "{self.reason}"')

    def passes(self) -> None:
        """It counts its rows, and draws none after it was told to stop."""
        served = backend(self.fit)
        if served.rows == 0:
            raise Failed("it uses no rows: draw them with fit.batch, or report them with fit.charge(rows=...)")
        if served.late_draws:
            raise Failed(f"it asked for rows {served.late_draws} times after Stop: does it catch Stop?")

    def predictions(self) -> None:
        """Its predictions are finite, and variances positive."""
        mean, variance = self.loop.predict(self.points)
        if not (np.isfinite(mean).all() and np.isfinite(variance).all()):
            raise Failed("it predicts numbers that are not finite")
        if not (variance > 0.0).all():
            raise Failed(f"it predicts the variance {variance.min():g}, which is not positive")

    def one_row(self) -> None:
        """The prediction of a row depends on no other row."""
        together = self.loop.predict(self.points)
        alone = self.loop.predict(np.asfortranarray(self.points[3:4]))
        for what, many, one in zip(("mean", "variance"), together, alone):
            if not np.isclose(many[3], one[0], rtol=1e-8, atol=1e-10):
                raise Failed(f"the {what} of a row is {many[3]!r} among others, and {one[0]!r} alone")

    def model(self) -> None:
        """Predictions of the model that it gives are its own."""
        matrices = self.loop.model()
        if matrices is None:
            raise Skipped("it gives no model; results will be marked as its own")
        kind = int(matrices["kind"][0, 0])
        if kind not in (1, 2) or self.fit.network is not None or self.fit.family not in FAMILIES:
            raise Skipped(
                "only models of the kinds gp and inducing are compared here; gpbench plugin test compares all"
            )
        missing = [name for name in ("signal_scale", "noise_scale", "length_scale") if name not in matrices]
        if missing:
            raise Failed(f"the model has no {', '.join(missing)}")
        expected = (
            predict_gp(matrices, self.fit, self.points)
            if kind == 1
            else predict_inducing(matrices, self.fit, self.points)
        )
        for what, mine, theirs in zip(("mean", "variance"), expected, self.loop.predict(self.points)):
            if not np.allclose(mine, theirs, rtol=1e-3, atol=1e-6):
                row = int(np.argmax(np.abs(mine - theirs)))
                raise Failed(
                    f"it predicts the {what} {theirs[row]:.6g}, where its model gives {mine[row]:.6g}: are scales standard "
                    "deviations, and is the noise in the variance?"
                )

    def pauses(self) -> None:
        """A pause after each step changes nothing."""
        reference, paused = small_fit(self.method), small_fit(self.method)
        first = self.begin(reference)
        first.run(reference)
        second = self.begin(paused)
        served = backend(paused)
        served.pause_each_step = True
        for _ in range(first.steps + 1):
            served.resume()
            if second.steps == first.steps or second.run(paused).reason != "stopped":
                break
            second.model()
        self.compare(first, second, "with a pause after each step")

    def save(self) -> None:
        """A state that was saved and loaded in another object goes on with the same bits."""
        if not self.loop.saves:
            raise Skipped("it has no `save` and `load`, so an interrupted case begins again")
        reference, stopped = small_fit(self.method), small_fit(self.method)
        first = self.begin(reference)
        first.run(reference)
        second = self.begin(stopped)
        served = backend(stopped)
        served.pause_each_step = True
        for _ in range(max(1, first.steps // 2)):
            served.resume()
            second.run(stopped)
        matrices = second.save()
        third = Loop(self.make())
        third.load(stopped, matrices.get)
        served.pause_each_step = False
        served.resume()
        third.run(stopped)
        self.compare(first, third, "after save and load")

    def same_bits(self) -> None:
        """The same seed gives the same bits."""
        loops = []
        for _ in range(2):
            fit = small_fit(self.method)
            loop = self.begin(fit)
            loop.run(fit)
            loops.append(loop)
        self.compare(loops[0], loops[1], "in a second fit with the same seed")

    def compare(self, first: Loop, second: Loop, when: str) -> None:
        """Fails if two fits differ."""
        if first.steps != second.steps:
            raise Failed(f"it takes {first.steps} steps, and {second.steps} {when}")
        points = np.asfortranarray(self.points[:, :])
        for mine, theirs in zip(first.predict(points), second.predict(points)):
            if not np.array_equal(mine, theirs, equal_nan=True):
                raise Failed(
                    f"it predicts other bits {when}; the largest difference is {np.abs(mine - theirs).max():.1e}"
                )

    def estimate(self) -> None:
        """Its estimate of memory is a number that is not negative."""
        demand_bytes(self.make().estimate(1000, 3, 1))


def number(matrices: dict[str, Array], name: str, default: float = 0.0) -> float:
    """Returns a number of a model."""
    return float(matrices[name][0, 0]) if name in matrices else default


def predict_gp(matrices: dict[str, Array], fit: Fit, x: Array) -> tuple[Array, Array]:
    """Mean and variance of y by an exact process on all training rows."""
    variance, noise = number(matrices, "signal_scale") ** 2, number(matrices, "noise_scale") ** 2
    lengths, mean = matrices["length_scale"].ravel(), number(matrices, "mean")
    K = variance * kernel(fit.family, fit.x, fit.x, lengths) + noise * np.eye(fit.n)
    k = variance * kernel(fit.family, fit.x, x, lengths)
    solved = np.linalg.solve(K, np.column_stack([fit.y - mean, k]))
    means: Array = mean + k.T @ solved[:, 0]
    variances: Array = variance + noise - np.einsum("ij,ij->j", k, solved[:, 1:])
    return means, variances


def predict_inducing(matrices: dict[str, Array], fit: Fit, x: Array) -> tuple[Array, Array]:
    """Mean and variance of y by inducing points with a variational distribution."""
    variance, noise = number(matrices, "signal_scale") ** 2, number(matrices, "noise_scale") ** 2
    lengths, z = matrices["length_scale"].ravel(), matrices["z"]
    K = variance * kernel(fit.family, z, z, lengths) + number(matrices, "jitter") * np.eye(z.shape[0])
    root = np.linalg.cholesky(K)
    k = np.linalg.solve(root, variance * kernel(fit.family, z, x, lengths))
    means: Array = number(matrices, "mean") + k.T @ matrices["q_mean"].ravel()
    spread = matrices["q_root"].T @ k
    variances: Array = variance + noise - (k * k).sum(axis=0) + (spread * spread).sum(axis=0)
    return means, variances
