"""Describes a Python file without running it: ``python -I -B describe.py FILE`` prints one JSON object.

It needs the standard library alone, and no numpy. The object has these keys:

``format``
    1.
``file``
    The file's absolute path.
``python``
    The interpreter's own path of itself.
``classes``
    One object for each solver or learner: ``class``, ``kind`` ("solver" or "learner"), ``line``, ``id``, ``doc`` (first line of
    the docstring), ``source``, ``facts`` (texts by name), ``capabilities`` (list of texts), ``methods`` (those of the interface
    that it has), ``params``.
    Each parameter: ``name``, ``kind`` ("bool", "int", "float", "text"), ``default``, ``min``, ``max`` (null: no bound),
    ``choices`` (list, or null), ``doc``, ``line``.
``parts``
    What the file consists of, sorted: ``kind`` ("FILE", "PACKAGE", "RUNTIME"), ``name``, ``version`` (empty for a file),
    ``path``, ``sha256`` of the file at that path (of a package: its RECORD, or what stands for it; of the runtime: the interpreter).
``absent``
    null, or what is missing, such as "needs torch>=2.1 (pip install torch)".
``unresolved``
    Imported modules that are nowhere. An import inside ``try`` or a function may be meant so.
``errors``
    Objects with ``file``, ``line``, ``column`` (both from 1) and ``text``. Where there is one, ``classes`` is not complete.

It exits with 0 if it could print this, whatever it found.
"""

import sys

# Without isolated mode this folder comes first, and `operator.py` would hide a module of the standard library. No syntax of newer
# versions here and in `description/__init__.py`, so that an old Python says that it is too old.
if sys.path and __name__ == "__main__" and not sys.flags.isolated:
    del sys.path[0]

import os  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def load() -> "ModuleType":
    """Returns the package `description` beside this file, without the package around it, which needs numpy."""
    import importlib.util

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "description")
    name = "gpbench_description"
    start = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(name, start, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main(arguments: "list[str]") -> int:
    """Prints the description of one file."""
    if len(arguments) != 1:
        print("usage: python -I -B describe.py FILE", file=sys.stderr)
        return 2
    import json

    print(json.dumps(load().describe(arguments[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
