"""Puts the description of a file together."""

from __future__ import annotations

import ast
import hashlib
import os
import sys

from .classes import read_classes
from .constants import assignment
from .imports import close
from .packages import Packages, stamp_digest
from .problems import NOT_RUN, Problems
from .script_block import absent, read_block
from .search import Search

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from typing import Any

__all__ = ["assemble", "own_files"]

# Files of the package that no case runs.
_NOT_IN_A_CASE = {
    "budget.py",
    "check.py",
    "check_learner.py",
    "check_solver.py",
    "dense.py",
    "dense_fit.py",
    "describe.py",
    "kernels.py",
    "program.py",
    "results.py",
    "rules.py",
}


def assemble(file: str, described: dict[str, Any]) -> None:
    """Fills in the description of a file."""
    problems = Problems(file)
    described["errors"] = problems.found
    try:
        with open(file, "rb") as opened:
            source = opened.read()
    except OSError as error:
        problems.add(None, f"the file cannot be read: {error.strerror}")
        return
    try:
        tree = ast.parse(source, file)
    except SyntaxError as error:
        problems.syntax(error, file)
        return
    except ValueError as error:
        problems.add(None, f"the file is no Python text: {error}")
        return
    described["classes"] = read_classes(tree, problems)
    uses = read_uses(tree, os.path.dirname(file), problems)
    closure = close(file, tree, source, uses, problems)
    packages = Packages(Search(os.path.dirname(file)).sites)

    parts = [part("FILE", name, "", path, sha256) for path, (sha256, name) in closure.files.items()]
    parts += own_files()
    owners = []
    for name, module in closure.packages.items():
        found = packages.owners(module)
        owners += found
        if not found:
            # Copied there by hand.
            parts += loose(name, module.file)
    numpy = packages.all.get("numpy")
    for owner in packages.with_required([*owners, *([numpy] if numpy else [])]):
        parts.append(part("PACKAGE", owner.name, owner.version, owner.stamp or "", stamp_digest(owner)))
    parts.append(runtime())
    described["parts"] = sorted(parts, key=lambda p: (p["kind"], p["name"], p["path"]))

    described["unresolved"] = sorted(closure.missing)
    text = source.decode("utf-8", errors="replace")
    described["absent"] = absent(*read_block(text, problems), packages, problems)
    if described["absent"] is None:
        needed = sorted(name for name, unconditional in closure.missing.items() if unconditional)
        if needed:
            plural = "modules" if len(needed) > 1 else "module"
            described["absent"] = f"needs the {plural} {', '.join(needed)} (not installed for {sys.executable})"
    problems.found.sort(key=lambda error: (error["file"] != file, error["file"], error["line"], error["column"]))


def part(kind: str, name: str, version: str, path: str, sha256: str) -> dict[str, str]:
    """Returns one part."""
    return {"kind": kind, "name": name, "version": version, "path": path, "sha256": sha256}


def file_part(name: str, path: str) -> dict[str, str]:
    """Returns the part of a file that is not parsed."""
    with open(path, "rb") as opened:
        return part("FILE", name, "", path, hashlib.sha256(opened.read()).hexdigest())


def own_files() -> list[dict[str, str]]:
    """Returns the files of gpbench_harness that take part in a case."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    names = sorted(name for name in os.listdir(folder) if name.endswith(".py") and name not in _NOT_IN_A_CASE)
    return [file_part(f"gpbench_harness/{name}", os.path.join(folder, name)) for name in names]


def loose(name: str, file: str | None) -> list[dict[str, str]]:
    """Returns the source files of a module in a folder of packages that no distribution owns."""
    if file is None:
        return []
    if os.path.basename(file) != "__init__.py":
        return [file_part(name, file)]
    top = os.path.dirname(file)
    found = []
    for folder, _, names in os.walk(top):
        for base in sorted(names):
            if base.endswith((".py", ".so")):
                path = os.path.join(folder, base)
                found.append(file_part(os.path.join(name, os.path.relpath(path, top)), path))
    return found


def runtime() -> dict[str, str]:
    """Returns the part of the interpreter. Its real path is a part of its version, so that another one is told apart."""
    path = os.path.realpath(sys.executable)
    with open(path, "rb") as opened:
        sha256 = hashlib.sha256(opened.read()).hexdigest()
    version = " ".join(sys.version.split()) + " " + path
    return part("RUNTIME", sys.implementation.name, version, path, sha256)


def read_uses(tree: ast.Module, folder: str, problems: Problems) -> list[str]:
    """Returns the files of `gpbench_uses`, by absolute path."""
    found: list[str] = []
    for statement in tree.body:
        name, value = assignment(statement)
        if name != "gpbench_uses" or value is None:
            continue
        if not isinstance(value, (ast.List, ast.Tuple)):
            problems.add(value, f"`gpbench_uses` must be a list of paths: {NOT_RUN}")
            continue
        for item in value.elts:
            if not isinstance(item, ast.Constant) or not isinstance(item.value, str):
                problems.add(item, f"`gpbench_uses`: {NOT_RUN}")
                continue
            path = os.path.normpath(os.path.join(folder, item.value))
            if os.path.isfile(path):
                found.append(path)
            else:
                what = "is a folder: name its files" if os.path.isdir(path) else "does not exist"
                problems.add(item, f"`gpbench_uses` names {item.value!r}, which {what}")
    return found
