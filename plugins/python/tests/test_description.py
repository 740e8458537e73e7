"""`describe.py`: classes, parameters, and errors with their places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SOLVER, described

Write = Callable[..., Path]


def classes_of(write: Write, text: str) -> list[dict[str, Any]]:
    description = described(write({"one.py": text}))
    assert description["errors"] == []
    found: list[dict[str, Any]] = description["classes"]
    return found


def error_of(write: Write, text: str) -> dict[str, Any]:
    errors = described(write({"one.py": text}))["errors"]
    assert len(errors) == 1, errors
    found: dict[str, Any] = errors[0]
    return found


def solver(body: str, *, head: str = "") -> str:
    return (
        "from gpbench_harness import Solver, param\n"
        f"{head}"
        "class Fancy(Solver):\n"
        '    """A line"""\n'
        '    id = "fancy"\n'
        f"    {body}\n"
        "    def solve(self, problem): pass\n"
    )


def test_a_solver(write: Write) -> None:
    text = '''
import gpbench_harness as gpb

RANK, MODES = 100, ("plain", "fast")
SOURCE = "A. Author. Title. Venue, 2025."
TOP = -5

class Fancy(gpb.Solver):
    """Richardson's iteration.

    More.
    """

    id = "fancy-2"
    source = SOURCE
    facts = {"step": "n^2 entries", "advice": "always"}
    capabilities = ("warm_start", "randomized")
    step: float = gpb.param(1, min=0, doc="Step")
    low: int = gpb.param(-3, min=TOP, max=7, doc="Low")
    mode: str = gpb.param("plain", choices=["plain", "fast"], doc="Mode")
    flag = gpb.param(True, doc="Flag")

    def prepare(self, problem): ...
    def solve(self, problem): ...
'''
    (one,) = classes_of(write, text)
    assert (one["class"], one["kind"], one["line"], one["id"]) == ("Fancy", "solver", 8, "fancy-2")
    assert one["doc"] == "Richardson's iteration."
    assert one["source"] == "A. Author. Title. Venue, 2025."
    assert one["facts"] == {"step": "n^2 entries", "advice": "always"}
    assert one["capabilities"] == ["warm_start", "randomized"]
    assert one["methods"] == ["prepare", "solve"]
    step, low, mode, flag = one["params"]
    assert step == {
        "name": "step",
        "kind": "float",
        "default": 1.0,
        "min": 0.0,
        "max": None,
        "choices": None,
        "doc": "Step",
        "line": 18,
    }
    assert (low["kind"], low["default"], low["min"], low["max"]) == ("int", -3, -5, 7)
    assert (mode["kind"], mode["choices"]) == ("text", ["plain", "fast"])
    assert (flag["kind"], flag["default"]) == ("bool", True)


def test_a_learner_has_the_kernel_by_default(write: Write) -> None:
    text = '''
from gpbench_harness import Learner as Base

class Mine(Base):
    """A line"""
    id = "mine"
    def begin(self, fit): ...
    def step(self, fit): ...
    def predict(self, x): ...
    def save(self): ...
    def load(self, fit, state): ...
'''
    (one,) = classes_of(write, text)
    assert (one["kind"], one["capabilities"]) == ("learner", ["kernel"])
    assert one["methods"] == ["begin", "step", "predict", "save", "load"]


def test_several_classes_with_a_base_in_the_file(write: Write) -> None:
    text = '''
from gpbench_harness import Solver, param

class Base(Solver):
    limit: int = param(10, min=1, doc="Limit")
    def solve(self, problem): ...

class One(Base):
    """First"""
    id = "one"

class Two(Base):
    """Second"""
    id = "two"
    limit: int = param(20, min=1, doc="Other limit")
'''
    one, two = classes_of(write, text)
    assert (one["id"], two["id"]) == ("one", "two")
    assert one["params"][0]["default"] == 10 and two["params"][0]["default"] == 20
    assert one["methods"] == ["solve"]


@pytest.mark.parametrize(
    ("body", "column", "text"),
    [
        (
            "step = param(1.0 / 3, doc='x')",
            18,
            "parameter `step`: `default`: gpbench reads this without running the file",
        ),
        ("step = param(OTHER, doc='x')", 18, "use a literal, or the name of a constant of this module"),
        ("step = param(1.0, doc=f'x')", 27, "`doc`: gpbench reads this"),
        ("step = param(doc='x')", 12, "it has no default"),
        ("step = param(1.0)", 12, "it has no `doc`"),
        ("step = param(1.0, doc='')", 27, "must be a text that is not empty"),
        ("step = param(1.0, 2.0, doc='x')", 23, "only the default may be given without a name"),
        ("step = param(1.0, low=2.0, doc='x')", 27, "takes default, min, max, choices, doc, not `low`"),
        ("step = param(3.0, max=2.0, doc='x')", 18, "its default 3.0 is above 2.0"),
        ("step = param(1, min=2, doc='x')", 18, "its default 1 is below 2"),
        ("step = param(1, min=0.5, doc='x')", 25, "must be a whole number, not 0.5"),
        ("step = param('a', min=0.5, doc='x')", 27, "a text has no `min`"),
        ("step = param(1.0, max=1e999, doc='x')", 27, "leave `max` out"),
        ("step = param(1e999, doc='x')", 18, "must be finite"),
        ("step = param(2**70, doc='x')", 18, "gpbench reads this without running"),
        ("step = param(1180591620717411303424, doc='x')", 18, "64 bits"),
        ("step = param(1.0, choices=[1.0], doc='x')", 31, "only a text has `choices`"),
        ("step = param('a', choices=['b'], doc='x')", 18, "'a' is none of b"),
        ("step = param([1], doc='x')", 18, "must be a bool, int, float or str"),
        ("Step = param(1, doc='x')", 12, "its name must be lower-case letters"),
        ("capabilities = ('warm_start')", 21, 'write ("warm_start",)'),
        ("capabilities = ('warm-start',)", 20, "'warm-start' is no capability of a solver: use any of exact"),
        ("source = 'a' + str(1)", 14, "`source` of class `Fancy`"),
        ("facts = {'stop': 'n'}", 13, "`facts` must be a dict of texts by step, memory, guarantees, advice"),
        ("facts = {'step': 1}", 13, "`facts` must be a dict of texts"),
        ("def __init__(self, rank): pass", 5, "`__init__` of class `Fancy` takes arguments"),
    ],
)
def test_an_error_has_its_place(write: Write, body: str, column: int, text: str) -> None:
    error = error_of(write, solver(body))
    assert text in error["text"]
    assert (error["line"], error["column"]) == (5, column)
    assert error["file"].endswith("one.py")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SOLVER.replace('id = "fancy"', 'id = "Fancy Solver"'), 7, "must be lower-case letters, digits and hyphens"),
        (
            SOLVER.replace('    id = "fancy"\n', ""),
            4,
            'class `Fancy` has no `id`, by which specs name it: id = "fancy"',
        ),
        (SOLVER.replace('    """A line"""\n', ""), 4, "has no docstring"),
        (SOLVER.replace("def solve", "def resolve"), 4, "class `Fancy` has no method `solve`"),
        (SOLVER.replace("(Solver)", "(Other)"), 4, "its base must be Solver or Learner of gpbench_harness"),
        ("x = 1\n", 1, "no class that extends Solver or Learner"),
        ("def f(:\n", 1, "SyntaxError"),
        (SOLVER + SOLVER.split("\n\n\n")[1].replace("Fancy", "Other"), 12, 'have the same id "fancy"'),
    ],
)
def test_an_error_of_a_class(write: Write, text: str, line: int, message: str) -> None:
    error = error_of(write, text)
    assert message in error["text"]
    assert error["line"] == line


def test_a_constant_that_changes_is_none(write: Write) -> None:
    text = solver("rank = param(RANK, doc='x')", head="RANK = 1\nRANK = 2\n")
    assert "gpbench reads this" in error_of(write, text)["text"]
    text = solver("rank = param(RANK, doc='x')", head="RANK = 1\nRANK += 2\n")
    assert "gpbench reads this" in error_of(write, text)["text"]


def test_save_without_load_is_an_error(write: Write) -> None:
    text = (
        "from gpbench_harness import Learner\n"
        "class Mine(Learner):\n"
        '    """A line"""\n'
        '    id = "mine"\n'
        "    def begin(self, fit): ...\n"
        "    def step(self, fit): ...\n"
        "    def predict(self, x): ...\n"
        "    def save(self): ...\n"
    )
    error = error_of(write, text)
    assert "has `save` but no `load`" in error["text"] and error["line"] == 8


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (error,) = described(tmp_path / "missing.py")["errors"]
    assert "cannot be read" in error["text"]


def test_the_file_is_never_run(write: Write, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    run = f"open({str(mark)!r}, 'w').close()\n"
    file = write({"one.py": run + "import helper\n" + SOLVER, "helper/__init__.py": run, "helper/sub.py": run})
    described(file)
    assert not mark.exists()
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("block", "absent"),
    [
        ("# dependencies = ['numpy>=1.22']\n", None),
        ("# dependencies = [\n#   'numpy',  # all\n# ]\n# [tool.uv]\n# x = 1\n", None),
        ("# dependencies = ['nowhere-1>=2.1']\n", "needs nowhere-1>=2.1 (pip install nowhere-1)"),
        ("# dependencies = ['nowhere-1', 'nowhere_2[x] ~= 3.0']\n",
         "needs nowhere-1 and nowhere_2[x]~=3.0 (pip install nowhere-1 nowhere_2)"),
        ("# dependencies = ['nowhere; python_version < \"3\"']\n", None),
        ("# dependencies = ['nowhere; sys_platform == \"linux\" and python_version >= \"3.9\"']\n",
         "needs nowhere (pip install nowhere)"),
        ("# requires-python = '>=3.10'\n", None),
    ],
)  # fmt: skip
def test_what_a_script_needs(write: Write, block: str, absent: str | None) -> None:
    file = write({"one.py": f"# /// script\n{block}# ///\n{SOLVER}"})
    description = described(file)
    assert description["errors"] == []
    assert description["absent"] == absent


def test_a_package_that_is_too_old_and_a_newer_python(write: Write) -> None:
    file = write({"one.py": f"# /// script\n# dependencies = ['numpy>=99']\n# ///\n{SOLVER}"})
    absent = described(file)["absent"]
    assert absent.startswith("needs numpy>=99, not ") and absent.endswith("(pip install -U numpy)")
    file = write({"one.py": f"# /// script\n# requires-python = '>=3.99'\n# ///\n{SOLVER}"})
    assert described(file)["absent"].startswith("needs Python >=3.99, and ")


def test_errors_of_a_script_block(write: Write) -> None:
    error = error_of(write, f"# /// script\n# dependencies = numpy\n# ///\n{SOLVER}")
    assert error["line"] == 2 and "is no text and no list of texts" in error["text"]
    error = error_of(write, f"# /// script\n# dependencies = ['!x']\n# ///\n{SOLVER}")
    assert "'!x', which is none" in error["text"] and error["line"] == 2
    twice = "# /// script\n# dependencies = []\n# ///\n\n"
    assert "two `# /// script` blocks" in error_of(write, twice + twice + SOLVER)["text"]


def test_an_import_that_is_nowhere(write: Write) -> None:
    description = described(write({"one.py": "import nowhere_1.sub\n" + SOLVER}))
    assert description["unresolved"] == ["nowhere_1"]
    assert description["absent"].startswith("needs the module nowhere_1 (not installed for ")
    guarded = "try:\n    import nowhere_1\nexcept ImportError:\n    pass\n"
    description = described(write({"one.py": guarded + SOLVER}))
    assert description["unresolved"] == ["nowhere_1"] and description["absent"] is None
