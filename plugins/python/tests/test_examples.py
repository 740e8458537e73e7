"""The files of examples/ keep the rules of every solver. One whose package is missing is skipped, and says which."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, described

import gpbench_harness as gpb

EXAMPLES = {"numba_cg": "NumbaCg", "torch_cg": "TorchCg"}


def example(name: str) -> Path:
    """The file of an example whose packages are installed."""
    file = PACKAGE / "examples" / f"{name}.py"
    description = described(file)
    assert description["errors"] == []
    if description["absent"]:
        pytest.skip(f"{name}: {description['absent']}")
    return file


def test_every_example_is_tested() -> None:
    files = {file.stem for file in (PACKAGE / "examples").glob("*.py")}
    assert files == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_keeps_the_rules_of_every_solver(name: str) -> None:
    result = gpb.check(runpy.run_path(str(example(name)))[EXAMPLES[name]])
    assert result.passed, result
    assert result.solved is not None and result.solved.report.reason == "converged", result


@pytest.mark.skipif(shutil.which("gpbench") is None, reason="the program gpbench is not on the PATH")
@pytest.mark.parametrize("name", EXAMPLES)
def test_it_passes_the_conformance_suite(name: str) -> None:
    environment = {**os.environ, "GPBENCH_PYTHON": sys.executable}
    command = ["gpbench", "plugin", "test", str(example(name))]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
