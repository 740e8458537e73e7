"""What the rules of solvers and of learners share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .agree import disagreements
from .check import Finding
from .inputs import Shape

__all__ = ["Failed", "Skipped", "apply", "demand_bytes", "description", "shape_of"]


class Failed(Exception):
    """The rule is not kept."""


class Skipped(Exception):
    """The rule does not concern this solver or learner."""


def apply(rules: dict[str, Callable[[], None]]) -> list[Finding]:
    """Applies rules in order. Exceptions of the author's code pass out."""
    findings = []
    for name, rule in rules.items():
        try:
            rule()
        except Failed as failed:
            findings.append(Finding(name, "failed", str(failed)))
        except Skipped as skipped:
            findings.append(Finding(name, "skipped", str(skipped)))
        else:
            findings.append(Finding(name, "passed"))
    return findings


def description(method: type) -> None:
    """The file shows without being run what the class is."""
    import ast

    from .description.classes import read_classes
    from .description.problems import Problems

    try:
        file = inspect.getsourcefile(method) or ""
        lines = inspect.findsource(method)[0]
    except (OSError, TypeError):
        raise Skipped("the class is in no file") from None
    problems = Problems(file)
    tree = ast.parse("".join(lines))
    classes = {one["class"]: one for one in read_classes(tree, problems)}
    here = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == method.__name__), None)
    if here is None:
        raise Skipped("the class is not at the top level of its file")
    own = [p for p in problems.found if here.lineno <= int(str(p["line"])) <= (here.end_lineno or here.lineno)]
    if own:
        raise Failed("; ".join(f"line {p['line']}, column {p['column']}: {p['text']}" for p in own))
    found = disagreements(method, classes[method.__name__])
    if found:
        raise Failed("; ".join(found))


def shape_of(**sizes: Any) -> Shape:
    """The sizes of a small problem."""
    return Shape(**{"family": "matern32", "threads": 1, **sizes})


def demand_bytes(answer: object) -> None:
    """Fails unless an estimate is a number of bytes."""
    try:
        number = float(answer)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number < float("inf"):
        raise Failed(f"`estimate` returned {answer!r}, not a number of bytes")
