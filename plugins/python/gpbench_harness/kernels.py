"""Kernel matrices of the stationary families, for problems without the harness."""

from __future__ import annotations

import numpy as np

from .arrays import Array

__all__ = ["FAMILIES", "kernel"]


def _matern12(r: Array) -> Array:
    return np.exp(-r)


def _matern32(r: Array) -> Array:
    a = np.sqrt(3.0) * r
    result: Array = (1.0 + a) * np.exp(-a)
    return result


def _matern52(r: Array) -> Array:
    a = np.sqrt(5.0) * r
    result: Array = (1.0 + a + a * a / 3.0) * np.exp(-a)
    return result


def _rbf(r: Array) -> Array:
    return np.exp(-0.5 * r * r)


#: Correlations as functions of the scaled distance.
FAMILIES = {"rbf": _rbf, "matern12": _matern12, "matern32": _matern32, "matern52": _matern52}


def kernel(family: str, x: Array, z: Array, length_scale: Array) -> Array:
    """Returns the correlations of the rows of x (n x d) with those of z (m x d).

    Distances are sums of squared differences, not differences of products, so that equal points have distance 0 exactly.
    """
    squares = np.zeros((x.shape[0], z.shape[0]), order="F")
    for k, length in enumerate(length_scale):
        difference = np.subtract.outer(x[:, k] / length, z[:, k] / length)
        squares += difference * difference
    return np.asfortranarray(FAMILIES[family](np.sqrt(squares)))
