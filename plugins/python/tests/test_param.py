"""`param`, and whether a class is what its file says."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SOLVER

import gpbench_harness as gpb
from gpbench_harness import Solver, param
from gpbench_harness.agree import disagreements, find_class
from gpbench_harness.description.classes import read_classes
from gpbench_harness.description.problems import Problems
from gpbench_harness.param import params_of


class Base(Solver):
    limit: int = param(10, min=1, max=20, doc="Limit")


class Fancy(Base):
    """A line"""

    id = "fancy"
    step: float = param(1, min=0, doc="Step")
    mode: str = param("plain", choices=["plain", "fast"], doc="Mode")
    flag: bool = param(False, doc="Flag")


def test_each_object_has_its_own_values() -> None:
    one, two = Fancy(), Fancy()
    one.step = 2
    one._configure({"mode": "fast", "limit": np.int64(3)})
    assert (one.step, one.mode, one.limit, one.flag) == (2.0, "fast", 3, False)
    assert (two.step, two.mode, two.limit) == (1.0, "plain", 10)
    assert isinstance(one.step, float) and isinstance(one.limit, int)
    assert list(params_of(Fancy)) == ["limit", "step", "mode", "flag"]


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("step", -1.0, ValueError, "parameter `step`: -1.0 is below 0"),
        ("limit", 21, ValueError, "21 is above 20"),
        ("limit", 2.0, TypeError, "of kind int; 2.0 is not"),
        ("step", "x", TypeError, "of kind float"),
        ("flag", 1, TypeError, "of kind bool"),
        ("step", float("nan"), ValueError, "not a finite number"),
        ("mode", "slow", ValueError, "'slow' is none of plain, fast"),
        ("rank", 1, ValueError, "Fancy has no parameter `rank`; it has limit, step, mode, flag"),
    ],
)
def test_values_are_checked(name: str, value: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Fancy()._configure({name: value})


def test_declarations_are_checked() -> None:
    for arguments, options, error in [
        ((1.0,), {"doc": ""}, TypeError),
        ((None,), {"doc": "x"}, TypeError),
        ((3,), {"max": 2, "doc": "x"}, ValueError),
        (("a",), {"min": 1, "doc": "x"}, TypeError),
        ((1,), {"min": 0.5, "doc": "x"}, TypeError),
        ((1.0,), {"choices": [1.0], "doc": "x"}, TypeError),
    ]:
        with pytest.raises(error):
            param(*arguments, **options)  # type: ignore[arg-type]


def imported(write: Callable[..., Path], text: str) -> tuple[Any, list[dict[str, Any]]]:
    """A module, and the static description of the classes that its file had at first."""
    file = write({"one.py": text})
    spec = importlib.util.spec_from_file_location("one", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    problems = Problems(str(file))
    classes = read_classes(ast.parse(text), problems)
    assert problems.found == []
    return module, classes


def test_a_class_that_is_what_its_file_says(write: Callable[..., Path]) -> None:
    module, (described,) = imported(write, SOLVER)
    assert find_class(module, described) is module.Fancy
    assert disagreements(module.Fancy, described) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("Fancy.id = 'other'", "`id` is 'fancy', but after the import it is 'other'"),
        ("Fancy.capabilities = ('exact',)", "`capabilities` is [], but after the import it is ['exact']"),
        ("Fancy.source = 'S'", "`source` is '', but"),
        ("Fancy.facts = {'step': 'n'}", "`facts` is {}, but"),
        ("Fancy.__doc__ = 'Other'", "the docstring's first line is 'A line', but after the import it is 'Other'"),
        ("del Fancy.step", "has the parameter `step`, which the class does not have"),
        (
            "Fancy.extra = param(1, doc='x')",
            "has the parameter `extra` after the import, which the file does not show",
        ),
        ("Fancy.step.default = 0.25", "the default of parameter `step` is 0.5, but after the import it is 0.25"),
        ("Fancy.step.max = 3.0", "`max` of parameter `step` is 2.0, but"),
        ("del Fancy.solve", "the file shows the method `solve`"),
    ],
)
def test_a_class_that_is_not(write: Callable[..., Path], change: str, text: str) -> None:
    module, (described,) = imported(write, SOLVER + change + "\n")
    (found,) = disagreements(find_class(module, described), described)
    assert text in found


def test_a_class_that_is_gone(write: Callable[..., Path]) -> None:
    for change, what in [("del Fancy", "nothing"), ("Fancy = 3", "a int")]:
        module, (described,) = imported(write, SOLVER + change + "\n")
        with pytest.raises(TypeError, match=f"the imported module has {what} of that name"):
            find_class(module, described)


def test_the_package_is_typed_and_documented() -> None:
    assert (Path(gpb.__file__).parent / "py.typed").exists()
    for name in gpb.__all__:
        thing = getattr(gpb, name)
        if isinstance(thing, type) and thing.__module__.startswith("gpbench_harness"):
            assert thing.__doc__, name
            for inner, method in vars(thing).items():
                if callable(method) and not inner.startswith("_"):
                    assert method.__doc__, f"{name}.{inner}"
        elif callable(thing) and hasattr(thing, "__code__"):
            assert thing.__doc__, name
