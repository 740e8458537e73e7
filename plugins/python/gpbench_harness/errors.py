"""What a call of the harness may raise."""

from __future__ import annotations

__all__ = ["Ended", "Error", "Stop"]


class Stop(BaseException):
    """The budget is spent, or the user asked to stop: the solve or fit ends here.

    It is raised by calls that use kernel entries or rows, and by `Problem.observe`. A solver need not catch it: the
    iterate in ``problem.x`` then counts as its answer. A solver that catches it to put the best iterate into
    ``problem.x`` returns or raises it again; further counted calls raise it once more.

    It is no `Exception`, so that an ``except Exception`` in a library does not swallow it.
    """


class Error(RuntimeError):
    """The harness could not do what a call asked for. The text says what and why."""


class Ended(RuntimeError):
    """A `Problem` or `Fit` was used after the call that it was passed to had returned."""
