"""The local files that a file's imports reach, and the installed packages beside them."""

from __future__ import annotations

import ast
import hashlib
import os
import sys

from .problems import Problems
from .search import Found, Search

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Closure", "close"]

#: The package of this project, whose files the caller adds.
OURS = "gpbench_harness"


class Closure:
    """What the imports of a file reach.

    Attributes
    ----------
    files : dict of str to (str, str)
        SHA-256 and name of each local file, by path.
    packages : dict of str to Found
        Installed top-level modules, by name.
    missing : dict of str to bool
        Top-level modules that are nowhere, and whether the file itself imports one unconditionally.
    """

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str]] = {}
        self.packages: dict[str, Found] = {}
        self.missing: dict[str, bool] = {}


def close(file: str, tree: ast.Module, source: bytes, uses: list[str], problems: Problems) -> Closure:
    """Follows the imports of a file, and those of the local files that they reach.

    Parameters
    ----------
    file : str
        Absolute path.
    tree, source
        Of this file.
    uses : list of str
        Further files by absolute path, which exist.
    """
    folder = os.path.dirname(file)
    search, closure = Search(folder), Closure()
    closure.files[file] = (digest(source), os.path.basename(file))
    todo = [(tree, "", True)]
    known: dict[str, Found | None] = {}

    def add(path: str, name: str, package: str) -> None:
        """Adds a local file, and follows its imports if it is source text."""
        real = os.path.abspath(path)
        if real in closure.files:
            return
        try:
            with open(real, "rb") as opened:
                content = opened.read()
        except OSError as error:
            problems.at(1, 1, f"{real}: {error.strerror}")
            return
        closure.files[real] = (digest(content), name_of(real, folder, name))
        if real.endswith(".py"):
            try:
                todo.append((ast.parse(content, real), package, False))
            except SyntaxError as error:
                problems.syntax(error, real)
            except ValueError as error:  # a null byte
                problems.at(1, 1, str(error), real)

    def find(name: str) -> Found | None:
        """Returns a module by its dotted name, having added what importing it runs."""
        if name in known:
            return known[name]
        parent_name, _, _ = name.rpartition(".")
        parent = find(parent_name) if parent_name else None
        found: Found | None = None
        if not parent_name or (parent is not None and not parent.installed):
            found = search.module(name, parent)
        elif parent is not None:
            found = parent  # inside an installed package, of which the whole counts
        known[name] = found
        if found is not None and found is not parent:
            if found.installed:
                closure.packages[name] = found
            elif found.file is not None:
                is_package = found.locations is not None
                add(found.file, name, name if is_package else parent_name)
        return found

    for path in uses:
        add(path, os.path.relpath(path, folder), "")
    while todo:
        current, package, is_script = todo.pop()
        unconditional = {id(node) for node in current.body} if is_script else set()
        for name, members, node in imported(current, package):
            top = name.split(".")[0]
            if top == OURS:
                continue
            found = find(name)
            if find(top) is None and top not in sys.stdlib_module_names:
                closure.missing[top] = closure.missing.get(top, False) or id(node) in unconditional
            if found is not None and not found.installed:
                for member in members:
                    find(f"{name}.{member}")
    return closure


def imported(tree: ast.Module, package: str) -> Iterator[tuple[str, list[str], ast.AST]]:
    """Yields what the statements of a module import: dotted name, names taken from it, statement."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, [], node
        elif isinstance(node, ast.ImportFrom):
            name = node.module or ""
            if node.level:
                parts = package.split(".") if package else []
                parts = parts[: len(parts) - node.level + 1]
                name = ".".join([*parts, name] if name else parts)
            if name:
                yield name, [alias.name for alias in node.names if alias.name != "*"], node
        elif isinstance(node, ast.Call) and node.args:
            # importlib.import_module("x")
            function = getattr(node.func, "attr", getattr(node.func, "id", ""))
            value = getattr(node.args[0], "value", None)
            if function in ("import_module", "__import__") and isinstance(value, str) and not value.startswith("."):
                if all(part.isidentifier() for part in value.split(".")):
                    yield value, [], node


def name_of(path: str, folder: str, name: str) -> str:
    """Returns the name of a part: its path from the script's folder, or the module's name where it lies elsewhere."""
    if path.startswith(folder + os.sep):
        return os.path.relpath(path, folder)
    return name


def digest(content: bytes) -> str:
    """Returns the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
