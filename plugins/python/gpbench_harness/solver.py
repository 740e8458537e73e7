"""The class that a solver extends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .param import configure

if TYPE_CHECKING:
    from .inputs import Shape
    from .problem import Problem
    from .report import Report

__all__ = ["Capability", "Solver"]

#: What a solver states about itself. ``"exact"``: solves to working precision whatever the tolerance. ``"randomized"``:
#: draws random numbers from the problem's seed. ``"warm_start"``: uses a start in ``x`` that is not zero. ``"dense"``: keeps
#: an n x n matrix. ``"inducing"``: takes problems with inducing points.
Capability = Literal["exact", "randomized", "warm_start", "dense", "inducing"]


class Solver:
    """A method that solves A X = B. A class that extends it, in a file ``my_solver.py``, is a solver of gpbench.

    The harness reads `id`, `source`, `facts`, `capabilities`, the parameters and the docstring's first line, which is the
    line of ``gpbench list solvers``, without running the file. In a case it makes one object, sets its parameters, calls `warm_up`,
    and then `prepare` and `solve`, in this order, once or many times. Several solves may follow one `prepare`.

    The same seed must give the same bits.

    Attributes
    ----------
    id : str
        Name in specs: lower-case letters, digits and hyphens. Required.
    source : str
        The work to cite: authors, title, venue, year.
    facts : dict of str
        What readers who choose a method want to know, each in one line: any of ``"step"`` (work of a step),
        ``"memory"``, ``"guarantees"`` and ``"advice"`` (when to use it). n is the number of rows, d of inputs and s of
        right-hand sides.
    capabilities : tuple of str
        Any of ``"exact"``, ``"randomized"``, ``"warm_start"``, ``"dense"``, ``"inducing"``; see `Capability`.
    """

    id: ClassVar[str] = ""
    source: ClassVar[str] = ""
    facts: ClassVar[dict[str, str]] = {}
    capabilities: ClassVar[tuple[Capability, ...]] = ()

    def warm_up(self, shape: Shape) -> None:
        """Compiles, allocates and starts threads for these sizes. There is no data here, and the clock does not run.

        Called once before the first `prepare`, and again when sizes change.

        Parameters
        ----------
        shape : Shape
        """

    def prepare(self, problem: Problem) -> None:
        """Sets up what belongs to one matrix: preconditioner, factor. Timed separately, charged to the same budget.

        Called before each `solve` whose matrix differs from the last one's. What it makes is put into attributes.

        Parameters
        ----------
        problem : Problem
            Its ``x`` is read-only here.

        Raises
        ------
        Stop
            By a call of `problem`, if the budget does not suffice. Need not be caught.
        """

    def solve(self, problem: Problem) -> Report | None:
        """Starts from ``problem.x`` and leaves the solution there. Required.

        Parameters
        ----------
        problem : Problem

        Returns
        -------
        Report or None
            None stands for the last observation: ``"converged"`` if its norms reach the tolerance, else ``"iterations"``.

        Raises
        ------
        Stop
            By a call of `problem`, when the budget is spent. Need not be caught: the iterate in ``problem.x`` counts.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method `solve`")

    def estimate(self, n: int, d: int, s: int) -> float:
        """Returns the bytes that a solve needs beyond the problem itself, for ``gpbench plan``.

        Parameters
        ----------
        n, d, s : int
            Rows, inputs, right-hand sides.
        """
        return 8.0 * 8.0 * n * s

    def _configure(self, params: dict[str, Any]) -> None:
        """Sets parameters by name."""
        configure(self, params)
