"""The child as the bridge sees it: started as a process, asked over its socket."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import socket
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from conftest import described

from gpbench_harness import _channel as channel

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no memfd here")

START = Path(__file__).parents[1] / "gpbench_harness" / "_start.py"
RUN = "import sys, runpy; del sys.path[0], sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
HEADER = struct.Struct("<HHiQ")
HOT = struct.Struct("<HHiQ14q2d")
FIRST = 4096
SIZE = 64 << 20


class Bridge:
    """The other side of the channel."""

    def __init__(self, script: Path, described: dict[str, str] | None = None, classes=()) -> None:
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        memory = os.memfd_create("arena")
        os.ftruncate(memory, SIZE)
        self.memory = mmap.mmap(memory, SIZE)
        known = json.dumps({"files": described or {}, "classes": classes}).encode()
        self.memory[FIRST : FIRST + len(known)] = known
        arguments = [theirs.fileno(), memory, SIZE, len(known), script]
        self.process = subprocess.Popen(
            [sys.executable, "-B", "-c", RUN, str(START), *map(str, arguments)],
            pass_fds=(theirs.fileno(), memory),
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        theirs.close()
        os.close(memory)
        self.sent = 0
        self.log: list[str] = []

    def __enter__(self) -> Bridge:
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()
        self.process.stderr.close()
        self.process.wait(60)

    def call(self, kind, integers=(), reals=(), flags=0):
        self.sent += 1
        numbers = [*integers, *[0] * (14 - len(integers)), *reals, *[0.0] * (2 - len(reals))]
        self.socket.send(HOT.pack(kind, flags, 0, self.sent, *numbers))
        return self.receive()

    def create(self, name, params=None, number=1, kind="solver"):
        self.sent += 1
        content = {"object": number, "class": name, "kind": kind, "params": params or {}}
        self.socket.send(HEADER.pack(channel.CREATE, 0, 0, self.sent) + json.dumps(content).encode())
        return self.receive()

    def receive(self):
        """The next frame that is no request to the log."""
        while True:
            frame = self.socket.recv(1 << 17)
            kind, _, status, sequence = HEADER.unpack_from(frame)
            if len(frame) == HOT.size and kind not in (channel.FAIL, channel.DONE, channel.READY, channel.LOG):
                return kind, status, HOT.unpack(frame)[4:18]
            content = json.loads(frame[HEADER.size :])
            if kind != channel.LOG:
                return kind, status, content
            self.log.append(content["text"])
            self.reply()

    def reply(self, status=0, *integers):
        self.requested = getattr(self, "requested", 0) + 1
        numbers = [*integers, *[0] * (14 - len(integers))]
        self.socket.send(HOT.pack(channel.REPLY, 0, status, self.requested, *numbers, 0.0, 0.0))

    def array(self, offset, count):
        return np.frombuffer(self.memory, np.float64, count, offset)


def script(tmp_path: Path, text: str, name: str = "mine.py") -> Path:
    path = tmp_path / name
    path.write_text(textwrap.dedent(text))
    return path


SOLVER = """
    from gpbench_harness import Report, Solver, param

    class Mine(Solver):
        step: float = param(1.0, doc="step")

        def solve(self, problem):
            product = problem.operator @ problem.rhs
            problem.observe(1, [0.5], None)
            problem.x += self.step * product
            return Report("iterations", 1, [0.25], {"two": 2.0})
"""


def test_a_solve_makes_requests_and_leaves_its_solution(tmp_path):
    with Bridge(script(tmp_path, SOLVER)) as bridge:
        kind, _, ready = bridge.create("Mine", {"step": 3.0})
        assert kind == channel.READY and ready["versions"]["numpy"] == np.__version__
        assert ready["prepare"] is False
        n, seed = 5, (1 << 63) + 7
        kind, _, space = bridge.call(channel.PROBLEM, [n, n, 1, 0, 1, seed - (1 << 64), 1, 0], [0.1, 10.0])
        assert kind == channel.SPACE
        rhs, x = (bridge.array(offset, n) for offset in space[:2])
        rhs[:], x[:] = 2.0, 1.0
        kind, _, numbers = bridge.call(channel.SOLVE, [0] * 13 + [1])
        assert kind == channel.APPLY
        assert numbers[:4] == (space[0], n, 1, n), "the right-hand sides are passed where they are"
        bridge.array(numbers[4], n)[:] = 10.0
        bridge.reply()
        kind, _, numbers = bridge.receive()
        assert kind == channel.OBSERVE and bridge.array(numbers[1], 1)[0] == 0.5
        bridge.reply()
        kind, _, done = bridge.receive()
        assert kind == channel.DONE
        assert (done["reason"], done["iterations"], done["names"]) == ("iterations", 1, ["two"])
        assert bridge.array(done["claimed"], 1)[0] == 0.25 and bridge.array(done["values"], 1)[0] == 2.0
        assert (x == 31.0).all()
        assert bridge.call(channel.DROP, [0] * 13 + [1])[0] == channel.DONE


def test_stop_and_iterate_ask_for_the_iterate(tmp_path):
    text = """
    from gpbench_harness import Solver

    class Mine(Solver):
        def solve(self, problem):
            for iteration in range(9):
                problem.observe(iteration, None, lambda x: x.fill(iteration + 1.0))
    """
    with Bridge(script(tmp_path, text)) as bridge:
        bridge.create("Mine")
        _, _, space = bridge.call(channel.PROBLEM, [3, 3, 1, 0, 1, 0, 1, 0], [0.1, 10.0])
        x = bridge.array(space[1], 3)
        x[:] = 0.0
        bridge.call(channel.SOLVE, [0] * 13 + [1])
        bridge.reply(0)
        assert bridge.receive()[2][0] == 1 and (x == 0.0).all()
        bridge.reply(channel.ITERATE)
        kind, _, numbers = bridge.receive()
        assert kind == channel.OBSERVE and numbers[0] == 1 and (x == 2.0).all(), "the same one is observed again"
        bridge.reply(0)
        bridge.receive()
        bridge.reply(channel.STOPPED)
        kind, _, done = bridge.receive()
        assert (kind, done["reason"], done["iterations"]) == (channel.DONE, "stopped", 2)
        assert (x == 3.0).all()


@pytest.mark.parametrize(
    "body, status, said",
    [
        ("raise ValueError('wrong sign')", -1, "ValueError: wrong sign (mine.py:5, in solve)"),
        ("raise MemoryError('3 GiB')", channel.OUT_OF_MEMORY, "MemoryError: 3 GiB (mine.py:5, in solve)"),
        ("import sys; sys.exit(4)", -1, "SystemExit: 4 (mine.py:5, in solve): a solver must not end the process"),
        ("raise KeyboardInterrupt", -1, "KeyboardInterrupt (mine.py:5, in solve): a solver must not end the process"),
        ("return 3", -1, "TypeError: `solve` returned a int; it must return a Report or None"),
    ],
)
def test_exceptions_are_errors_with_their_place(tmp_path, body, status, said):
    text = (
        "from gpbench_harness import Solver\n\nclass Mine(Solver):\n    def solve(self, problem):\n        "
        + body
        + "\n"
    )
    path = tmp_path / "mine.py"
    path.write_text(text)
    with Bridge(path) as bridge:
        bridge.create("Mine")
        for _ in range(2):  # it lives and can be asked again
            bridge.call(channel.PROBLEM, [3, 3, 1, 0, 1, 0, 1, 0], [0.1, 10.0])
            kind, _, failed = bridge.call(channel.SOLVE, [0] * 13 + [1])
            assert kind == channel.FAIL and failed["status"] == status
            assert failed["text"].startswith(said)
            assert "_worker.py" not in failed["traceback"]


def test_a_refused_cholesky_is_not_positive_definite(tmp_path):
    text = """
    import numpy as np
    from gpbench_harness import Solver

    class Mine(Solver):
        def solve(self, problem):
            np.linalg.cholesky(-np.eye(3))
    """
    with Bridge(script(tmp_path, text)) as bridge:
        bridge.create("Mine")
        bridge.call(channel.PROBLEM, [3, 3, 1, 0, 1, 0, 1, 0], [0.1, 10.0])
        kind, _, failed = bridge.call(channel.SOLVE, [0] * 13 + [1])
        assert (kind, failed["status"]) == (channel.FAIL, channel.NOT_POSITIVE_DEFINITE)


def test_a_local_module_runs_the_bytes_that_were_hashed(tmp_path):
    text = """
    import helper
    from gpbench_harness import Solver

    class Mine(Solver):
        def estimate(self, n, d, s):
            return float(helper.VALUE)

        def solve(self, problem):
            pass
    """
    path = script(tmp_path, text)
    helper = script(tmp_path, "VALUE = 1\n", "helper.py")

    def hashes() -> dict[str, str]:
        return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in (path, helper)}

    # Bytecode of an older text of the same length and time is neither read nor written.
    subprocess.run([sys.executable, "-c", "import helper"], cwd=tmp_path, check=True)
    stamp = helper.stat()
    helper.write_text("VALUE = 2\n")
    os.utime(helper, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    before = sorted(tmp_path.rglob("*.pyc"))
    with Bridge(path, hashes()) as bridge:
        assert bridge.create("Mine")[2]["modules"] == []
        assert bridge.call(channel.ESTIMATE, [1, 1, 1] + [0] * 10 + [1])[2] == {"bytes": 2.0}
    assert sorted(tmp_path.rglob("*.pyc")) == before

    old = hashes()
    helper.write_text("VALUE = 3\n")
    with Bridge(path, old) as bridge:
        kind, _, failed = bridge.create("Mine")
        assert kind == channel.FAIL and "was changed after gpbench had read it" in failed["text"]


def test_an_import_that_was_not_described_is_reported_once(tmp_path):
    text = """
    from gpbench_harness import Report, Solver

    class Mine(Solver):
        def solve(self, problem):
            __import__("hid" + "den")
            return Report("iterations")
    """
    path, hidden = script(tmp_path, text), script(tmp_path, "VALUE = 1\n", "hidden.py")
    known = {str(path): hashlib.sha256(path.read_bytes()).hexdigest()}
    with Bridge(path, known) as bridge:
        assert bridge.create("Mine")[2]["modules"] == []
        found = []
        for _ in range(2):
            bridge.call(channel.PROBLEM, [3, 3, 1, 0, 1, 0, 1, 0], [0.1, 10.0])
            found.append(bridge.call(channel.SOLVE, [0] * 13 + [1])[2]["modules"])
        expected = {"path": str(hidden), "sha256": hashlib.sha256(hidden.read_bytes()).hexdigest()}
        assert found == [[expected], []]


def test_the_class_must_be_what_the_text_says(tmp_path):
    text = """
    from gpbench_harness import Report, Solver, param

    class Mine(Solver):
        "A line"

        id = "mine"
        step: float = param(1.0, doc="step")

        def solve(self, problem):
            return Report("iterations")
    """
    path = script(tmp_path, text)
    classes = described(path)["classes"]
    with Bridge(path, None, classes) as bridge:
        assert bridge.create("Mine", {"step": 1.0})[0] == channel.READY
        kind, _, failed = bridge.create("Yours")
        assert kind == channel.FAIL and "Yours" in failed["text"]
    path.write_text(path.read_text() + "\nMine.id = 'other'\n")
    with Bridge(path, None, classes) as bridge:
        kind, _, failed = bridge.create("Mine", {"step": 1.0})
        assert kind == channel.FAIL and "`id` is 'mine', but after the import it is 'other'" in failed["text"]


def test_kept_objects_are_dropped_when_the_harness_frees_them(tmp_path):
    text = """
    import gc
    import weakref
    from gpbench_harness import Report, Solver

    class Thing:
        pass

    class Mine(Solver):
        def solve(self, problem):
            backend = problem._link.use()
            if not hasattr(self, "seen"):
                thing = Thing()
                self.seen = weakref.ref(thing)
                backend.keep("a", thing, 10)
            return Report("iterations", 0, None, {"alive": float(self.seen() is not None)})
    """
    with Bridge(script(tmp_path, text)) as bridge:
        bridge.create("Mine")

        def alive():
            bridge.call(channel.PROBLEM, [3, 3, 1, 0, 1, 0, 1, 256], [0.1, 10.0])
            kind, _, content = bridge.call(channel.SOLVE, [0] * 13 + [1])
            if kind == channel.KEEP:
                assert content == {"key": "a", "handle": 1, "bytes": 10}
                bridge.reply(0)
                kind, _, content = bridge.receive()
            return bridge.array(content["values"], 1)[0]

        assert alive() == alive() == 1.0
        bridge.sent += 1
        bridge.socket.send(HOT.pack(channel.RELEASE, 0, 0, bridge.sent, 1, *[0] * 13, 0.0, 0.0))
        assert alive() == 0.0


def test_the_child_ends_with_the_bridge(tmp_path):
    bridge = Bridge(script(tmp_path, SOLVER))
    bridge.create("Mine", {"step": 1.0})
    bridge.socket.close()
    assert bridge.process.wait(60) == 1
    bridge.process.stderr.close()

    bridge = Bridge(script(tmp_path, SOLVER))
    bridge.socket.send(HOT.pack(channel.END, 0, 0, 0, *[0] * 14, 0.0, 0.0))
    assert bridge.process.wait(60) == 0
    bridge.process.stderr.close()
    bridge.socket.close()


def test_a_package_that_cannot_be_loaded_is_the_answer_to_every_call(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise ImportError('no module named numpy', name='numpy')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Bridge(script(tmp_path, SOLVER)) as bridge:
        for _ in range(2):
            kind, _, failed = bridge.create("Mine")
            assert kind == channel.FAIL
            assert failed["text"].endswith(f"Install it: {sys.executable} -m pip install numpy")


def test_names_of_our_files_hide_no_standard_module(tmp_path):
    text = """
    import operator
    from gpbench_harness import Solver

    class Mine(Solver):
        def estimate(self, n, d, s):
            return float(operator.add(n, d))

        def solve(self, problem):
            pass
    """
    with Bridge(script(tmp_path, text)) as bridge:
        bridge.create("Mine")
        assert bridge.call(channel.ESTIMATE, [1, 2, 3] + [0] * 10 + [1])[2] == {"bytes": 3.0}


def test_long_logs_and_errors_fit_into_frames(tmp_path):
    text = """
    from gpbench_harness import Solver

    class Mine(Solver):
        def solve(self, problem):
            problem.log("\\u20ac" * 40_000)
            raise ValueError("\\udc80\\U0001f600" * 100_000)
    """
    with Bridge(script(tmp_path, text)) as bridge:
        bridge.create("Mine")
        bridge.call(channel.PROBLEM, [3, 3, 1, 0, 1, 0, 1, 0], [0.1, 10.0])
        kind, _, failed = bridge.call(channel.SOLVE, [0] * 13 + [1])
        assert kind == channel.FAIL and failed["text"].startswith("ValueError: ?\U0001f600")
        assert "".join(bridge.log) == "\u20ac" * 40_000


def test_seeds_keep_their_64_bits():
    for seed in (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
        assert channel.unsigned(channel.signed(seed)) == seed
        assert -(1 << 63) <= channel.signed(seed) < 1 << 63
