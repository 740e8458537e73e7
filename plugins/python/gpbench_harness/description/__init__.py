"""What a Python file has, and what it consists of, read without running it. The standard library alone.

The form of a description is documented in ``describe.py`` beside this folder.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["OLDEST_PYTHON", "describe"]

OLDEST_PYTHON = (3, 10)


def describe(file: str) -> "dict[str, Any]":
    """Returns the description of a file, as ``describe.py`` prints it."""
    file = os.path.abspath(file)
    described: dict[str, Any] = {
        "format": 1,
        "file": file,
        "python": sys.executable,
        "classes": [],
        "parts": [],
        "absent": None,
        "unresolved": [],
        "errors": [],
    }
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        described["absent"] = "needs Python >=%s, and %s is %s" % (
            wanted,
            sys.executable,
            sys.version.split()[0],
        )
        return described
    # Only now, since these are written for newer versions.
    from .assemble import assemble

    assemble(file, described)
    return described
