"""Checks of arrays, with sizes in their errors."""

from __future__ import annotations

import re
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Index", "Rows", "check_name", "indices", "matrix", "output", "shape_text"]

#: An array of float64.
Array: TypeAlias = npt.NDArray[np.float64]
#: An array of row numbers, which count from 0.
Rows: TypeAlias = npt.NDArray[np.int64]
#: Row or column numbers as an author gives them: an array of them, a mask, or a slice.
Index: TypeAlias = Union[npt.ArrayLike, slice]

_NAME = re.compile(r"[a-z0-9_]{1,64}")


def shape_text(array: npt.NDArray[Any]) -> str:
    """Returns the shape as ``500 x 3``; a vector of length 500 as ``500``."""
    return " x ".join(str(size) for size in array.shape) or "a number"


def matrix(value: npt.ArrayLike, what: str, rows: int, owner: str) -> tuple[Array, bool]:
    """Returns a value as a matrix of so many rows, and whether it was a vector.

    Parameters
    ----------
    value : array_like, (rows,) or (rows, s)
        The value; numbers of another kind are converted to float64.
    what : str
        Name of the argument, for errors.
    rows : int
        Rows that it must have.
    owner : str
        What asks for these rows, for errors.

    Raises
    ------
    ValueError
        If it has another number of rows, or of dimensions.
    """
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 2 and array.shape[0] == rows:
        return array, False
    if array.ndim == 1 and array.shape[0] == rows:
        return array[:, np.newaxis], True
    raise ValueError(f"{owner}, so `{what}` must have {rows} rows; its shape is {shape_text(array)}")


def output(value: Any, what: str, shape: tuple[int, int], vector: bool) -> Array:
    """Returns an array to be written in place as a matrix of this shape.

    Raises
    ------
    TypeError
        If it is no array of float64.
    ValueError
        If it is read-only or has another shape.
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float64:
        kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise TypeError(f"`{what}` is written in place and must be a numpy array of float64, not {kind}")
    expected = shape[:1] if vector else shape
    if value.shape != expected:
        wanted = " x ".join(str(size) for size in expected)
        raise ValueError(f"`{what}` must have the shape {wanted}; its shape is {shape_text(value)}")
    if not value.flags.writeable:
        raise ValueError(f"`{what}` is written in place, but it is read-only")
    array: Array = value[:, np.newaxis] if vector else value
    return array


def indices(value: npt.ArrayLike | slice, what: str, size: int) -> Rows:
    """Returns row or column numbers as int64, from an array of them, a mask or a slice.

    Raises
    ------
    TypeError
        If they are no whole numbers.
    IndexError
        If one is negative, or not below `size`.
    ValueError
        If they have another number of dimensions than one, or a mask has another length than `size`.
    """
    if isinstance(value, slice):
        return np.arange(*value.indices(size), dtype=np.int64)
    array = np.asarray(value)
    if array.ndim != 1:
        raise ValueError(f"`{what}` must have one dimension; its shape is {shape_text(array)}")
    if array.dtype == np.bool_:
        if array.shape[0] != size:
            raise ValueError(f"`{what}` is a mask of length {array.shape[0]} over {size} {what}")
        return np.flatnonzero(array).astype(np.int64)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"`{what}` must be whole numbers, not {array.dtype}")
    low, high = array.min(), array.max()
    if low < 0 or high >= size:
        wrong = low if low < 0 else high
        raise IndexError(f"`{what}` has the number {wrong}; numbers are from 0 to {size - 1}")
    return np.ascontiguousarray(array, dtype=np.int64)


def check_name(name: Any) -> str:
    """Returns the name of a number for results.

    Raises
    ------
    ValueError
        If it is not up to 64 lower-case letters, digits and underscores.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a number: use up to 64 lower-case letters, digits and underscores")
    return name
