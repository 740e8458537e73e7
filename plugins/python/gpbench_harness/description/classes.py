"""Solvers and learners of a module, from its syntax tree."""

from __future__ import annotations

import ast
import re

from .constants import Constants, assignment
from .parameters import is_param, read_param
from .problems import NOT_RUN, Problems

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CAPABILITIES", "METHODS", "read_classes"]

#: Capabilities of each kind.
CAPABILITIES = {
    "solver": ("exact", "randomized", "warm_start", "dense", "inducing"),
    "learner": ("kernel", "network", "finite", "inducing", "mean", "randomized"),
}

#: What a class may state for readers who choose a method.
FACTS = ("step", "memory", "guarantees", "advice")

#: Methods of each kind, and whether a class must have them.
METHODS = {
    "solver": {"warm_up": False, "prepare": False, "solve": True, "estimate": False},
    "learner": {
        "warm_up": False,
        "begin": True,
        "step": True,
        "predict": True,
        "model": False,
        "save": False,
        "load": False,
        "finished": False,
        "numbers": False,
        "estimate": False,
    },
}

_DEFAULT_CAPABILITIES = {"solver": [], "learner": ["kernel"]}
_BASES = {"Solver": "solver", "Learner": "learner"}
_ID = re.compile(r"[a-z0-9-]+")


def read_classes(tree: ast.Module, problems: Problems) -> list[dict[str, Any]]:
    """Returns the descriptions of the module's solvers and learners."""
    names = imported_bases(tree)
    constants = Constants(tree)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    chains = {name: chain(node, classes, names) for name, node in classes.items()}
    used = {parent.name for _, parents in chains.values() for parent in parents[1:]}
    found: list[dict[str, Any]] = []
    for name, node in classes.items():
        kind, parents = chains[name]
        has_id = any(assignment(statement)[0] == "id" for statement in node.body)
        if kind is None:
            if has_id and node.bases:
                problems.add(
                    node,
                    f"class `{name}` is no solver here: its base must be Solver or Learner of "
                    "gpbench_harness, or a class of this file that extends one",
                )
            continue
        if not has_id and name in used:
            continue  # a base of others
        found.append(read_class(node, parents, kind, constants, problems))
    if not found and not problems.found:
        problems.add(None, "this file has no class that extends Solver or Learner of gpbench_harness")
    seen: dict[str, str] = {}
    for described in found:
        other = seen.setdefault(described["id"], described["class"])
        if described["id"] and other != described["class"]:
            problems.add(
                classes[described["class"]],
                f'classes `{other}` and `{described["class"]}` have the same id "{described["id"]}"',
            )
    return found


def imported_bases(tree: ast.Module) -> dict[str, str]:
    """Returns names, as written, that stand for Solver and Learner, with their kinds."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module.split(".")[0] == "gpbench_harness":
                for alias in node.names:
                    if alias.name in _BASES:
                        names[alias.asname or alias.name] = _BASES[alias.name]
                    elif alias.name == "*":
                        names.update(_BASES)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "gpbench_harness":
                    for base, kind in _BASES.items():
                        names[f"{alias.asname or alias.name}.{base}"] = kind
    return names


def chain(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], names: dict[str, str]
) -> tuple[str | None, list[ast.ClassDef]]:
    """Returns the kind of a class, and the class with its bases in this file, in the order of look-up."""
    kind: str | None = None
    parents: list[ast.ClassDef] = []

    def visit(current: ast.ClassDef) -> None:
        nonlocal kind
        if current in parents:
            return
        parents.append(current)
        for base in current.bases:
            name = dotted(base)
            if name in names:
                kind = kind or names[name]
            elif name in classes and classes[name].lineno < current.lineno:
                visit(classes[name])

    visit(node)
    return kind, parents


def dotted(node: ast.expr) -> str:
    """Returns ``a.b`` as a text; empty if it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def read_class(
    node: ast.ClassDef, parents: list[ast.ClassDef], kind: str, constants: Constants, problems: Problems
) -> dict[str, Any]:
    """Returns the description of one class."""
    attributes: dict[str, tuple[ast.expr, ast.expr | None]] = {}
    methods: dict[str, ast.FunctionDef] = {}
    for parent in reversed(parents):
        for statement in parent.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if isinstance(statement, ast.FunctionDef):
                    methods[statement.name] = statement
                continue
            name, value = assignment(statement)
            if name is not None and value is not None:
                attributes[name] = (value, getattr(statement, "annotation", None))

    def literal(name: str, default: Any) -> Any:
        if name not in attributes:
            return default
        try:
            return constants.value(attributes[name][0])
        except ValueError:
            problems.add(attributes[name][0], f"`{name}` of class `{node.name}`: {NOT_RUN}")
            return None

    def place(name: str) -> ast.AST:
        return attributes[name][0] if name in attributes else node

    identity = literal("id", "")
    if "id" not in attributes:
        problems.add(node, f'class `{node.name}` has no `id`, by which specs name it: id = "{example(node.name)}"')
    elif identity is not None and (not isinstance(identity, str) or not _ID.fullmatch(identity)):
        problems.add(place("id"), f"the id {identity!r} must be lower-case letters, digits and hyphens")
    source = literal("source", "")
    if source is not None and not isinstance(source, str):
        problems.add(place("source"), f"`source` must be a text, not {source!r}")
    facts = literal("facts", {})
    if facts is not None and not is_facts(facts):
        problems.add(place("facts"), f"`facts` must be a dict of texts by {', '.join(FACTS)}, not {facts!r}")
        facts = None
    capabilities = literal("capabilities", _DEFAULT_CAPABILITIES[kind])
    if isinstance(capabilities, str):
        problems.add(place("capabilities"), f'`capabilities` must be a tuple: write ("{capabilities}",)')
        capabilities = None
    for capability in capabilities or ():
        if capability not in CAPABILITIES[kind]:
            problems.add(
                place("capabilities"),
                f"{capability!r} is no capability of a {kind}: use any of {', '.join(CAPABILITIES[kind])}",
            )
    doc = first_line(node)
    if not doc:
        problems.add(node, f"class `{node.name}` has no docstring, whose first line `gpbench list solvers` shows")
    params = [
        described
        for name, (value, annotation) in attributes.items()
        if is_param(value)
        for described in [read_param(name, value, annotation, constants, problems)]
        if described is not None
    ]
    check_methods(node, kind, methods, problems)
    return {
        "class": node.name,
        "kind": kind,
        "line": node.lineno,
        "id": identity if isinstance(identity, str) else "",
        "doc": doc,
        "source": source if isinstance(source, str) else "",
        "facts": facts or {},
        "capabilities": [c for c in capabilities or () if isinstance(c, str)],
        "methods": [name for name in METHODS[kind] if name in methods],
        "params": params,
    }


def is_facts(value: Any) -> bool:
    """Returns whether these are texts by names of facts."""
    return isinstance(value, dict) and all(k in FACTS and isinstance(v, str) for k, v in value.items())


def first_line(node: ast.ClassDef) -> str:
    """Returns the first line of a class's docstring. `ast.get_docstring` would import `inspect`."""
    first = node.body[0]
    value = first.value if isinstance(first, ast.Expr) else None
    text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
    lines = text.strip().splitlines()
    return lines[0].strip() if lines else ""


def example(name: str) -> str:
    """Returns an id for a class: ``MySolver`` becomes ``my-solver``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().replace("_", "-")


def check_methods(node: ast.ClassDef, kind: str, methods: dict[str, ast.FunctionDef], problems: Problems) -> None:
    """Checks that the class has the methods that it must have, and can be made without arguments."""
    for name, required in METHODS[kind].items():
        if required and name not in methods:
            problems.add(node, f"class `{node.name}` has no method `{name}`")
    if kind == "learner" and ("save" in methods) != ("load" in methods):
        there, missing = ("save", "load") if "save" in methods else ("load", "save")
        problems.add(methods[there], f"class `{node.name}` has `{there}` but no `{missing}`")
    start = methods.get("__init__")
    if start is not None:
        given = start.args
        needed = len(given.posonlyargs) + len(given.args) - len(given.defaults) - 1
        needed += sum(default is None for default in given.kw_defaults)
        if needed > 0:
            problems.add(
                start,
                f"`__init__` of class `{node.name}` takes arguments, but gpbench makes the object without "
                "any: declare parameters with `param`",
            )
