"""The loop around a learner's steps, which the harness and `check` share."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arrays import Array, check_name, shape_text
from .errors import Stop
from .fit import Fit
from .learner import Learner
from .matrices import model_matrices, pack_state, unpack_state
from .param import params_of
from .report import REASONS, Report

__all__ = ["Loop"]

# Names of the loop's own numbers in a saved state.
_OWN = "gpb steps, diverged"
_DIGEST = "gpb digest"


class Loop:
    """A learner with the fit that it has begun.

    Parameters
    ----------
    learner : Learner
        With its parameters set.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner
        self.steps = 0
        self.diverged = False
        self._fit: Fit | None = None

    def begin(self, fit: Fit) -> None:
        """Begins a fit. `Stop` and errors of the learner pass out."""
        self.steps, self.diverged, self._fit = 0, False, fit
        fit._enter()
        fit._step = 0
        self.learner.begin(fit)

    def run(self, fit: Fit) -> Report:
        """Takes steps until the harness pauses or ends the fit, or it ends by itself."""
        fit._enter()
        while True:
            if self.diverged:
                return self._report("diverged")
            finished = self.learner.finished()
            if finished is True:
                return self._report("converged")
            if finished is not False:
                if finished not in REASONS:
                    raise ValueError(f"`finished` returned {finished!r}; use a bool or one of {', '.join(REASONS)}")
                return self._report(finished)
            fit._step = self.steps + 1
            try:
                objective = float(self.learner.step(fit))
            except Stop:
                return self._report("stopped")
            except np.linalg.LinAlgError:
                self.diverged = True
                continue
            if not math.isfinite(objective):
                self.diverged = True
                continue
            self.steps += 1
            try:
                fit._observe(objective)
            except Stop:
                return self._report("stopped")

    def _report(self, reason: Any) -> Report:
        numbers = self.learner.numbers()
        for name in numbers:
            check_name(name)
        return Report(reason, self.steps, None, dict(numbers))

    def predict(self, x: Array) -> tuple[Array, Array]:
        """Predicts at the rows of x, and checks what the learner returns.

        Raises
        ------
        TypeError, ValueError
            If that is not a mean and a variance for each row.
        """
        view = x.view()
        view.flags.writeable = False
        answer = self.learner.predict(view)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise TypeError(
                f"`predict` returned a {type(answer).__name__}; it must return the means and the variances"
            )
        parts = []
        for what, part in zip(("means", "variances"), answer):
            array = np.asarray(part, dtype=np.float64)
            if array.shape == (x.shape[0], 1):
                array = array[:, 0]
            if array.shape != (x.shape[0],):
                raise ValueError(f"`predict` returned {what} of shape {shape_text(array)} for {x.shape[0]} rows")
            parts.append(array)
        return parts[0], parts[1]

    def model(self) -> dict[str, Array] | None:
        """The learned model as matrices; None where predictions are the learner's own."""
        model = self.learner.model()
        return None if model is None else model_matrices(model)

    @property
    def saves(self) -> bool:
        """Whether the learner's class has `save` and `load`."""
        own = type(self.learner)
        return own.save is not Learner.save and own.load is not Learner.load

    def save(self) -> dict[str, Array]:
        """The state as matrices, with the steps, and a digest of data and parameters."""
        state: Mapping[str, Any] = self.learner.save()
        if self._fit is None:
            raise RuntimeError("`save` was called before a fit has begun")
        own = {
            _OWN: np.array([self.steps, self.diverged], dtype=np.int64),
            _DIGEST: np.frombuffer(digest(self.learner, self._fit), dtype=np.uint8),
        }
        return pack_state({**own, **state})

    def load(self, fit: Fit, get: Callable[[str], Array | None]) -> None:
        """Goes on from a saved state.

        Raises
        ------
        ValueError
            If it belongs to other data or other parameters.
        """
        fit._enter()
        state = unpack_state(get)
        expected = digest(self.learner, fit)
        own, saved = state.pop(_OWN, None), state.pop(_DIGEST, None)
        if own is None or saved is None or saved.tobytes() != expected:
            raise ValueError("the saved state belongs to other data or other parameters")
        self.learner.load(fit, state)
        self.steps, self.diverged, self._fit = int(own[0]), bool(own[1]), fit


def digest(learner: Learner, fit: Fit) -> bytes:
    """Returns a SHA-256 of a learner's parameters and of the data."""
    hashed = hashlib.sha256()
    params = {name: getattr(learner, name) for name in params_of(type(learner))}
    settings = [type(learner).id, params, fit.family, fit.seed, fit.mean, fit.trains_mean, fit.shared_length_scale]
    settings += [fit.inputs.signal_scale, fit.inputs.noise_scale]
    hashed.update(json.dumps(settings).encode())
    for array in (fit.x, fit.y, fit.inputs.length_scale, fit.inputs.basis):
        if array is not None:
            hashed.update(repr(array.shape).encode())
            hashed.update(np.ascontiguousarray(array.T).data)
    return hashed.digest()
