"""Errors of a description, with their places."""

from __future__ import annotations

import ast

__all__ = ["NOT_RUN", "Problems"]

#: Why a value must be plain.
NOT_RUN = "gpbench reads this without running the file: use a literal, or the name of a constant of this module"


class Problems:
    """A list of errors."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[dict[str, object]] = []

    def add(self, node: ast.AST | None, text: str) -> None:
        """Adds an error at a node, or at the start of the file."""
        self.at(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, text)

    def at(self, line: int, column: int, text: str, file: str | None = None) -> None:
        """Adds an error at a line and a column, both from 1."""
        self.found.append({"file": file or self.file, "line": line, "column": column, "text": text})

    def syntax(self, error: SyntaxError, file: str) -> None:
        """Adds an error of syntax."""
        self.at(error.lineno or 1, max(error.offset or 1, 1), f"SyntaxError: {error.msg}", file)
