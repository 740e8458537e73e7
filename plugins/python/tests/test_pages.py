"""The examples of the pages run as they stand there."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from conftest import PACKAGE, described

import gpbench_harness as gpb


def block(page: str, name: str) -> str:
    """The text of a block that the page marks with a name."""
    text = (PACKAGE / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- test: {re.escape(name)} -->\n```\w+\n(.*?)```", text, re.DOTALL)
    assert found is not None, f"{page} has no block {name}"
    return found[1]


@pytest.mark.parametrize(
    ("name", "cls", "family"), [("mylib_cg.py", "MylibCg", "matern32"), ("mylib_own.py", "MylibOwn", "matern32")]
)
def test_the_files_of_maintainers(tmp_path: Path, name: str, cls: str, family: gpb.Family) -> None:
    if "scipy" in block("maintainers.md", name):
        pytest.importorskip("scipy")
    file = tmp_path / name
    file.write_text(block("maintainers.md", name))
    description = described(file)
    assert description["errors"] == [] and description["absent"] is None
    assert [one["class"] for one in description["classes"]] == [cls]
    method = runpy.run_path(str(file))[cls]
    rng = np.random.default_rng(0)
    problem = gpb.Problem.from_inputs(
        rng.standard_normal((80, 2)), rng.standard_normal(80), family=family, noise_scale=0.5, max_epochs=500.0
    )
    result = gpb.check(method, problem)
    assert result.passed and result.solved is not None, result
    assert result.solved.report.reason == "converged" and result.solved.residuals.max() <= 0.01
    stopped = gpb.Problem.from_inputs(
        rng.standard_normal((80, 2)), rng.standard_normal(80), family=family, noise_scale=0.1, max_epochs=3.0
    )
    result = gpb.check(method, stopped)
    assert result.passed and result.solved is not None and result.solved.report.reason == "stopped", result


def test_the_authors_page_shows_the_template() -> None:
    page = (PACKAGE / "README.md").read_text(encoding="utf-8")
    template = (PACKAGE / "template" / "fancy_solver.py").read_text(encoding="utf-8")
    shown = template[template.index("    def prepare") :]
    assert shown in page, "the example of README.md is another than template/fancy_solver.py"


def test_the_package_has_the_version_of_the_workspace() -> None:
    manifest = PACKAGE / "../../Cargo.toml"
    if not manifest.is_file():
        pytest.skip("no checkout")
    found = re.search(r'(?m)^version = "([^"]+)"', manifest.read_text(encoding="utf-8"))
    assert found is not None and found[1] == gpb.__version__
