"""A solver that breaks the protocol."""

import os
import struct

import numpy as np

from gpbench_harness import Report, Solver, param


class Frames(Solver):
    """Breaks the protocol on purpose"""

    id = "frames"
    act: str = param(
        "none",
        choices=[
            "none",
            "short",
            "long",
            "huge",
            "kind",
            "sequence",
            "offset",
            "shape",
            "overlap",
            "index",
            "misaligned",
            "closed",
            "json",
            "flags",
            "truncate",
            "answer",
            "empty",
        ],
        doc="What to do",
    )

    def solve(self, problem):
        backend = problem._link.use()
        channel, arena = backend.link, backend.arena
        send = channel._socket.send
        header = struct.Struct("<HHiQ").pack
        numbers = struct.Struct("<14q2d").pack
        x, y = problem.empty(problem.m, problem.s), problem.empty(problem.n, problem.s)
        good = [*arena.region(x), *arena.region(y)]

        def product(*numbers, kind=50, flags=0):
            channel.request(kind, numbers, flags=flags)

        act, next_ = self.act, channel._requests + 1
        if act == "short":
            send(b"hello")
        elif act == "long":
            send(header(50, 0, 0, next_) + numbers(*[0] * 14, 0.0, 0.0) + b"x")
        elif act == "huge":
            send(header(61, 0, 0, next_) + b"{" + b" " * (70 << 10))
        elif act == "kind":
            send(header(99, 0, 0, next_) + numbers(*[0] * 14, 0.0, 0.0))
        elif act == "sequence":
            send(header(50, 0, 0, next_ + 7) + numbers(*good, *[0] * 6, 0.0, 0.0))
        elif act == "answer":
            send(header(42, 0, 0, 12345) + b"{}")
        elif act == "json":
            send(header(61, 0, 0, next_) + b"{level: info")
        elif act == "flags":
            product(*good, flags=8)
        elif act == "offset":
            product(1 << 50, *good[1:])
        elif act == "shape":
            product(*good[:2], 1 << 62, *good[3:6], 1 << 62, good[7])
        elif act == "overlap":
            product(*good[:4], good[0], *good[5:])
        elif act == "misaligned":
            product(good[0] + 1, *good[1:])
        elif act == "index":
            rows = problem.empty(1, dtype=np.int64)
            rows[0] = problem.n
            product(*good[:4], good[4], 1, good[6], 1, arena.offset(rows), 1, kind=51)
        elif act == "closed":
            channel._socket.close()
            np.sum(1.0)
            while True:
                os.read(self.nothing(), 1)
        elif act == "truncate":
            descriptor = next(int(name) for name in os.listdir("/proc/self/fd") if "gpbench-arena" in target(name))
            os.ftruncate(descriptor, 0)
        elif act == "empty":
            product(FIRST, problem.m, 0, problem.m, FIRST, problem.n, 0, problem.n)
            return Report("converged", 0)
        if act != "none":
            channel.receive()
        return Report("converged", 0)

    def nothing(self):
        """The reading end of a pipe to which nobody writes."""
        self.pipe = os.pipe()
        return self.pipe[0]


FIRST = 4096


def target(name):
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        return ""
