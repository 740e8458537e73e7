"""Parameters of solvers and learners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar, Union, cast

__all__ = ["param"]

T = TypeVar("T", bool, int, float, str)
Value = Union[bool, int, float, str]

KINDS: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "text"}


class Param:
    """A parameter as a class attribute: a descriptor, whose value each object has for itself."""

    def __init__(
        self,
        default: Value,
        minimum: Any,
        maximum: Any,
        choices: Any,
        doc: str,
    ) -> None:
        if type(default) not in KINDS:
            raise TypeError(f"the default of a parameter is a bool, int, float or str, not {default!r}")
        self.kind = KINDS[type(default)]
        self.default: Value = default
        self.min = minimum
        self.max = maximum
        self.choices = None if choices is None else tuple(choices)
        self.doc = doc
        self.name = "?"
        self._check_schema()

    def _check_schema(self) -> None:
        if not isinstance(self.doc, str) or not self.doc.strip():
            raise TypeError("a parameter needs `doc`, one line with the unit")
        if self.choices is not None and self.kind != "text":
            raise TypeError("only a parameter of kind text has `choices`")
        for bound in (self.min, self.max):
            if bound is None:
                continue
            if self.kind not in ("int", "float"):
                raise TypeError(f"a parameter of kind {self.kind} has neither `min` nor `max`")
            if isinstance(bound, bool) or not isinstance(bound, (int, float)):
                raise TypeError(f"`min` and `max` are numbers, not {bound!r}")
            if self.kind == "int" and not isinstance(bound, int):
                raise TypeError(f"`min` and `max` of a whole number are whole numbers, not {bound!r}")
        self.check(self.default)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        # `step: float = param(1)` is a real number; the annotation may be a text.
        annotation = owner.__dict__.get("__annotations__", {}).get(name)
        if self.kind == "int" and annotation in (float, "float"):
            self.kind, self.default = "float", float(self.default)

    def check(self, value: Any) -> Value:
        """Returns the value in the parameter's kind.

        Raises
        ------
        TypeError
            If it is of another kind.
        ValueError
            If it is not finite, outside of the bounds, or none of the choices.
        """
        kind, name = self.kind, self.name
        if hasattr(value, "item") and not isinstance(value, (bool, int, float, str)):
            value = value.item()  # a number of numpy
        if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if KINDS.get(type(value)) != kind:
            raise TypeError(f"parameter `{name}` is of kind {kind}; {value!r} is not")
        if kind == "text":
            if self.choices is not None and value not in self.choices:
                raise ValueError(f"parameter `{name}`: {value!r} is none of {', '.join(self.choices)}")
        elif isinstance(value, (int, float)) and kind != "bool":
            if not math.isfinite(value):
                raise ValueError(f"parameter `{name}` is {value}, not a finite number")
            if self.min is not None and value < self.min:
                raise ValueError(f"parameter `{name}`: {value} is below {self.min}")
            if self.max is not None and value > self.max:
                raise ValueError(f"parameter `{name}`: {value} is above {self.max}")
        return cast(Value, value)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.get(self.name, self.default)

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = self.check(value)


def param(
    default: T,
    *,
    min: T | None = None,
    max: T | None = None,
    choices: Sequence[T] | None = None,
    doc: str,
) -> T:
    """Declares a parameter of a solver or learner, as a class attribute that specs may set.

    ``step: float = param(0.5, min=0.0, max=2.0, doc="Step, relative to the largest row sum")``

    The harness reads it without running the file, so every argument must be a literal or the name of a module constant.
    In methods ``self.step`` is the value of the case.

    Parameters
    ----------
    default : bool, int, float or str
        The default, whose type is the parameter's kind. With the annotation ``float`` an int is one too.
    min, max : number, optional
        Bounds of a number, themselves permitted.
    choices : sequence of str, optional
        All values that a text may have.
    doc : str
        One line, with the unit.

    Raises
    ------
    TypeError, ValueError
        If these contradict each other, or the default is not permitted.
    """
    # A descriptor, of which a type checker sees what reading it from an object gives.
    made: Any = Param(default, min, max, choices, doc)
    return cast(T, made)


def params_of(owner: type) -> dict[str, Param]:
    """Returns the parameters of a class by name: those of its bases first, in the order in which they are written."""
    found: dict[str, Param] = {}
    for base in reversed(owner.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Param):
                found[name] = value
            elif name in found:
                del found[name]  # replaced by something else
    return found


def configure(target: Any, values: dict[str, Any]) -> None:
    """Sets parameters of an object.

    Raises
    ------
    TypeError, ValueError
        If one is unknown, of another kind or outside of its bounds.
    """
    known = params_of(type(target))
    for name, value in values.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"{type(target).__name__} has no parameter `{name}`; it has {names}")
        setattr(target, name, value)
