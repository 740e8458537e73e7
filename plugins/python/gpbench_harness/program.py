"""The program `gpbench`, called as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .errors import Error

__all__ = ["Finished", "call", "find"]

#: Success, failed cases, and differences that `compare` found: all with results.
WITH_RESULTS = (0, 1, 3)


@dataclass(frozen=True)
class Finished:
    """What the program wrote, and its exit code."""

    code: int
    output: str
    messages: str


def find() -> str:
    """Returns the path of `gpbench`: that of this package, or of the archive that holds it, else the first on the ``PATH``.

    Raises
    ------
    Error
        If there is none.
    """
    import shutil

    package = Path(__file__).parent
    own = package / "lib" / "gpbench"  # in a wheel
    packed = package / "../../../../bin/gpbench"  # in a release archive
    for path in (own, packed):
        if path.is_file() and os.access(path, os.X_OK):
            return str(path.resolve())
    found = shutil.which("gpbench")
    if found is None:
        raise Error(
            "the program gpbench is neither in this package nor on the PATH: pip install gpbench-harness, or put the folder "
            "target/release of a built checkout on the PATH"
        )
    return found


def environment() -> dict[str, str]:
    """Returns the environment of the program: solvers in Python run with this interpreter, unless the user has named another."""
    return {"GPBENCH_PYTHON": sys.executable, **os.environ}


def call(arguments: Sequence[str], *, shown: bool, given: str | None = None) -> Finished:
    """Calls the program and waits for its end.

    Parameters
    ----------
    arguments : sequence of str
    shown : bool
        Whether its messages are written to `sys.stderr` as they come.
    given : str, optional
        Its standard input.

    Raises
    ------
    Error
        With the program's own message, if it ends without results.
    """
    program = find()
    process = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment(),
    )
    output: list[str] = []
    messages: list[str] = []

    def collect(stream: IO[str], lines: list[str], copy: bool) -> None:
        for line in stream:
            lines.append(line)
            if copy:
                sys.stderr.write(line)

    assert process.stdout is not None and process.stderr is not None
    readers = [
        threading.Thread(target=collect, args=(process.stdout, output, False)),
        threading.Thread(target=collect, args=(process.stderr, messages, shown)),
    ]
    for reader in readers:
        reader.start()
    try:
        if given is not None and process.stdin is not None:
            try:
                process.stdin.write(given)
                process.stdin.close()
            except BrokenPipeError:
                pass  # it ended first, and its message says why
        code = process.wait()
    except BaseException:  # an interrupt of the user's: the program ends its cases and keeps their rows
        process.terminate()
        process.wait()
        raise
    finally:
        for reader in readers:
            reader.join()
    finished = Finished(code, "".join(output), "".join(messages))
    if code not in WITH_RESULTS:
        text = finished.messages.strip() or f"it ended with {code}"
        raise Error(f"gpbench {' '.join(arguments)}\n{text}")
    return finished
