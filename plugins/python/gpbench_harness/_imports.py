"""Imports of local modules, which run the very bytes that were hashed when the script was described.

Python's own loader takes the bytecode of an older file that was edited within a second and has the same length. Here no bytecode
of local files is read or written. *Local* is every file outside of the standard library and of the folders of installed packages.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

__all__ = ["Imports", "load_script"]

_SITES = ("site-packages", "dist-packages")


class Imports:
    """The local files that are imported, and their hashes. Put among the finders by `install`.

    Parameters
    ----------
    described : mapping of str to str
        SHA-256 of each file that the script was found to consist of, by its path.
    """

    def __init__(self, described: Mapping[str, str]) -> None:
        self.described = {os.path.realpath(path): sha256 for path, sha256 in described.items()}
        self._hashes: dict[str, str] = {}
        self._reported: set[str] = set()
        self._seen = 0
        paths = sysconfig.get_paths()
        own = os.path.dirname(os.path.abspath(__file__))
        foreign = [own, *(paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))]
        self._foreign = tuple(
            {place(path) + os.sep for path in foreign for place in (os.path.abspath, os.path.realpath)}
        )

    def install(self) -> None:
        """Becomes the first finder of modules. What Python has imported by itself at its start is no part of the script."""
        self._reported.update(file for module in sys.modules.values() if (file := _file(module)) is not None)
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Finds a module as the other finders do, with a loader of its own for a local file."""
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return self._pin(spec)
        return None

    def _pin(self, spec: ModuleSpec) -> ModuleSpec:
        origin = spec.origin
        if origin is not None and spec.has_location and self.is_local(origin):
            if type(spec.loader) is SourceFileLoader:
                spec.loader = Pinned(spec.name, origin, self)
                spec.cached = None
            elif isinstance(spec.loader, ExtensionFileLoader):
                with open(origin, "rb") as file:
                    self.check(origin, file.read())
        return spec

    def is_local(self, path: str) -> bool:
        """Whether a file belongs neither to the standard library nor to an installed package."""
        # By both paths: Debian's library links to files in /etc.
        for name in (os.path.abspath(path), os.path.realpath(path)):
            if name.startswith(self._foreign) or any(site in name.split(os.sep) for site in _SITES):
                return False
        return True

    def check(self, path: str, content: bytes) -> None:
        """Notes the hash of a file that is about to run.

        Raises
        ------
        ImportError
            If it is not the file that was described.
        """
        real = os.path.realpath(path)
        found = hashlib.sha256(content).hexdigest()
        self._hashes[real] = found
        if self.described.get(real, found) != found:
            raise ImportError(f"{path} was changed after gpbench had read it: run again", path=path)

    def undescribed(self) -> list[dict[str, str]]:
        """Local files that are in use, were not described, and have not been in an earlier answer."""
        if len(sys.modules) == self._seen:
            return []
        self._seen = len(sys.modules)
        found = []
        for module in list(sys.modules.values()):
            path = _file(module)
            if path is None or path in self._reported:
                continue
            self._reported.add(path)
            real = os.path.realpath(path)
            if real in self.described or not self.is_local(real) or not os.path.isfile(real):
                continue
            if real not in self._hashes:
                with open(real, "rb") as file:
                    self._hashes[real] = hashlib.sha256(file.read()).hexdigest()
            found.append({"path": real, "sha256": self._hashes[real]})
        return found[:100]


def _file(module: ModuleType) -> str | None:
    """The file of a module, without running the code of one that is loaded on demand."""
    path = getattr(module, "__dict__", {}).get("__file__")
    return path if isinstance(path, str) else None


class Pinned(SourceFileLoader):
    """A loader that compiles the file's text each time, and checks its hash."""

    def __init__(self, name: str, path: str, imports: Imports) -> None:
        super().__init__(name, path)
        self._imports = imports

    def get_code(self, fullname: str) -> CodeType:
        """The code of the file as it is now."""
        content = self.get_data(self.path)
        self._imports.check(self.path, content)
        code: CodeType = self.source_to_code(content, self.path)
        return code


def load_script(path: str, imports: Imports) -> ModuleType:
    """Runs the script as a module of its own name, with its folder first on the search path."""
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:
        name = f"_gpbench_script_{name}"
    loader: Any = Pinned(name, path, imports)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    spec.cached = None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
