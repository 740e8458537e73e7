"""Finds the package of this checkout, and has helpers that several files use."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parent.parent
sys.path.insert(0, str(PACKAGE))

DESCRIBE = PACKAGE / "gpbench_harness" / "describe.py"

SOLVER = '''\
from gpbench_harness import Solver, param


class Fancy(Solver):
    """A line"""

    id = "fancy"
    step: float = param(0.5, min=0.0, max=2.0, doc="Step")

    def solve(self, problem):
        return None
'''


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes files below a folder and returns the path of the first."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / next(iter(files))

    return write


def described(file: Path, python: str = sys.executable, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """What `describe.py` prints, run as the harness runs it."""
    import os

    finished = subprocess.run(
        [python, "-I", "-B", str(DESCRIBE), str(file)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    result: dict[str, Any] = json.loads(finished.stdout)
    return result


def identity(description: dict[str, Any]) -> str:
    """The identity that the harness computes from the parts."""
    import hashlib

    lines = sorted(f"{p['kind']}\t{p['name']}\t{p['version']}\t{p['sha256']}\n" for p in description["parts"])
    return hashlib.sha256("".join(lines).encode()).hexdigest()
