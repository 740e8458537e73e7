# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy>=1.22", "gpboost>=1.5"]
# ///
"""GPBoost's Vecchia approximation."""

from __future__ import annotations

import gpboost
import numpy as np
from _inputs import SMOOTHNESS, check_family

from gpbench_harness import Array, Fit, Learner, param


class GpboostVecchia(Learner):
    """GPBoost's Vecchia approximation: L-BFGS on all rows; one step is GPBoost's whole fit"""

    id = "gpboost-vecchia"
    source = "F. Sigrist. Gaussian Process Boosting. Journal of Machine Learning Research, 2022."
    capabilities = ("kernel", "mean", "randomized")
    neighbours: int = param(30, min=1, max=1024, doc="Earlier rows that a row is conditioned on")
    prediction_neighbours: int = param(
        0, min=0, max=4096, doc="Training rows that a row is predicted from; 0: twice `neighbours`"
    )

    def start(self, fit: Fit) -> None:
        check_family(self.id, fit.family)
        self.x, self.y = np.ascontiguousarray(fit.x), np.array(fit.y)
        self.family, self.shared, self.seed = fit.family, fit.shared_length_scale, fit.seed
        # GPBoost's Gaussian kernel is exp(-(r / range)^2), its Matern kernels are as the harness has them.
        self.per_length = np.sqrt(2.0) if self.family == "rbf" else 1.0
        lengths = np.asarray(fit.inputs.length_scale)[: 1 if self.shared else None] * self.per_length
        self.variances = np.concatenate([[fit.inputs.noise_scale**2, fit.inputs.signal_scale**2], lengths])
        self.mean = float(fit.mean)
        self.is_done = False

    def process(self) -> gpboost.GPModel:
        """GPBoost's model of the training rows"""
        rbf, ard = self.family == "rbf", "" if self.shared else "_ard"
        return gpboost.GPModel(
            likelihood="gaussian",
            gp_coords=self.x,
            cov_function=("gaussian" if rbf else "matern") + ard,
            cov_fct_shape=0.0 if rbf else SMOOTHNESS[self.family],
            gp_approx="vecchia",
            num_neighbors=min(self.neighbours, len(self.y) - 1),
            vecchia_ordering="random",
            seed=self.seed % 2**31,
        )

    def begin(self, fit: Fit) -> None:
        self.start(fit)

    def step(self, fit: Fit) -> float:
        fit.batch(fit.n)
        process = self.process()
        options = {"optimizer_cov": "lbfgs", "init_cov_pars": self.variances, "maxit": max(1, int(fit.passes))}
        ones = np.ones((fit.n, 1)) if fit.trains_mean else None
        process.fit(y=self.y - self.mean, X=ones, params=options)
        self.variances = np.asarray(process.get_cov_pars(format_pandas=False)).ravel()
        if fit.trains_mean:
            self.mean += float(np.asarray(process.get_coef(format_pandas=False)).ravel()[0])
        # Evaluations beyond one an iteration are not known.
        rounds = int(process._get_num_optim_iter())
        fit.charge(rows=fit.n * rounds, entries=fit.n * rounds * (self.neighbours + 1) ** 2)
        self.is_done = True
        return float(process.get_current_neg_log_likelihood()) / fit.n

    def finished(self) -> bool:
        return self.is_done

    def predicted_from(self) -> int:
        return self.prediction_neighbours or 2 * self.neighbours

    def predict(self, x: Array) -> tuple[Array, Array]:
        if len(x) == 0:
            return np.empty(0), np.empty(0)
        process = self.process()
        process.set_prediction_data(
            vecchia_pred_type="order_obs_first_cond_obs_only",
            num_neighbors_pred=min(self.predicted_from(), len(self.y)),
        )
        found = process.predict(
            y=self.y - self.mean,
            cov_pars=self.variances,
            gp_coords_pred=np.ascontiguousarray(x),
            predict_var=True,
            predict_response=True,
        )
        return self.mean + np.asarray(found["mu"]), np.asarray(found["var"])

    def model(self) -> dict[str, object]:
        noise, signal, *ranges = self.variances
        return {
            "kind": "neighbours",
            "signal_scale": signal**0.5,
            "noise_scale": noise**0.5,
            "length_scale": np.broadcast_to(np.array(ranges) / self.per_length, (self.x.shape[1],)).copy(),
            "mean": self.mean,
            "neighbours": self.predicted_from(),
        }

    def save(self) -> dict[str, np.ndarray]:
        return {"variances": self.variances, "mean": np.array(self.mean), "is_done": np.array(self.is_done)}

    def load(self, fit: Fit, state: dict[str, np.ndarray]) -> None:
        self.start(fit)
        self.variances, self.mean = state["variances"], float(state["mean"])
        self.is_done = bool(state["is_done"])

    def estimate(self, n: int, d: int, s: int) -> float:
        return 8.0 * n * (4 * d + 6 * self.neighbours)
