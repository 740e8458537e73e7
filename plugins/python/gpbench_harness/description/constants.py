"""Constants of a module, and values that are literals or such constants."""

from __future__ import annotations

import ast

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Constants"]


class Constants:
    """Names that a module assigns once, at its top level, to a literal."""

    def __init__(self, tree: ast.Module) -> None:
        self._values: dict[str, Any] = {}
        self._changed: set[str] = set()
        top = {id(statement) for statement in tree.body}
        for node in ast.walk(tree):
            name, value = assignment(node)
            if name is None:
                continue
            if id(node) not in top:
                if isinstance(node, ast.AugAssign):
                    self._changed.add(name)
                continue
            if name in self._values or name in self._changed or value is None:
                self._changed.add(name)
                continue
            try:
                self._values[name] = self.value(value)
            except ValueError:
                self._changed.add(name)

    def value(self, node: ast.expr) -> Any:
        """Returns the value of a literal, a constant, or a tuple or list of them.

        Raises
        ------
        ValueError
            If it is something else.
        """
        if isinstance(node, ast.Name):
            if node.id in self._values and node.id not in self._changed:
                return self._values[node.id]
            raise ValueError(node.id)
        if isinstance(node, (ast.Tuple, ast.List)):
            values = [self.value(item) for item in node.elts]
            return tuple(values) if isinstance(node, ast.Tuple) else values
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise ValueError(ast.dump(node)) from None


def assignment(node: ast.AST) -> tuple[str | None, ast.expr | None]:
    """Returns the name that a statement assigns and the value, or None."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return node.target.id, node.value
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id, None
    return None, None
