"""Models and saved states as the named float64 matrices that cross the interface."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arrays import Array, check_name

__all__ = ["model_matrices", "pack_state", "unpack_state"]

#: Numbers of the kinds of models.
KINDS = {
    "gp": 1,
    "inducing": 2,
    "features": 3,
    "network_gp": 4,
    "network_inducing": 5,
    "experts": 6,
    "neighbours": 7,
    "actions": 8,
}

# Of experts, these have one number each.
_BY_EXPERT = ("signal_scale", "noise_scale", "mean", "weight")

# Name of the list of what a state holds.
_LIST = "gpb_list"


def model_matrices(model: Mapping[str, Any]) -> dict[str, Array]:
    """Returns the matrices of a model: numbers as 1 x 1, vectors as columns.

    Raises
    ------
    ValueError
        If its kind is missing or unknown, a name is not plain, or an array has more than two dimensions.
    TypeError
        If it is no mapping, or a value is no array of numbers.
    """
    if not isinstance(model, Mapping):
        raise TypeError(f"`model` returned a {type(model).__name__}; it must return a dict or None")
    if "kind" not in model:
        raise ValueError(f'the model has no "kind": use one of {", ".join(KINDS)}')
    kind = model["kind"]
    number = KINDS.get(kind, kind) if isinstance(kind, str) else int(kind)
    if number not in KINDS.values():
        raise ValueError(f"the model has the kind {kind!r}: use one of {', '.join(KINDS)}")
    matrices = {"kind": np.full((1, 1), float(number))}
    for name, value in model.items():
        if name == "kind":
            continue
        array = real(value, f"`{check_name(name)}` of the model")
        if array.ndim > 2:
            raise ValueError(f"`{name}` of the model has {array.ndim} dimensions, not two or less")
        if array.ndim == 1 and number == KINDS["experts"] and name in _BY_EXPERT:
            array = array[np.newaxis, :]
        matrices[name] = array.reshape(-1, 1) if array.ndim < 2 else np.asfortranarray(array)
    return matrices


def real(value: Any, what: str) -> Array:
    """Returns a value as an array of float64."""
    if hasattr(value, "detach"):  # a tensor of torch
        value = value.detach().cpu().numpy()
    try:
        array: Array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is a {type(value).__name__}, not an array of numbers") from None
    return array


def pack_state(state: Mapping[str, Any]) -> dict[str, Array]:
    """Returns matrices that hold arrays of any type and shape exactly.

    Raises
    ------
    TypeError
        If it is no mapping, or a value is no array or number.
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"`save` returned a {type(state).__name__}; it must return a dict")
    matrices: dict[str, Array] = {}
    listed: list[list[Any]] = []
    for index, (name, value) in enumerate(state.items()):
        if not isinstance(name, str):
            raise TypeError(f"a saved state has texts as keys, not {name!r}")
        if hasattr(value, "detach"):
            value = value.detach().cpu().numpy()
        array = np.asarray(value)
        if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            raise TypeError(f"`{name}` of the saved state is {array.dtype}; save arrays of numbers")
        little = array.dtype.newbyteorder("<")
        key = f"gpb_{index}"
        if little == np.dtype("<f8") and array.ndim <= 2:
            matrix: Array = array.reshape(-1, 1) if array.ndim < 2 else array
        else:
            # Four bytes a number, which a float64 holds exactly.
            raw = np.ascontiguousarray(array).astype(little, copy=False).tobytes()
            words = np.frombuffer(raw + b"\0" * (-len(raw) % 4), dtype="<u4")
            matrix = words.astype(np.float64).reshape(-1, 1)
        matrices[key] = np.asfortranarray(matrix, dtype=np.float64)
        listed.append([name, little.str, list(array.shape)])
    text = np.frombuffer(json.dumps(listed).encode(), dtype=np.uint8)
    matrices[_LIST] = text.astype(np.float64).reshape(-1, 1)
    return matrices


def unpack_state(get: Callable[[str], Array | None]) -> dict[str, Any]:
    """Returns the state that `pack_state` made matrices of.

    Parameters
    ----------
    get : callable
        Returns the matrix of a name, or None.

    Raises
    ------
    ValueError
        If the matrices are no such state.
    """

    def find(name: str) -> Array:
        matrix = get(name)
        if matrix is None:
            raise ValueError(f"the saved state has no `{name}`: gpbench_harness did not save it")
        return matrix

    listed = json.loads(bytes(find(_LIST).ravel().astype(np.uint8)))
    state: dict[str, Any] = {}
    for index, (name, dtype, shape) in enumerate(listed):
        matrix = find(f"gpb_{index}")
        if dtype == "<f8" and len(shape) <= 2:
            state[name] = np.array(matrix, order="C").reshape(shape)
            continue
        count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        raw = matrix.ravel().astype("<u4").tobytes()[:count]
        array = np.frombuffer(raw, dtype=dtype).reshape(shape)
        state[name] = array.astype(array.dtype.newbyteorder("="))  # a copy, which is writeable
    return state


assert sys.byteorder == "little", "gpbench runs on little-endian machines"
