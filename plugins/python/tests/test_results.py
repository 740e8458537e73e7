"""`read`, `run`, `compare`: frames of a stored run, and the program as a process.

The stored run is that of benchmarks/quickstart.toml with 100 rows of one data set.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import gpbench_harness as gpb
from gpbench_harness.program import find
from gpbench_harness.results import flat, toml

STORED = Path(__file__).parent / "data" / "run"

polars = pytest.importorskip("polars")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A program in place of gpbench, which says what it is told to and keeps its arguments."""

    def make(code: int = 0, output: str = "", messages: str = "") -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        file, kept = folder / "gpbench", tmp_path / "kept.json"
        file.write_text(
            f"#!{sys.executable}\n"
            "import json, sys\n"
            f"json.dump([sys.argv[1:], sys.stdin.read()], open({str(kept)!r}, 'w'))\n"
            f"sys.stdout.write({output!r})\n"
            f"sys.stderr.write({messages!r})\n"
            f"sys.exit({code})\n"
        )
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        return kept

    return make


def test_frames_of_a_run() -> None:
    run = gpb.read(STORED)
    assert run.results.height == 6
    assert set(run.results["solver"]) == {"cg", "cg-preconditioned", "cholesky"}
    assert run.traces is not None and set(run.traces["id"]) <= set(run.results["id"])
    assert run.steps is None and run.predictions is None
    assert run.environment["cores"] == 2
    assert run.results is run.results  # read once
    assert repr(run).endswith("run: 6 cases>")


def test_predictions_of_a_run(tmp_path: Path) -> None:
    shutil.copy(STORED / "results.parquet", tmp_path)
    case = gpb.read(STORED).results["id"][0]
    frame = polars.DataFrame({"id": [case, case], "row": [3, 7], "target": [1.0, 2.0], "mean": [1.5, 2.5]})
    frame.write_parquet(tmp_path / "predictions.parquet")
    predictions = gpb.read(tmp_path).predictions
    assert predictions is not None and predictions["row"].to_list() == [3, 7]


def test_answers_leave_failed_cases_out() -> None:
    run = gpb.read(STORED)
    assert run.answers().height == 6
    failed = run.results.with_columns(status=polars.lit("crashed"))
    run.__dict__["results"] = failed.head(2).vstack(run.results.tail(4))
    assert run.answers().height == 4


def test_curves() -> None:
    curves = gpb.read(STORED).curves("rmse_to_exact", "epochs")
    assert "cg" in curves
    frame = curves["cg"]
    assert frame.columns == ["dataset", "seed", "repeat", "epochs", "rmse_to_exact"]
    first = frame.filter(polars.col("seed") == 0)["epochs"].to_list()
    assert first == sorted(first) and len(first) > 3
    with pytest.raises(ValueError, match="no column 'speed'; they have id, dataset"):
        gpb.read(STORED).curves("speed")


def test_a_folder_without_a_report(tmp_path: Path) -> None:
    with pytest.raises(gpb.Error, match="no results.parquet: it is no run folder"):
        gpb.read(tmp_path)


def test_run_calls_the_program(program: Any) -> None:
    kept = program(messages=f"[1/1] a case\nreport: {STORED}/index.html\n")
    run = gpb.run(
        "spec.toml",
        library=["my_solver.py", Path("other.so")],
        solvers=["cg", "fancy"],
        datasets=["pol"],
        set={"seeds": [0, 1], "solver.cg.params.rank": 50, "name": 'a "b"'},
        output_dir="out",
        fresh=True,
        options=["--threads", "2"],
        show=False,
    )
    assert run.folder == STORED
    arguments, given = json.loads(kept.read_text())
    assert given == ""
    assert arguments == [
        *("run", "spec.toml", "--library", "my_solver.py", "--library", "other.so"),
        *("--solver", "cg,fancy", "--dataset", "pol"),
        *("--set", "seeds=[0, 1]", "--set", "solver.cg.params.rank=50", "--set", 'name="a \\"b\\""'),
        *("--output-dir", "out", "--fresh", "--threads", "2"),
    ]


def test_the_text_of_a_spec(program: Any, capfd: pytest.CaptureFixture[str]) -> None:
    kept = program(code=1, messages=f"case failed\nreport: {STORED}/index.html\n")
    text = 'schema = 1\nname = "ä"\n'
    gpb.run(text, library="one.py")
    arguments, given = json.loads(kept.read_text())
    assert given == text and arguments == ["run", "-", "--library", "one.py"]
    assert "case failed" in capfd.readouterr().err


def test_a_failure_has_the_programs_message(program: Any) -> None:
    program(code=2, messages="error: spec.toml:3: unknown key `tsak`\n")
    with pytest.raises(gpb.Error, match="gpbench run spec.toml\nerror: spec.toml:3: unknown key `tsak`"):
        gpb.run("spec.toml", show=False)
    program(code=0, messages="")
    with pytest.raises(gpb.Error, match="wrote no report"):
        gpb.run("spec.toml", show=False)


def test_without_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(gpb.Error, match="pip install gpbench-harness"):
        find()


def test_compare(program: Any) -> None:
    case = {"dataset": "pol", "kernel": "k", "estimator": "e", "solver": "cg"}
    content = {
        "schema": 1,
        "runs": ["a", "a"],
        "rows": [{**case, "metric": "epochs", "seeds": 2, "means": [1.0, 2.0]}, {**case, "metric": "x", "means": [None, 1]}],
        "check": {"failing": 1, "remarks": ["r"], "verdicts": [{"verdict": "regressed", **case, "metric": "epochs"}]},
    }  # fmt: skip
    kept = program(code=3, output=json.dumps(content))
    compared = gpb.compare(gpb.read(STORED), "latest", options=["--solver", "cg"])
    assert json.loads(kept.read_text())[0] == [
        *("compare", str(STORED), "latest", "--format", "json", "--solver", "cg"),
    ]
    assert compared.rows["a"].to_list() == [1.0, None] and compared.rows["a (2)"].to_list() == [2.0, 1.0]
    assert compared.verdicts is not None and compared.verdicts["verdict"].to_list() == ["regressed"]
    assert (compared.failing, compared.remarks) == (1, ["r"])
    program(code=4, messages="these runs have no case in common\n")
    with pytest.raises(gpb.Error, match="no case in common"):
        gpb.compare("a", "b")


def test_learners_beside_solvers() -> None:
    row = {"dataset": "pol", "run": "a", "solver": "svgp", "means": {"test_rmse": 0.5, "epochs": None}}
    expected = {"dataset": "pol", "run": "a", "solver": "svgp", "test_rmse": 0.5, "epochs": None}
    assert flat(row, ["a", "b"]) == expected


def test_values_of_a_spec() -> None:
    assert toml({"a": [1, 2.5, True, "x"], "b": {"c": "ü"}}) == '{"a" = [1, 2.5, true, "x"], "b" = {"c" = "ü"}}'
    with pytest.raises(TypeError, match="is no value of a spec"):
        toml(None)


@pytest.mark.skipif(shutil.which("gpbench") is None, reason="the program gpbench is not on the PATH")
def test_with_the_program_itself(tmp_path: Path) -> None:
    spec = """
schema = 1
name = "small"
task = "posterior"
seeds = [0]
[matrix]
dataset = ["toy-sine"]
kernel = ["wave"]
estimator = ["pathwise"]
solver = ["cholesky", "cg"]
[dataset.toy-sine]
n = 60
n_test = 10
[kernel.wave]
family = "matern32"
hyperparameters = { signal_scale = 1.0, noise_scale = 0.3, length_scale = 0.5 }
[estimator.pathwise]
probes = 2
features = 50
[budget]
tolerance = 0.01
"""
    run = gpb.run(spec, output_dir=tmp_path, show=False)
    assert set(run.answers()["solver"]) == {"cholesky", "cg"}
    assert "residual_y" in set(run.columns()["name"])
    compared = gpb.compare(run, options=["--between", "cholesky,cg"])
    assert "residual_y" in set(compared.rows["metric"])
    assert {"cholesky", "cg", "ratio", "low", "high"} <= set(compared.rows.columns)
    assert "times as fast as" in compared.sentences[0]
    with pytest.raises(gpb.Error, match="schema"):
        gpb.run("name = 'x'\n", output_dir=tmp_path, show=False)
