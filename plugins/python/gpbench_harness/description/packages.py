"""Installed distributions: which ones own the imported modules, and what those require."""

from __future__ import annotations

import hashlib
import os
import re

from .names import normalised
from .search import Found

TYPE_CHECKING = False  # a start without `typing` is 15 ms faster
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Distribution", "Packages"]

# Where Debian lists the files of its packages, whose distributions have no RECORD.
_DPKG = "/var/lib/dpkg/info"


class Distribution:
    """An installed distribution.

    Attributes
    ----------
    name, version : str
    folder : str
        Its ``.dist-info``, ``.egg-info``, or the file of that name.
    site : str
        The folder of packages that it lies in.
    """

    def __init__(self, name: str, version: str, folder: str, site: str) -> None:
        self.name = name
        self.version = version
        self.folder = folder
        self.site = site
        self._record: bytes | None = None

    def _file(self, *names: str) -> str | None:
        for name in names:
            path = os.path.join(self.folder, name)
            if os.path.isfile(path):
                return path
        return self.folder if os.path.isfile(self.folder) else None

    @property
    def stamp(self) -> str | None:
        """The file that changes when the distribution does: its RECORD, Debian's list of checksums, or its metadata."""
        record = os.path.join(self.folder, "RECORD")
        if os.path.isfile(record):
            return record
        debian = os.path.join(_DPKG, f"python3-{normalised(self.name)}.md5sums")
        if "dist-packages" in self.site and os.path.isfile(debian):
            return debian
        return self._file("METADATA", "PKG-INFO")

    def record(self) -> bytes:
        """The content of that file."""
        if self._record is None:
            path = self.stamp
            try:
                with open(path or "", "rb") as file:
                    self._record = file.read()
            except OSError:
                self._record = b""
        return self._record

    def owns(self, top: str) -> bool:
        """Whether a top-level module is this distribution's."""
        listed = self._file("top_level.txt")
        if listed is not None and listed.endswith("top_level.txt"):
            with open(listed, encoding="utf-8", errors="replace") as file:
                if top in file.read().split():
                    return True
        record, name = self.record(), top.encode()
        if os.path.basename(self.stamp or "").endswith(".md5sums"):
            return re.search(rb"dist-packages/%s[/.]" % re.escape(name), record) is not None
        return record.startswith((name + b"/", name + b".")) or (
            b"\n" + name + b"/" in record or b"\n" + name + b"." in record
        )

    def requires(self) -> Iterable[str]:
        """Normalised names of what it requires, without what only extras ask for."""
        path = self._file("METADATA", "PKG-INFO")
        if path is None:
            return
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                if not line.strip():
                    break
                if line.startswith("Requires-Dist:"):
                    wanted, _, marker = line[len("Requires-Dist:") :].partition(";")
                    match = re.match(r"\s*([\w.-]+)", wanted)
                    if match and "extra" not in marker:
                        yield normalised(match[1])
        plain = os.path.join(self.folder, "requires.txt")
        if os.path.isfile(plain):  # of an .egg-info
            with open(plain, encoding="utf-8", errors="replace") as file:
                for line in file:
                    if line.startswith("["):
                        break
                    match = re.match(r"[\w.-]+", line)
                    if match:
                        yield normalised(match.group())


class Packages:
    """The distributions in some folders of packages."""

    def __init__(self, sites: list[str]) -> None:
        self.all: dict[str, Distribution] = {}
        for site in sites:
            try:
                entries = sorted(os.scandir(site), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                base, dot, kind = entry.name.rpartition(".")
                if dot and kind in ("dist-info", "egg-info"):
                    name, _, version = base.partition("-")
                    # setuptools and Debian write name-1.0-py3.11.egg-info
                    version = re.sub(r"-py3(\.\d+)?$", "", version)
                    found = Distribution(name, version, entry.path, site)
                    self.all.setdefault(normalised(name), found)

    def version(self, name: str) -> str | None:
        """The installed version of a distribution."""
        found = self.all.get(normalised(name))
        return None if found is None else found.version

    def owners(self, module: Found) -> list[Distribution]:
        """The distributions that a top-level module belongs to: several, if it is a namespace."""
        top = module.name.split(".")[0]
        likely = self.all.get(normalised(top))
        if module.file is not None and likely is not None and likely.owns(top):
            return [likely]
        owners = [found for found in self.all.values() if found.owns(top)]
        return owners if module.file is None else owners[:1]

    def with_required(self, start: list[Distribution]) -> list[Distribution]:
        """These and all that they require, as far as it is installed, by name."""
        found: dict[str, Distribution] = {}
        todo = list(start)
        while todo:
            current = todo.pop()
            name = normalised(current.name)
            if name in found:
                continue
            found[name] = current
            todo += [self.all[required] for required in current.requires() if required in self.all]
        return [found[name] for name in sorted(found)]


def stamp_digest(found: Distribution) -> str:
    """SHA-256 of the file that changes when a distribution does."""
    return hashlib.sha256(found.record()).hexdigest()
