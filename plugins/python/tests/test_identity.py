"""`describe.py`: what a file consists of, and which changes make it another one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SOLVER, described, identity

from gpbench_harness.description import assemble

Write = Callable[..., Path]

TREE = {
    "one.py": "from helpers.steps import step\nimport table\n" + SOLVER,
    "helpers/__init__.py": "",
    "helpers/steps.py": "from . import deep\nstep = deep.value\n",
    "helpers/deep.py": "value = 1\n",
    "helpers/unrelated.py": "value = 2\n",
    "table.py": "def f():\n    from helpers import lazy\n",
    "helpers/lazy.py": "import importlib\nm = importlib.import_module('plain')\n",
    "plain.py": "x = 1\n",
    "other.py": "y = 2\n",
}


class Environment:
    """A virtual environment with packages that are made up."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.python = str(folder / "bin" / "python")
        (self.site,) = (folder / "lib").glob("python3.*/site-packages")
        self.install("numpy", "1.24.0")

    def install(self, name: str, version: str, requires: tuple[str, ...] = (), module: str = "") -> None:
        module = module or name.replace("-", "_")
        for old in self.site.glob(f"{name.replace('-', '_')}-*.dist-info"):
            for file in old.iterdir():
                file.unlink()
            old.rmdir()
        info = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        package = self.site / module
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(f"version = {version!r}\n")
        needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}\nText\n")
        (info / "RECORD").write_text(f"{module}/__init__.py,sha256={version},1\n")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment") / "venv")


def names(description: dict[str, Any], kind: str) -> list[str]:
    """Names of the parts of a kind, without the files of the package."""
    found = [part["name"] for part in description["parts"] if part["kind"] == kind]
    return [name for name in found if not name.startswith("gpbench_harness/")]


def test_the_files_that_imports_reach(write: Write) -> None:
    description = described(write(TREE))
    assert names(description, "FILE") == [
        "helpers/__init__.py",
        "helpers/deep.py",
        "helpers/lazy.py",
        "helpers/steps.py",
        "one.py",
        "plain.py",
        "table.py",
    ]
    for part in description["parts"]:
        assert os.path.isabs(part["path"]) and len(part["sha256"]) == 64


@pytest.mark.parametrize("name", ["one.py", "helpers/steps.py", "helpers/deep.py", "helpers/lazy.py", "plain.py"])
def test_an_edit_makes_it_another(write: Write, name: str) -> None:
    before = identity(described(write(TREE)))
    after = identity(described(write({**TREE, name: TREE[name] + "# edited\n"})))
    assert before != after


def test_an_edit_of_another_file_does_not(write: Write) -> None:
    before = identity(described(write(TREE)))
    changed = {"other.py": "y = 3  # comment\n", "helpers/unrelated.py": "value = 3\n", "data.csv": "1\n"}
    assert identity(described(write({**TREE, **changed}))) == before


def test_another_folder_does_not(write: Write, tmp_path: Path) -> None:
    file = write(TREE)
    before = identity(described(file))
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    assert identity(described(moved / "one.py")) == before


def test_files_that_the_author_names(write: Write) -> None:
    text = 'gpbench_uses = ["table.npz", "lazy.py"]\n' + SOLVER
    files = {"one.py": text, "table.npz": "1", "lazy.py": "import later\n", "later.py": "z = 1\n"}
    description = described(write(files))
    assert names(description, "FILE") == ["later.py", "lazy.py", "one.py", "table.npz"]
    changed = described(write({**files, "table.npz": "2"}))
    assert identity(changed) != identity(description)
    description = described(write({**files, "one.py": text.replace("table.npz", "missing.npz")}))
    (error,) = description["errors"]
    assert "'missing.npz', which does not exist" in error["text"] and (error["line"], error["column"]) == (1, 17)


def test_packages_with_what_they_require(write: Write, environment: Environment) -> None:
    environment.install("fast-kernels", "1.0", ("base-lib>=1", 'extra-lib; extra == "all"', "nowhere"), "kernels_c")
    environment.install("base-lib", "0.5", ("deep_lib",))
    environment.install("deep-lib", "3")
    environment.install("extra-lib", "1")
    environment.install("unrelated", "1")
    file = write({"one.py": "import kernels_c.sub\n" + SOLVER})
    description = described(file, environment.python)
    assert description["absent"] is None
    assert names(description, "PACKAGE") == ["base_lib", "deep_lib", "fast_kernels", "numpy"]
    (part,) = [part for part in description["parts"] if part["name"] == "fast_kernels"]
    assert part["version"] == "1.0" and part["path"].endswith("RECORD")

    environment.install("unrelated", "2")
    assert identity(described(file, environment.python)) == identity(description)
    environment.install("deep-lib", "4")
    assert identity(described(file, environment.python)) != identity(description)


def test_a_module_that_no_distribution_owns(write: Write, environment: Environment) -> None:
    loose = environment.site / "loose"
    loose.mkdir(exist_ok=True)
    (loose / "__init__.py").write_text("")
    (loose / "inner.py").write_text("a = 1\n")
    file = write({"one.py": "import loose\n" + SOLVER})
    before = described(file, environment.python)
    assert "loose/inner.py" in names(before, "FILE")
    (loose / "inner.py").write_text("a = 2\n")
    assert identity(described(file, environment.python)) != identity(before)


def test_editable_installations_are_files(write: Write, environment: Environment, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    file = write(
        {
            "script/one.py": "import by_path.inner\nimport by_finder\n" + SOLVER,
            "checkout/by_path/__init__.py": "",
            "checkout/by_path/inner.py": "a = 1\n",
            "checkout/by_finder/__init__.py": "from by_finder import inner\n",
            "checkout/by_finder/inner.py": "b = 1\n",
        }
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    (checkout / "by_finder").rename(outside / "by_finder")
    finder = f"""
import sys
from importlib.machinery import PathFinder

class _EditableFinder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return PathFinder.find_spec(name, [{str(outside)!r}]) if name == "by_finder" else None

def install():
    sys.meta_path.append(_EditableFinder)
"""
    (environment.site / "__editable___by_finder_1_0_finder.py").write_text(finder)
    (environment.site / "by_finder.pth").write_text(
        "import __editable___by_finder_1_0_finder; __editable___by_finder_1_0_finder.install()\n"
    )
    (environment.site / "by_path.pth").write_text(f"{checkout}\n")
    try:
        description = described(file, environment.python)
        assert names(description, "FILE") == [
            "by_finder",
            "by_finder.inner",
            "by_path",
            "by_path.inner",
            "one.py",
        ]
        (outside / "by_finder" / "inner.py").write_text("b = 2\n")
        assert identity(described(file, environment.python)) != identity(description)
    finally:
        for name in ("by_finder.pth", "by_path.pth", "__editable___by_finder_1_0_finder.py"):
            (environment.site / name).unlink()


def test_folders_of_the_search_path(write: Write, tmp_path: Path) -> None:
    file = write({"script/one.py": "import far\n" + SOLVER, "lib/far.py": "x = 1\n"})
    description = described(file, environment={"PYTHONPATH": str(tmp_path / "lib")})
    assert names(description, "FILE") == ["far", "one.py"]


def test_a_file_that_hides_a_module_of_the_standard_library(write: Write) -> None:
    description = described(write({"one.py": "import random\n" + SOLVER, "random.py": "x = 1\n"}))
    assert names(description, "FILE") == ["one.py", "random.py"]


def test_nested_namespaces_and_circles(write: Write) -> None:
    files = {
        "one.py": "import space.inner.leaf\n" + SOLVER,
        "space/inner/leaf.py": "import one\nimport space.inner.other as other\n",
        "space/inner/other.py": "from . import leaf\n",
    }
    assert names(described(write(files)), "FILE") == ["one.py", "space/inner/leaf.py", "space/inner/other.py"]


def test_an_error_in_a_helper_names_its_file(write: Write) -> None:
    description = described(write({"one.py": "import broken\n" + SOLVER, "broken.py": "def f(:\n"}))
    (error,) = description["errors"]
    assert error["file"].endswith("broken.py") and (error["line"], error["text"][:11]) == (1, "SyntaxError")


def test_the_package_itself_is_a_part(write: Write) -> None:
    found = {part["name"] for part in described(write({"one.py": SOLVER}))["parts"]}
    assert {"gpbench_harness/operator.py", "gpbench_harness/problem.py"} <= found
    assert "gpbench_harness/results.py" not in found


def test_another_interpreter_is_another_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = assemble.runtime()
    assert before["kind"] == "RUNTIME" and before["name"] == sys.implementation.name
    assert before["version"].startswith(sys.version.split()[0])
    other = tmp_path / "python"
    other.write_bytes(Path(before["path"]).read_bytes())
    monkeypatch.setattr(sys, "executable", str(other))
    after = assemble.runtime()
    assert after["sha256"] == before["sha256"] and after["version"] != before["version"]


def test_an_older_python_says_so(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpbench_harness import description

    monkeypatch.setattr(description, "OLDEST_PYTHON", (3, 99))
    found = description.describe(str(write({"one.py": SOLVER})))
    assert found["absent"].startswith("needs Python >=3.99, and ")
    assert (found["classes"], found["parts"], found["errors"]) == ([], [], [])


def test_without_isolated_mode(write: Write) -> None:
    from conftest import DESCRIBE

    command = [sys.executable, "-B", str(DESCRIBE), str(write({"one.py": "import operator\n" + SOLVER}))]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert '"FILE", "name": "operator.py"' not in finished.stdout and '"id": "fancy"' in finished.stdout
