"""Where the child begins: ``python _start.py SOCKET MEMORY BYTES LISTED SCRIPT``, started by the bridge.

It loads the package that this file belongs to, whatever else is installed, and enters its loop. The standard library alone: where
the package cannot be loaded, since numpy is missing say, the reason is the answer to every call.
"""

import importlib.util
import json
import os
import socket
import struct
import sys
from collections.abc import Callable


def load() -> Callable[[list[str]], None]:
    """Returns the loop of the package around this file."""

    folder = os.path.dirname(os.path.abspath(__file__))
    start = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("gpbench_harness", start, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["gpbench_harness"] = package
    spec.loader.exec_module(package)
    from gpbench_harness._worker import main

    return main


def refuse(descriptor: int, exception: Exception) -> None:
    """Answers every call with an error."""
    name = getattr(exception, "name", None)
    advice = ""
    if isinstance(exception, ImportError):
        module = name.split(".")[0] if name else "numpy"
        advice = f". Install it: {sys.executable} -m pip install {module}"
    text = f"{sys.executable} cannot run gpbench's package: {type(exception).__name__}: {exception}{advice}"
    header = struct.Struct("<HHiQ")
    channel = socket.socket(fileno=descriptor)
    while True:
        call = channel.recv(1 << 17)
        if len(call) < header.size:
            return
        kind, _, _, sequence = header.unpack_from(call)
        if kind == 15:  # END
            return
        answer = json.dumps({"status": -1, "text": text, "traceback": ""}).encode()
        channel.send(header.pack(43, 0, 0, sequence) + answer)  # FAIL


def start(arguments: list[str]) -> None:
    """Runs the loop."""
    try:
        main = load()
    except Exception as exception:
        refuse(int(arguments[0]), exception)
        return
    main(arguments)


if __name__ == "__main__":
    start(sys.argv[1:])
