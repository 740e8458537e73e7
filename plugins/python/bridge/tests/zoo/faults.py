"""A solver that misbehaves in the way that its parameter names, after one product."""

import ctypes
import os
import signal
import sys
import threading

import numpy as np

from gpbench_harness import Report, Solver, Stop, param

ACTS = [
    "none",
    "raise",
    "linalg",
    "memory",
    "system-exit",
    "keyboard",
    "os-exit",
    "segfault",
    "kill",
    "hang",
    "hang-in-c",
    "hog",
    "hog-arena",
    "flood",
    "fork",
    "thread",
    "swallow",
    "after-stop",
    "rebound",
    "in-transform",
    "deep",
    "del",
]


class Faults(Solver):
    """Misbehaves on purpose"""

    id = "faults"
    capabilities = ("randomized",)
    act: str = param(
        "none",
        choices=[
            "none",
            "raise",
            "linalg",
            "memory",
            "system-exit",
            "keyboard",
            "os-exit",
            "segfault",
            "kill",
            "hang",
            "hang-in-c",
            "hog",
            "hog-arena",
            "flood",
            "fork",
            "thread",
            "swallow",
            "after-stop",
            "rebound",
            "in-transform",
            "deep",
            "del",
        ],
        doc="What to do",
    )

    def solve(self, problem):
        operator = problem.operator
        product = operator @ problem.rhs
        getattr(self, "do_" + self.act.replace("-", "_"))(problem, product)
        problem.observe(1, None)
        problem.x[...] = problem.rhs
        return Report(
            "converged",
            1,
            None,
            {"seed_high": float(problem.seed >> 32), "seed_low": float(problem.seed & 0xFFFFFFFF)},
        )

    def do_none(self, problem, product):
        pass

    def do_raise(self, problem, product):
        raise ValueError("wrong sign")

    def do_linalg(self, problem, product):
        np.linalg.cholesky(-np.eye(3))

    def do_memory(self, problem, product):
        raise MemoryError("a factor of 3 GiB")

    def do_system_exit(self, problem, product):
        sys.exit(5)

    def do_keyboard(self, problem, product):
        raise KeyboardInterrupt

    def do_os_exit(self, problem, product):
        os._exit(3)

    def do_segfault(self, problem, product):
        ctypes.string_at(8)

    def do_kill(self, problem, product):
        os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()

    def do_hang(self, problem, product):
        print("hangs", file=sys.stderr, flush=True)
        while True:
            pass

    def do_hang_in_c(self, problem, product):
        # The interpreter's lock is held, so that no thread of Python runs.
        print("hangs", file=sys.stderr, flush=True)
        while True:
            ctypes.PyDLL(None).pause()

    def do_hog(self, problem, product):
        kept = []
        while True:
            kept.append(np.ones(1 << 20))

    def do_hog_arena(self, problem, product):
        kept = []
        while True:
            kept.append(problem.empty(1 << 20))
            kept[-1].fill(1.0)

    def do_flood(self, problem, product):
        for _ in range(2000):
            print("x" * 1000)

    def do_fork(self, problem, product):
        # The copy stays, and holds what it has inherited.
        if os.fork() == 0:
            try:
                problem.operator @ problem.rhs
            except RuntimeError as error:
                print("copy:", error, file=sys.stderr, flush=True)
            signal.pause()
        os._exit(4)

    def do_thread(self, problem, product):
        found = []

        def work():
            try:
                problem.operator @ problem.rhs
            except RuntimeError as error:
                found.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        raise found[0]

    def do_swallow(self, problem, product):
        try:
            while True:
                problem.operator @ problem.rhs
        except Exception:
            problem.log("Stop was swallowed")

    def do_after_stop(self, problem, product):
        operator, refused = problem.operator, 0
        rows, zeros = np.arange(1), np.zeros((problem.m, problem.s))
        calls = [
            lambda: problem.observe(2, None),
            lambda: operator @ problem.rhs,
            lambda: operator.rows(rows, problem.rhs),
            lambda: operator.rows_and_back(rows, problem.rhs, None, zeros),
            lambda: operator.columns(rows, problem.rhs[:1], zeros),
            lambda: operator.block(rows, rows),
            lambda: operator.charge(1),
            lambda: problem.observe(2, None),
        ]
        for call in calls:
            try:
                call()
            except Stop:
                refused += 1
        operator.diagonal()
        raise ValueError(f"{refused} of {len(calls)} were refused")

    def do_rebound(self, problem, product):
        x = problem.x
        x = x + product  # a new array, by mistake

        def leave(_):
            pass

        problem.observe(1, None, leave)
        self.x = x

    def do_in_transform(self, problem, product):
        def transform(u):
            problem.operator @ problem.rhs

        problem.operator.rows_and_back(np.arange(2), problem.rhs, transform, np.zeros((problem.m, problem.s)))

    def do_deep(self, problem, product):
        self.do_deep(problem, product)

    def do_del(self, problem, product):
        class Loud:
            def __del__(self):
                raise ValueError("in __del__")

        self.loud = Loud()
