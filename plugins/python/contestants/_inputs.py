"""The case's kernel for solvers that evaluate it by themselves."""

from __future__ import annotations

import numpy as np

from gpbench_harness import Inputs, Problem

SMOOTHNESS = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}
FAMILIES = ("rbf", *SMOOTHNESS)


def check_family(name: str, family: str, families: tuple[str, ...] = FAMILIES) -> None:
    """Refuses a kernel that the library of solver `name` does not have."""
    if family not in families:
        raise ValueError(f"{name}: has no kernel {family!r}; use one of {', '.join(families)}")


def inputs_of(name: str, problem: Problem, families: tuple[str, ...] = FAMILIES) -> Inputs:
    """The inputs and scales of `problem`, whose matrix is K(x, x) + noise_scale^2 I of a known family."""
    inputs = problem.operator.inputs
    if inputs.basis is not None or problem.m != problem.n:
        raise ValueError(f"{name}: solves square systems only; remove `inducing` from the spec")
    if inputs.scales is not None:
        raise ValueError(f"{name}: knows no scaled rows; remove `collapse_duplicates` from the spec")
    check_family(name, inputs.family, families)
    return inputs


def scaled(inputs: Inputs) -> np.ndarray:
    """Inputs divided by their length scales: the kernel is then isotropic, with length scale 1."""
    return np.ascontiguousarray(inputs.x / np.asarray(inputs.length_scale))
