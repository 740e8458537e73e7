"""Versions of packages and conditions on them, as of PEP 440 and PEP 508. The standard library has neither."""

from __future__ import annotations

import ast
import os
import platform
import re
import sys

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Requirement", "satisfies"]

_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>a|b|c|rc|alpha|beta|pre|preview)[-_.]?(?P<pre_n>\d*))?"
    r"(?P<post>-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?P<dev>[-_.]?dev[-_.]?\d*)?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(===|~=|==|!=|<=|>=|<|>)\s*([^\s,;]+)")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*(@[^;]*|[^;]*?)\s*(?:;(.*))?$")
_PRE = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}


def key(version: str) -> tuple[Any, ...] | None:
    """Returns what sorts versions; None if it is no version."""
    match = _VERSION.fullmatch(version.strip())
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    pre, post, dev = match["pre"], match["post"], match["dev"]
    if pre is not None:
        before: tuple[int, int] = (_PRE[pre.lower()], int(match["pre_n"] or 0))
    else:
        # A development version comes before the pre-releases, and a release after them.
        before = (-1, 0) if dev is not None and post is None else (3, 0)
    after = -1 if post is None else digits(post)
    last = (1, 0) if dev is None else (0, digits(dev))
    return int(match["epoch"] or 0), release, before, after, last


def digits(text: str) -> int:
    """Returns the number in a text such as ``.post3``; 0 without one."""
    return int(re.sub(r"\D", "", text) or 0)


def satisfies(version: str, conditions: str) -> bool:
    """Whether a version meets conditions such as ``>=2.1,<3``. What cannot be read is taken as met."""
    have = key(version)
    if have is None:
        return True
    for operator, text in _CONDITION.findall(conditions):
        if operator == "===":
            if version != text:
                return False
            continue
        if operator in ("==", "!=") and text.endswith(".*"):
            wanted = [int(part) for part in re.findall(r"\d+", text[:-2])]
            if (padded(have[1], len(wanted)) == wanted) != (operator == "=="):
                return False
            continue
        want = key(text)
        if want is None:
            continue
        if operator == "~=":
            fixed = [int(part) for part in re.findall(r"\d+", _VERSION.match(text)["release"])][:-1]  # type: ignore[index]
            if have < want or padded(have[1], len(fixed)) != fixed:
                return False
        elif not compare(operator, have, want):
            return False
    return True


def padded(release: list[int], length: int) -> list[int]:
    """Returns the first parts of a release."""
    return (release + [0] * length)[:length]


def compare(operator: str, have: Any, want: Any) -> bool:
    """Compares two values."""
    return bool(
        {
            "==": have == want,
            "!=": have != want,
            ">=": have >= want,
            "<=": have <= want,
            ">": have > want,
            "<": have < want,
        }[operator]
    )


class Requirement:
    """A requirement such as ``torch>=2.1; python_version < "3.14"``.

    Raises
    ------
    ValueError
        If it is none.
    """

    def __init__(self, text: str) -> None:
        match = _REQUIREMENT.match(text)
        if match is None:
            raise ValueError(text)
        conditions = match[3].strip().strip("()").strip()
        if conditions and not conditions.startswith("@"):
            if not re.fullmatch(r"(?:\s*,?\s*(===|~=|==|!=|<=|>=|<|>)\s*[^\s,;]+)+\s*,?", conditions):
                raise ValueError(text)
        self.name = match[1]
        self.extras = match[2] or ""
        self.conditions = conditions
        self.marker = (match[4] or "").strip()

    @property
    def applies(self) -> bool:
        """Whether it is asked for here. What cannot be read is taken to apply."""
        if not self.marker:
            return True
        try:
            return evaluate(ast.parse(self.marker, mode="eval").body)
        except (SyntaxError, ValueError):
            return True

    def admits(self, version: str) -> bool:
        """Whether a version will do."""
        return self.conditions.startswith("@") or satisfies(version, self.conditions)

    def __str__(self) -> str:
        return f"{self.name}{self.extras}{self.conditions.replace(' ', '')}"


def variables() -> dict[str, str]:
    """Returns the variables of markers."""
    return {
        "python_version": ".".join(map(str, sys.version_info[:2])),
        "python_full_version": platform.python_version(),
        "os_name": os.name,
        "sys_platform": sys.platform,
        "platform_system": platform.system(),
        "platform_machine": platform.machine(),
        "platform_release": platform.release(),
        "platform_python_implementation": platform.python_implementation(),
        "implementation_name": sys.implementation.name,
        "extra": "",
    }


def evaluate(node: ast.expr) -> bool:
    """Evaluates a marker, whose grammar is a part of Python's."""
    if isinstance(node, ast.BoolOp):
        values = [evaluate(value) for value in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        raise ValueError("no marker")
    known = variables()
    sides: list[str] = []
    versions = False
    for side in (node.left, node.comparators[0]):
        if isinstance(side, ast.Name):
            sides.append(known[side.id])
            versions = versions or side.id in ("python_version", "python_full_version")
        elif isinstance(side, ast.Constant) and isinstance(side.value, str):
            sides.append(side.value)
        else:
            raise ValueError("no marker")
    operators = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
    if isinstance(node.ops[0], ast.In):
        return sides[0] in sides[1]
    if isinstance(node.ops[0], ast.NotIn):
        return sides[0] not in sides[1]
    operator = operators.get(type(node.ops[0]))
    if operator is None:
        raise ValueError("no marker")
    if versions:
        return satisfies(sides[0], operator + sides[1])
    return compare(operator, sides[0], sides[1])
