"""The child's loop: waits for a call of the bridge, makes it, answers."""

from __future__ import annotations

import json
import mmap
import os
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any, Union

import numpy as np

from . import _channel as channel
from ._arena import FIRST, Arena
from ._channel import Channel, Frame
from ._faults import fault
from ._fit_backend import FitBackend
from ._imports import Imports, load_script
from ._shared import check
from ._solve_backend import FAMILIES, SolveBackend
from ._threads import Threads
from .agree import disagreements, find_class
from .arrays import Array
from .errors import Stop
from .fit import Fit
from .inputs import Shape
from .learner import Learner
from .loop import Loop
from .problem import Problem
from .report import Report
from .solver import Solver

__all__ = ["main"]

Made = Union[Solver, Loop]


class Worker:
    """The script and the objects that are made of its classes.

    Parameters
    ----------
    link : Channel
    arena : Arena
    imports : Imports
    script : str
    described : list of dict
        Its classes, as ``describe.py`` read them.
    """

    def __init__(
        self, link: Channel, arena: Arena, imports: Imports, script: str, described: list[dict[str, Any]]
    ) -> None:
        self._link = link
        self._arena = arena
        self._imports = imports
        self._script = script
        self._described = described
        self._module: ModuleType | None = None
        self._seconds = 0.0
        self._objects: dict[int, Any] = {}
        self._kept: dict[int, object] = {}
        self._threads = Threads()
        # The last system, fit and inputs of a prediction that the bridge gave.
        self._system: SolveBackend | None = None
        self._fits: dict[int, Fit] = {}
        self._data: FitBackend | None = None
        # What the bridge reads after an answer: it stays until the next call.
        self._held: list[object] = []
        self._inputs: tuple[Array, Array] | None = None

    def run(self) -> None:
        """Serves calls until the bridge ends this process."""
        calls: dict[int, Callable[[Frame], None]] = {
            channel.CREATE: self._create,
            channel.WARM: self._warm_up,
            channel.PROBLEM: self._problem,
            channel.PREPARE: self._prepare,
            channel.SOLVE: self._solve,
            channel.ESTIMATE: self._estimate,
            channel.FITDATA: self._fitdata,
            channel.BEGIN: self._begin,
            channel.FIT: self._fit,
            channel.PREDICT: self._predict,
            channel.MODEL: self._model,
            channel.SAVE: self._save,
            channel.LOAD: self._load,
            channel.DROP: self._drop,
        }
        while True:
            call = self._link.receive()
            self._held.clear()
            if call.kind == channel.END:
                return
            if call.kind == channel.RELEASE:
                self._kept.pop(call.integers[0], None)
                continue
            try:
                calls[call.kind](call)
            except BaseException as exception:
                failed = fault(exception)
                if call.kind == channel.LOAD and isinstance(exception, ValueError):
                    # The state belongs to other data or other parameters.
                    failed["status"] = channel.INVALID_ARGUMENT
                # The traceback holds the frames, and so the arrays of the call.
                del exception
                self._system = None
                self._link.answer_with(call, channel.FAIL, failed)

    def _create(self, call: Frame) -> None:
        content = call.content
        if self._module is None:
            began = time.perf_counter()
            self._module = load_script(self._script, self._imports)
            self._seconds = time.perf_counter() - began
        made = self._class(content["class"], content["kind"])()
        made._configure(content["params"])
        number = content["object"]
        self._objects[number] = Loop(made) if isinstance(made, Learner) else made
        prepares = isinstance(made, Solver) and type(made).prepare is not Solver.prepare
        ready = {
            "versions": self._versions(),
            "seconds": self._seconds,
            "prepare": prepares,
            "modules": self._imports.undescribed(),
        }
        self._link.answer_with(call, channel.READY, ready)

    def _class(self, name: str, kind: str) -> Any:
        """The class, which must be what was described without running the file."""
        described = next((one for one in self._described if one["class"] == name), None)
        known = described or {"class": name, "kind": kind, "line": "?"}
        found = find_class(self._module, known)
        differ = [] if described is None else disagreements(found, described)
        if differ:
            file = os.path.basename(self._script)
            raise TypeError(
                f"{file} is read without being run, and is something else once it has run: {'; '.join(differ)}"
            )
        return found

    def _versions(self) -> dict[str, str]:
        versions = {"python": sys.version.split()[0], "numpy": np.__version__}
        for name in ("scipy", "torch", "jax", "gpytorch", "numba", "sklearn"):
            version = getattr(sys.modules.get(name), "__version__", None)
            if version is not None:
                versions[name] = str(version)
        return versions

    def _warm_up(self, call: Frame) -> None:
        n, m, d, s, family, threads, batch = call.integers[:7]
        self._threads.set(threads)
        shape = Shape(n, m, d, s, FAMILIES.get(family, "rbf"), threads, batch)
        self._author(call).warm_up(shape)
        self._done(call)

    def _problem(self, call: Frame) -> None:
        # Dropped first: two systems may not fit into memory.
        self._system = None
        system = self._system = SolveBackend(self._link, self._arena, call, self._kept)
        self._threads.set(system.threads)
        offset = self._arena.offset
        self._link.answer(
            call, channel.SPACE, [offset(array) if array.size else 0 for array in (system.rhs, system.x)]
        )

    def _prepare(self, call: Frame) -> None:
        problem = self._enter("prepare")
        try:
            self._object(call).prepare(problem)
        except Stop:
            self._done(call, reason="stopped")
            return
        finally:
            problem._end()
        self._done(call)

    def _solve(self, call: Frame) -> None:
        problem = self._enter("solve")
        system, self._system = self._system, None
        assert system is not None
        try:
            try:
                returned = self._object(call).solve(problem)
            except Stop:
                report = problem._stopped()
            else:
                report = problem._finish(returned)
                del returned
        finally:
            problem._end()
        self._held.append(system)
        self._report(call, report)
        self._arena.trim()

    def _enter(self, name: str) -> Problem:
        if self._system is None:
            raise RuntimeError(f"`{name}` was called without a problem")
        problem = Problem(self._system)
        problem._enter(name)
        return problem

    def _estimate(self, call: Frame) -> None:
        n, d, s = call.integers[:3]
        self._done(call, bytes=float(self._author(call).estimate(n, d, s)))

    def _fitdata(self, call: Frame) -> None:
        number = call.integers[13]
        self._fits.pop(number, None)
        backend = FitBackend(self._link, self._arena, call)
        self._threads.set(backend.threads)
        self._link.answer(call, channel.SPACE, backend.space())
        self._data = backend

    def _begin(self, call: Frame) -> None:
        fit = self._new_fit(call)
        try:
            self._object(call).begin(fit)
        except Stop:
            self._done(call, reason="stopped")
            return
        self._done(call)

    def _new_fit(self, call: Frame) -> Fit:
        # Only now, since the bridge has filled in the data.
        assert self._data is not None
        self._data.filled()
        fit = self._fits[call.integers[13]] = Fit(self._data)
        self._data = None
        return fit

    def _fit(self, call: Frame) -> None:
        fit = self._fits[call.integers[13]]
        fit.passes = call.reals[0]
        self._report(call, self._object(call).run(fit))

    def _predict(self, call: Frame) -> None:
        m, d = call.integers[:2]
        if not call.flags & channel.FILLED:
            inputs, out = self._arena.empty((m, d), read_only=True), self._arena.empty((m, 2))
            self._inputs = inputs, out
            self._link.answer(
                call, channel.SPACE, [self._arena.offset(array) if array.size else 0 for array in (inputs, out)]
            )
            return
        assert self._inputs is not None
        (inputs, out), self._inputs = self._inputs, None
        out[:, 0], out[:, 1] = self._object(call).predict(inputs)
        self._held.append(out)
        self._done(call)

    def _model(self, call: Frame) -> None:
        matrices = self._object(call).model()
        self._put(call, matrices)

    def _save(self, call: Frame) -> None:
        loop = self._object(call)
        self._put(call, loop.save() if loop.saves else None)

    def _put(self, call: Frame, matrices: dict[str, Array] | None) -> None:
        if matrices is None:
            self._done(call, own=True)
            return
        for name, matrix in matrices.items():
            place = self._arena.region(matrix)
            if place is None:
                copy = self._arena.empty(matrix.shape)
                copy[...] = matrix
                place = self._arena.region(copy)
            check(f"save of {name}", self._link.request_with(channel.PUT, {"name": name, "matrix": place}))
        self._done(call)

    def _load(self, call: Frame) -> None:
        self._object(call).load(self._new_fit(call), self._get)
        self._done(call)

    def _get(self, name: str) -> Array | None:
        content = {"name": name, "offset": 0, "capacity": 0}
        reply = self._link.request_with(channel.GET, content)
        check(f"load of {name}", reply)
        rows, columns = reply.integers[:2]
        if rows < 0:
            return None
        matrix: Array = self._arena.empty((rows, columns))
        content.update(offset=self._arena.offset(matrix), capacity=rows * columns)
        check(f"load of {name}", self._link.request_with(channel.GET, content))
        return matrix

    def _drop(self, call: Frame) -> None:
        number = call.integers[13]
        self._objects.pop(number, None)
        self._fits.pop(number, None)
        self._arena.trim()
        self._done(call)

    def _report(self, call: Frame, report: Report) -> None:
        claimed = values = None
        if report.residuals is not None:
            claimed = self._arena.empty((len(np.asarray(report.residuals)),))
            claimed[...] = report.residuals
            self._held.append(claimed)
        if report.numbers:
            values = self._arena.empty((len(report.numbers),))
            values[...] = [float(value) for value in report.numbers.values()]
            self._held.append(values)
        self._done(
            call,
            reason=report.reason,
            iterations=int(report.iterations),
            claimed=None if claimed is None or not len(claimed) else self._arena.offset(claimed),
            names=list(report.numbers),
            values=None if values is None else self._arena.offset(values),
            modules=self._imports.undescribed(),
        )

    def _object(self, call: Frame) -> Any:
        return self._objects[call.integers[13]]

    def _author(self, call: Frame) -> Solver | Learner:
        made: Made = self._object(call)
        return made.learner if isinstance(made, Loop) else made

    def _done(self, call: Frame, **content: Any) -> None:
        self._link.answer_with(call, channel.DONE, content)


def main(arguments: list[str]) -> None:
    """Serves the bridge: socket, memory, bytes of the memory, bytes of the description in it, script."""
    descriptor, memory, size, listed = (int(argument) for argument in arguments[:4])
    script = arguments[4]
    flags = mmap.MAP_SHARED | getattr(mmap, "MAP_NORESERVE", 0x4000)
    mapped = mmap.mmap(memory, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    known = json.loads(mapped[FIRST : FIRST + listed].decode())
    imports = Imports(known["files"])
    imports.install()
    sys.path.insert(0, os.path.dirname(script))
    sys.argv = [script]
    Worker(Channel(descriptor), Arena(mapped), imports, script, known["classes"]).run()
