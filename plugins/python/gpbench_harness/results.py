"""Results of gpbench as data frames of polars, which ``pip install "gpbench-harness[read]"`` brings."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import Error
from .program import call

if TYPE_CHECKING:
    import polars

__all__ = ["Comparison", "Run", "compare", "read", "run"]

#: Statuses of cases that have an answer. Means over cases leave out the others, as reports do.
ANSWERS = ("ok", "not_converged")


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError('results are frames of polars: pip install "gpbench-harness[read]"') from error
    return polars


class Run:
    """A run of gpbench. ``gpbench list metrics`` describes the columns of its frames, with units.

    A value that was not measured is null. The column ``id`` joins the frames.

    Attributes
    ----------
    folder : pathlib.Path
        The run folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if not (self.folder / "results.parquet").is_file():
            raise Error(
                f"{self.folder} has no results.parquet: it is no run folder, or its report is not written yet "
                f"(gpbench report {self.folder})"
            )

    def __repr__(self) -> str:
        return f"<Run {self.folder}: {self.results.height} cases>"

    def _frame(self, name: str) -> polars.DataFrame | None:
        file = self.folder / f"{name}.parquet"
        return _polars().read_parquet(file) if file.is_file() else None

    @cached_property
    def results(self) -> polars.DataFrame:
        """One row a case: data set, kernel, estimator, solver, seed, repeat, status, parameters, metrics."""
        frame = self._frame("results")
        assert frame is not None
        return frame

    @cached_property
    def traces(self) -> polars.DataFrame | None:
        """One row a trace point of a case: what was measured while it ran. None if the folder has none."""
        return self._frame("traces")

    @cached_property
    def steps(self) -> polars.DataFrame | None:
        """One row a step of a case that trains or learns. None if there are none."""
        return self._frame("steps")

    @cached_property
    def predictions(self) -> polars.DataFrame | None:
        """One row a test row of a case whose predictions are kept, in the units of the file. None if there are none.

        Beside the columns of the case: ``row`` (number in the file, from 0 without the header), ``target``, ``mean``,
        ``deviation`` (noise included), ``latent_deviation`` (without noise), ``lower_95`` and ``upper_95``.
        """
        return self._frame("predictions")

    @cached_property
    def environment(self) -> dict[str, Any]:
        """Machine, versions and hashes: the content of ``environment.json``."""
        with open(self.folder / "environment.json", encoding="utf-8") as file:
            content: dict[str, Any] = json.load(file)
        return content

    def answers(self) -> polars.DataFrame:
        """The rows of `results` that have an answer: those whose ``status`` is ``ok`` or ``not_converged``."""
        return self.results.filter(_polars().col("status").is_in(ANSWERS))

    @staticmethod
    def columns() -> polars.DataFrame:
        """Returns what the columns of `results` mean: name, unit and one line, as ``gpbench list metrics`` prints them."""
        content = json.loads(call(["list", "metrics", "--format", "json"], shown=False).output)
        frame: polars.DataFrame = _polars().DataFrame(content["columns"], infer_schema_length=None)
        return frame.select("name", "unit", "doc")

    def curves(self, y: str, x: str = "seconds") -> dict[str, polars.DataFrame]:
        """Returns columns of `traces` for charts, by solver.

        Parameters
        ----------
        y, x : str
            Columns of `traces`.

        Returns
        -------
        dict of str to frame
            The points where both are known, with the columns ``dataset``, ``seed``, ``repeat``, x and y, in the order of x.
        """
        pl = _polars()
        if self.traces is None:
            raise Error(f"{self.folder} has no traces.parquet")
        for column in (x, y):
            if column not in self.traces.columns:
                raise ValueError(f"traces have no column {column!r}; they have {', '.join(self.traces.columns)}")
        keys = ["dataset", "seed", "repeat"]
        points = self.traces.filter(pl.col(x).is_not_null() & pl.col(y).is_not_null())
        return {
            str(name): points.filter(pl.col("solver") == name).select(*keys, x, y).sort(*keys, x)
            for name in points["solver"].unique(maintain_order=True)
        }


@dataclass(frozen=True)
class Comparison:
    """Runs side by side, and the last of them checked against the first.

    Attributes
    ----------
    rows : polars.DataFrame
        Solvers against solvers: one row a metric of a solver on a problem, with one column for the mean in each run, which is
        named as the run; with ``--between``, one for that of each solver, and ``ratio`` or ``difference`` with ``low`` and
        ``high``. Learners beside solvers: one row a method, with one column a metric.
    verdicts : polars.DataFrame or None
        What the check found: ``verdict``, case, ``metric``, ``baseline``, ``value``, ``limit``, ``detail``.
    remarks : list of str
        What the comparison leaves out, and why.
    failing : int
        How many of the verdicts fail the check: regressions, and seconds that are undecided. ``options=["--allow-undecided"]``
        lets the latter pass.
    sentences : list of str
        With the option ``--between``, how many times as fast one solver is as the other, with intervals.
    """

    rows: polars.DataFrame
    verdicts: polars.DataFrame | None = None
    remarks: list[str] = field(default_factory=list)
    failing: int = 0
    sentences: list[str] = field(default_factory=list)


def read(run: str | os.PathLike[str]) -> Run:
    """Reads a run folder.

    Parameters
    ----------
    run : path
        Such as ``"reports/quickstart/latest"``.

    Raises
    ------
    Error
        If it is no run folder with a report.

    Examples
    --------
    >>> run = read("reports/quickstart/latest")  # doctest: +SKIP
    >>> run.answers().group_by("dataset", "solver").mean()  # doctest: +SKIP
    """
    return Run(run)


def run(
    spec: str | os.PathLike[str],
    *,
    library: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    solvers: Sequence[str] = (),
    datasets: Sequence[str] = (),
    set: Mapping[str, Any] | None = None,
    output_dir: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    options: Sequence[str] = (),
    show: bool = True,
) -> Run:
    """Runs a spec with the program ``gpbench``, or continues its run where it stopped.

    Parameters
    ----------
    spec : path, or str with line breaks
        The file, or the text of a spec.
    library : path or sequence of paths
        Libraries whose solvers run beside those of the spec: ``"my_solver.py"``.
    solvers, datasets : sequence of str
        Run these alone.
    set : mapping of str to value
        Keys of the spec to replace: ``{"seeds": [0, 1], "solver.cg.params.rank": 50}``.
    output_dir : path
        Where run folders lie, ``reports`` by default.
    fresh : bool
        Run everything again.
    options : sequence of str
        Further options of ``gpbench run``.
    show : bool
        Write its progress to `sys.stderr`.

    Returns
    -------
    Run
        Cases that failed have a row whose ``status`` says so.

    Raises
    ------
    Error
        With the program's message, if it could not run the spec.
    """
    text = os.fspath(spec)
    given = text if "\n" in text else None
    arguments = ["run", "-" if given is not None else text]
    libraries = [library] if isinstance(library, (str, os.PathLike)) else library
    arguments += [word for one in libraries for word in ("--library", os.fspath(one))]
    arguments += ["--solver", ",".join(solvers)] if solvers else []
    arguments += ["--dataset", ",".join(datasets)] if datasets else []
    arguments += [word for key, value in (set or {}).items() for word in ("--set", f"{key}={toml(value)}")]
    arguments += ["--output-dir", os.fspath(output_dir)] if output_dir is not None else []
    arguments += ["--fresh"] if fresh else []
    finished = call([*arguments, *options], shown=show, given=given)
    # The program says where it wrote the page of the run.
    found = re.findall(r"^report: (.*)$", finished.messages + "\n" + finished.output, re.MULTILINE)
    if not found:
        raise Error(f"gpbench {' '.join(arguments)} wrote no report\n{finished.messages.strip()}")
    return Run(Path(found[-1].strip()).parent)


def compare(
    first: str | os.PathLike[str] | Run, *others: str | os.PathLike[str] | Run, options: Sequence[str] = ()
) -> Comparison:
    """Sets runs side by side with ``gpbench compare``, and checks the last against the first.

    Parameters
    ----------
    first, *others : Run or path
        Runs: folders, or names of specs.
    options : sequence of str
        Further options of ``gpbench compare``, such as ``["--between", "cg,fancy"]`` with one run.

    Raises
    ------
    Error
        With the program's message, if nothing can be compared.
    """
    names = [os.fspath(one.folder if isinstance(one, Run) else one) for one in (first, *others)]
    finished = call(["compare", *names, "--format", "json", *options], shown=False)
    content = json.loads(finished.output)
    pl = _polars()
    rows = [flat(row, content["runs"]) for row in content["rows"]]
    checked = content.get("check") or {}
    return Comparison(
        rows=pl.DataFrame(rows, infer_schema_length=None),
        verdicts=pl.DataFrame(checked["verdicts"], infer_schema_length=None) if checked else None,
        remarks=list(checked.get("remarks", content.get("remarks", []))),
        failing=int(checked.get("failing", 0)),
        sentences=list(content.get("sentences", [])),
    )


def flat(row: dict[str, Any], runs: Iterable[str]) -> dict[str, Any]:
    """Returns a row with a column for each of its means."""
    means = row["means"]
    named = means if isinstance(means, dict) else dict(zip(unique(runs), means))
    return {key: value for key, value in row.items() if key != "means"} | named


def unique(names: Iterable[str]) -> list[str]:
    """Returns names of columns: a run that is there twice has a number."""
    seen: list[str] = []
    for name in names:
        seen.append(name if name not in seen else f"{name} ({len(seen) + 1})")
    return seen


def toml(value: Any) -> str:
    """Returns a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    raise TypeError(f"{value!r} is no value of a spec")
