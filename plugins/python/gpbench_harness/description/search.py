"""Where the modules of a file come from, without importing anything."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Found", "Search"]

# Names of the folders of installed packages.
_SITES = ("site-packages", "dist-packages")


class Found:
    """A module: its file (None for a namespace), where its submodules are, and whether it is an installed one."""

    __slots__ = ("file", "installed", "locations", "name")

    def __init__(self, name: str, file: str | None, locations: list[str] | None, installed: bool) -> None:
        self.name = name
        self.file = file
        self.locations = locations
        self.installed = installed


class Search:
    """The search path that a file has when the harness runs it.

    Parameters
    ----------
    folder : str
        The file's folder, which is searched first.
    """

    def __init__(self, folder: str) -> None:
        given = os.environ.get("PYTHONPATH", "")
        self.own = [folder, *(os.path.abspath(path) for path in given.split(os.pathsep) if path)]
        add_user_site()
        # Isolated mode leaves out the script's folder, so that what is there is the standard library and packages.
        self.path = [*self.own, *sys.path]
        self.sites = sorted({os.path.realpath(path) for path in self.path if os.path.basename(path) in _SITES})
        self.editable = [finder for finder in sys.meta_path if is_editable(finder)]

    def module(self, name: str, parent: Found | None) -> Found | None:
        """Returns a module, or None if there is no such; `parent` is the package that it lies in."""
        top = parent is None
        if top and name in sys.builtin_module_names:
            return None
        path = None if parent is None else parent.locations
        if not top and path is None:
            return None
        try:
            if top:
                # A file beside the script comes before a module of the standard library.
                standard = name in sys.stdlib_module_names
                spec = PathFinder.find_spec(name, self.own if standard else self.path)
            else:
                spec = PathFinder.find_spec(name, path)
            if spec is None and top:
                for finder in self.editable:
                    spec = finder.find_spec(name, None, None)
                    if spec is not None:
                        break
        except KeyError:
            # A namespace inside another, which asks for its parent among the imported modules.
            folders = [os.path.join(folder, name.rpartition(".")[2]) for folder in path or ()]
            folders = [folder for folder in folders if os.path.isdir(folder)]
            return Found(name, None, folders, self.is_installed(folders[0])) if folders else None
        except (ImportError, OSError, ValueError, AttributeError):
            return None
        if spec is None:
            return None
        locations = None
        if spec.submodule_search_locations is not None:
            locations = list(spec.submodule_search_locations)
        file = spec.origin if spec.has_location and spec.origin and os.path.isfile(spec.origin) else None
        where = file or (locations[0] if locations else "")
        return Found(name, file, locations, self.is_installed(where))

    def is_installed(self, path: str) -> bool:
        """Whether a path lies in a folder of installed packages."""
        real = os.path.realpath(path)
        return any(real.startswith(site + os.sep) for site in self.sites)


def is_editable(finder: Any) -> bool:
    """Whether a finder is one that an editable installation has put there."""
    module = getattr(finder, "__module__", "") or ""
    return module.startswith("__editable__") or module == "editables.redirector"


def add_user_site() -> None:
    """Adds the user's folder of packages, which isolated mode leaves out, where an ordinary start has it."""
    if os.environ.get("PYTHONNOUSERSITE") or not sys.flags.isolated:
        return
    if sys.prefix != sys.base_prefix:
        # A virtual environment has it only together with the system's packages.
        try:
            with open(os.path.join(sys.prefix, "pyvenv.cfg"), encoding="utf-8") as file:
                settings = file.read().lower().replace(" ", "")
        except OSError:
            settings = ""
        if "include-system-site-packages=true" not in settings:
            return
    import site

    if hasattr(os, "getuid") and (os.geteuid() != os.getuid() or os.getegid() != os.getgid()):
        return
    folder = site.getusersitepackages()
    if os.path.isdir(folder) and folder not in sys.path:
        site.addsitedir(folder)
