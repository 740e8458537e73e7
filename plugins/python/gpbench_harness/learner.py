"""The class that a learner extends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Union

from .arrays import Array
from .param import configure
from .report import Reason

if TYPE_CHECKING:
    from .fit import Fit
    from .inputs import Shape

__all__ = ["Learner", "LearnerCapability", "ModelValue"]

#: What a learner takes, and further properties. ``"kernel"``: the stationary families. ``"network"``: a network before the
#: kernel. ``"finite"``: kernels of finite dimension. ``"inducing"``: takes inducing points (``fit.inputs.basis``),
#: which it needs unless it has a parameter ``points``. ``"mean"``: trains a constant
#: prior mean where `Fit.trains_mean` asks for it. ``"randomized"``: draws random numbers beside those of the batches.
LearnerCapability = Literal["kernel", "network", "finite", "inducing", "mean", "randomized"]

#: A value of a model: an array, a number, or the name of its kind.
ModelValue = Union[Array, float, int, str]


class Learner:
    """A method that finds hyperparameters by steps of its own and predicts by itself.

    The harness makes one object a case, sets its parameters, calls `warm_up` and `begin` (or `load`), and then `step` until
    the fit pauses or ends. A pause may follow any step, and no step may differ because of it. What a fit changes is kept in
    attributes of the object, never in globals. The same seed must give the same bits.

    Attributes
    ----------
    id, source : str
        As of a `Solver`.
    facts : dict of str
        As of a `Solver`.
    capabilities : tuple of str
        Any of ``"kernel"``, ``"network"``, ``"finite"``, ``"inducing"``, ``"mean"``, ``"randomized"``; see
        `LearnerCapability`.
    """

    id: ClassVar[str] = ""
    source: ClassVar[str] = ""
    facts: ClassVar[dict[str, str]] = {}
    capabilities: ClassVar[tuple[LearnerCapability, ...]] = ("kernel",)

    def warm_up(self, shape: Shape) -> None:
        """Compiles, allocates and starts threads for these sizes. There is no data here, and the clock does not run.

        Parameters
        ----------
        shape : Shape
        """

    def begin(self, fit: Fit) -> None:
        """Begins a fit: starting values, subsets, the optimiser. Forgets an earlier fit. Timed as setup. Required.

        Parameters
        ----------
        fit : Fit
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `begin`")

    def step(self, fit: Fit) -> float:
        """Takes one step and returns its objective, as the method has it. Required.

        The step draws its batches first, of stream 0 before others, and changes the state only after that: `Stop` then means
        that the passes are spent and the step was not taken.

        Parameters
        ----------
        fit : Fit

        Returns
        -------
        float
            The objective. One that is not finite ends the fit as diverged; so does a `numpy.linalg.LinAlgError`.

        Raises
        ------
        Stop
            By `Fit.batch`. Must not be caught.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `step`")

    def predict(self, x: Array) -> tuple[Array, Array]:
        """Predicts at the rows of x. A row's prediction depends on no other row. Required.

        Parameters
        ----------
        x : Array, m x d
            Read-only.

        Returns
        -------
        mean : Array, m
            Means of y.
        variance : Array, m
            Variances of y, with the noise.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `predict`")

    def model(self) -> Mapping[str, ModelValue] | None:
        """Returns what was learned, from which the harness computes predictions and likelihoods by itself.

        None (the default) marks the results as the learner's own. Otherwise ``"kind"`` names the kind, and the others are
        arrays or numbers; scales are standard deviations, never variances:

        - ``"gp"``: an exact process on all training rows. ``signal_scale``, ``noise_scale``, ``length_scale`` (d), ``mean``
          (may be left out where it is 0).
        - ``"inducing"``: further ``z`` (m x d), ``q_mean`` (m), ``q_root`` (m x m, lower triangular), ``jitter``. With
          L L^T = K(z, z) + jitter I, f(z) = L v, and v has mean q_mean and covariance q_root q_root^T.
        - ``"features"``: features of a network. ``noise_scale``, and where the kernel is approximated by random features
          ``signal_scale``, ``length_scale`` (a number) and ``frequencies`` (outputs x R/2).
        - ``"network_gp"``, ``"network_inducing"``: the first two on a network's outputs.
        - ``"experts"``: exact processes on k subsets. ``signal_scale``, ``noise_scale``, ``mean``, ``weight`` (k each),
          ``length_scale`` (d x k), ``rows`` (r x k), ``combine`` (0: variances of y; 1: of the latent function).
        - ``"neighbours"``: an exact process that predicts each row from its nearest training rows only. Those of ``"gp"``, and
          ``neighbours``, their number. With ``z``, ``q_mean``, ``q_root`` and ``jitter`` too, the inducing points explain what they
          can and the neighbours the rest.
        - ``"actions"``: a process that is conditioned on projections S^T y of the targets only. Those of ``"gp"``, and either
          ``actions``, S (n x i), or, where each row is in one action, ``action`` (n, from 0) and ``entry`` (n).

        Layer l of a network, from 1, is ``weight_l`` (outputs x inputs) and ``bias_l`` (outputs).
        """
        return None

    def save(self) -> Mapping[str, Any]:
        """Returns all that the steps to come depend on, random numbers included: arrays and numbers by name.

        Arrays of any type and shape come back as they were. Without `save` and `load`, an interrupted case begins again.
        """
        raise NotImplementedError(f"{type(self).__name__} does not save its state")

    def load(self, fit: Fit, state: dict[str, Any]) -> None:
        """Takes the place of `begin` for an object that goes on from a saved state.

        The steps that follow are bit by bit those that would have followed `save`. Data and parameters are the same; the
        harness has checked it.

        Parameters
        ----------
        fit : Fit
        state : dict of str to Array
            What `save` returned, as arrays; a number as an array of dimension 0.
        """
        raise NotImplementedError(f"{type(self).__name__} does not load a state")

    def finished(self) -> bool | Reason:
        """Returns whether the method ends by itself, or why. Asked before each step.

        Returns
        -------
        bool or str
            False while it goes on; True stands for ``"converged"``.
        """
        return False

    def numbers(self) -> Mapping[str, float]:
        """Returns further numbers for the results, under names of lower-case letters, digits and underscores.

        Asked at each pause.
        """
        return {}

    def estimate(self, n: int, d: int, s: int) -> float:
        """Returns the bytes that a fit needs beyond the data, for ``gpbench plan``.

        Parameters
        ----------
        n, d, s : int
            Rows, inputs; s is 1.
        """
        return 8.0 * 2.0 * n * (d + 1)

    def _configure(self, params: dict[str, Any]) -> None:
        """Sets parameters by name."""
        configure(self, params)
