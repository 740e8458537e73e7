"""What the harness tells a solver or learner about its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .arrays import Array

__all__ = ["Family", "Inputs", "Network", "Shape", "Targets"]

#: A kernel family, as a function of the scaled distance r: ``"rbf"`` exp(-r^2/2), ``"matern12"`` exp(-r), ``"matern32"``
#: (1 + a) exp(-a) with a = sqrt(3) r, ``"matern52"`` (1 + a + a^2/3) exp(-a) with a = sqrt(5) r. ``"linear"`` is the inner
#: product, for learners alone.
Family = Literal["rbf", "matern12", "matern32", "matern52", "linear"]


@dataclass(frozen=True)
class Inputs:
    """What the matrix A is made of.

    A = K + noise_scale^2 I with K = signal_scale^2 k(x, x). With basis points, A = signal_scale^2 k(x, basis), without noise.
    With scales, A = S K S + noise_scale^2 I and S = diag(scales). Distances are r^2 = sum_k ((x_k - z_k) / length_scale_k)^2.

    A solver that evaluates entries from them reports these with `Operator.charge`.

    Attributes
    ----------
    x : Array, n x d
        Standardised inputs, read-only.
    basis : Array or None, m x d
        Points of the columns, read-only; None where they are the inputs themselves.
    family : str
        Kernel family: ``"rbf"``, ``"matern12"``, ``"matern32"``, ``"matern52"``; of a learner also ``"linear"``.
    signal_scale : float
        Standard deviation of the latent function.
    noise_scale : float
        Standard deviation (not variance) of the noise.
    length_scale : Array, d
        One length scale an input; of a learner with a network, one an output of the network. Read-only.
    scales : Array or None, n
        One factor a row, where repeated inputs of a data set are collapsed: the square root of an input's count.
        Read-only.
    """

    x: Array
    basis: Array | None
    family: Family
    signal_scale: float
    noise_scale: float
    length_scale: Array
    scales: Array | None = None


@dataclass(frozen=True)
class Targets:
    """The parts of pathwise right-hand sides: probe j is ``f[:, j] + noise[:, j]``.

    Attributes
    ----------
    f : Array, n x (s - n_targets)
        Prior draws at the inputs, times the scales where `Inputs` has such. Read-only.
    noise : Array, n x (s - n_targets)
        Their noise, of standard deviation ``noise_scale``. Read-only.
    """

    f: Array
    noise: Array


@dataclass(frozen=True)
class Network:
    """Fully connected layers between inputs and kernel: each is W x + b, followed by the activation.

    Attributes
    ----------
    widths : tuple of int
        Outputs of the layers, from the one that sees the inputs to the one that the kernel sees.
    activation : str
        ``"relu"``: max(0, t), after every layer, the last one included.
    random : int
        Number of random Fourier features, sines and cosines together, by which a learner of finite dimension
        approximates the kernel; 0 with a linear kernel.
    """

    widths: tuple[int, ...]
    activation: Literal["relu"] = "relu"
    random: int = 0


@dataclass(frozen=True)
class Shape:
    """Sizes of the problems to come, without data: what `warm_up` compiles and allocates for.

    Attributes
    ----------
    n : int
        Rows.
    m : int
        Unknowns: n, or the number of inducing points.
    d : int
        Inputs.
    s : int
        Right-hand sides; 1 for a learner.
    family : str
        Kernel family, as in `Inputs`.
    threads : int
        Threads that may be used.
    batch : int
        Rows in a batch, 0 where that is not known.
    """

    n: int
    m: int
    d: int
    s: int
    family: Family
    threads: int = 1
    batch: int = 0
