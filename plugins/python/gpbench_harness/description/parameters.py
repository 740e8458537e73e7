"""Parameters of a class, from its syntax tree."""

from __future__ import annotations

import ast
import math
import re

from .constants import Constants
from .problems import NOT_RUN, Problems

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from typing import Any

__all__ = ["is_param", "read_param"]

_KINDS = {bool: "bool", int: "int", float: "float", str: "text"}
_NAME = re.compile(r"[a-z0-9_]+")
_KEYWORDS = ("default", "min", "max", "choices", "doc")
_LARGEST = 1 << 63


def is_param(node: ast.expr) -> bool:
    """Whether a value is a call of `param`."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    return getattr(function, "id", getattr(function, "attr", "")) == "param"


def read_param(
    name: str, node: ast.expr, annotation: ast.expr | None, constants: Constants, problems: Problems
) -> dict[str, Any] | None:
    """Returns the description of a parameter; None where an error was found."""
    assert isinstance(node, ast.Call)
    before = len(problems.found)

    def wrong(place: ast.AST, text: str) -> None:
        problems.add(place, f"parameter `{name}`: {text}")

    if not _NAME.fullmatch(name):
        wrong(node, "its name must be lower-case letters, digits and underscores")
    arguments: dict[str, ast.expr] = {}
    for index, argument in enumerate(node.args):
        if index > 0 or isinstance(argument, ast.Starred):
            wrong(argument, "only the default may be given without a name")
        else:
            arguments["default"] = argument
    for keyword in node.keywords:
        if keyword.arg not in _KEYWORDS:
            wrong(keyword.value, f"`param` takes {', '.join(_KEYWORDS)}, not `{keyword.arg or '**'}`")
        else:
            arguments[keyword.arg] = keyword.value
    values: dict[str, Any] = {}
    for key, value in arguments.items():
        try:
            values[key] = constants.value(value)
        except ValueError:
            wrong(value, f"`{key}`: {NOT_RUN}")
    if "default" not in arguments:
        wrong(node, "it has no default")
    if "doc" not in arguments:
        wrong(node, "it has no `doc`, one line with the unit")
    if len(problems.found) > before:
        return None

    default = values["default"]
    if type(default) not in _KINDS:
        wrong(arguments["default"], f"its default must be a bool, int, float or str, not {default!r}")
        return None
    kind = _KINDS[type(default)]
    is_float = isinstance(annotation, ast.Name) and annotation.id == "float"
    is_float = is_float or (isinstance(annotation, ast.Constant) and annotation.value == "float")
    if kind == "int" and is_float:
        kind = "float"
    described: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "default": float(default) if kind == "float" else default,
        "min": values.get("min"),
        "max": values.get("max"),
        "choices": None if values.get("choices") is None else list(values["choices"]),
        "doc": values["doc"],
        "line": node.lineno,
    }
    check(described, arguments, wrong)
    return described if len(problems.found) == before else None


def check(described: dict[str, Any], arguments: dict[str, ast.expr], wrong: Any) -> None:
    """Checks that the parts of a parameter fit together."""
    kind, default = described["kind"], described["default"]
    if not isinstance(described["doc"], str) or not described["doc"].strip():
        wrong(arguments["doc"], "its `doc` must be a text that is not empty")
    for key in ("min", "max"):
        bound = described[key]
        if bound is None:
            continue
        if kind not in ("int", "float"):
            wrong(arguments[key], f"a {kind} has no `{key}`")
            return
        if isinstance(bound, bool) or not isinstance(bound, (int, float)):
            wrong(arguments[key], f"its `{key}` must be a number, not {bound!r}")
            return
        if kind == "int" and not isinstance(bound, int):
            wrong(arguments[key], f"its `{key}` must be a whole number, not {bound!r}")
            return
        if not math.isfinite(bound):
            wrong(arguments[key], f"leave `{key}` out where there is no bound")
            return
        if kind == "float":
            described[key] = float(bound)
    choices = described["choices"]
    if choices is not None:
        if kind != "text":
            wrong(arguments["choices"], "only a text has `choices`")
        elif not choices or not all(isinstance(choice, str) for choice in choices):
            wrong(arguments["choices"], "its `choices` must be texts")
        elif default not in choices:
            wrong(arguments["default"], f"its default {default!r} is none of {', '.join(choices)}")
    if kind in ("int", "float"):
        if not math.isfinite(default):
            wrong(arguments["default"], f"its default must be finite, not {default}")
        elif kind == "int" and not -_LARGEST <= default < _LARGEST:
            wrong(arguments["default"], "a whole number must fit into 64 bits")
        elif described["min"] is not None and default < described["min"]:
            wrong(arguments["default"], f"its default {default} is below {described['min']}")
        elif described["max"] is not None and default > described["max"]:
            wrong(arguments["default"], f"its default {default} is above {described['max']}")
