"""The ``# /// script`` block of a file (PEP 723): which Python and which packages it needs."""

from __future__ import annotations

import ast
import re
import sys

from .packages import Packages
from .problems import Problems

__all__ = ["absent", "read_block"]

_BLOCK = r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)[ \t]*\r?$\s(?P<content>(^#(| .*)\r?$\s)+)^# ///[ \t]*\r?$"

#: The oldest numpy that the package itself needs.
OLDEST_NUMPY = (1, 22)


def read_block(source: str, problems: Problems) -> tuple[str, list[str], int]:
    """Returns `requires-python` and `dependencies` of a file, empty if it has no such block, and the line of these."""
    if "# /// script" not in source:
        return "", [], 1
    blocks = [match for match in re.finditer(_BLOCK, source) if match["type"] == "script"]
    if not blocks:
        return "", [], 1
    first = source.count("\n", 0, blocks[0].start()) + 1
    if len(blocks) > 1:
        line = source.count("\n", 0, blocks[1].start()) + 1
        problems.at(line, 1, "the file has two `# /// script` blocks")
        return "", [], 1
    lines = [line[2:] if line.startswith("# ") else line[1:] for line in blocks[0]["content"].splitlines()]
    python, dependencies, line = "", [], first
    for key, text, offset in pairs(lines):
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            problems.at(first + 1 + offset, 1, f"`{key}` of the `# /// script` block is no text and no list of texts")
            continue
        if key == "requires-python" and isinstance(value, str):
            python = value
        elif key == "dependencies" and isinstance(value, list) and all(isinstance(item, str) for item in value):
            dependencies, line = value, first + 1 + offset
        else:
            problems.at(first + 1 + offset, 1, f"`{key}` of the `# /// script` block has the wrong type")
    return python, dependencies, line


def pairs(lines: list[str]) -> list[tuple[str, str, int]]:
    """Returns the two keys before the first table, with their values as written and the number of the line.

    Texts, lists of texts and comments are written alike in TOML and Python.
    """
    found: list[tuple[str, str, int]] = []
    index = 0
    while index < len(lines):
        line, start = lines[index], index
        index += 1
        if line.lstrip().startswith("["):
            break
        match = re.match(r"\s*(requires-python|dependencies)\s*=\s*(.*)$", line)
        if match is None:
            continue
        text = match[2]
        while not is_complete(text) and index < len(lines):
            text += "\n" + lines[index]
            index += 1
        found.append((match[1], text.strip(), start))
    return found


def is_complete(text: str) -> bool:
    """Whether a value ends here."""
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def absent(python: str, dependencies: list[str], line: int, packages: Packages, problems: Problems) -> str | None:
    """Returns what is missing, as text that begins with "needs"; None if nothing is."""
    needed: list[str] = []
    install: list[str] = []
    upgrade = False

    def add(name: str, wanted: str, installed: str | None) -> None:
        nonlocal upgrade
        if name not in install:
            install.append(name)
            needed.append(wanted if installed is None else f"{wanted}, not {installed}")
            upgrade = upgrade or installed is not None

    numpy = packages.version("numpy")
    if numpy is None or numbers(numpy) < OLDEST_NUMPY:
        add("numpy", "numpy>=" + ".".join(map(str, OLDEST_NUMPY)), numpy)
    if python or dependencies:
        # Only now, since most files need nothing else.
        from .versions import Requirement, satisfies

        version = ".".join(map(str, sys.version_info[:3]))
        if python and not satisfies(version, python):
            return f"needs Python {python}, and {sys.executable} is {version}"
        for text in dependencies:
            try:
                wanted = Requirement(text)
            except ValueError:
                problems.at(line, 1, f"the `# /// script` block has the dependency {text!r}, which is none")
                continue
            installed = packages.version(wanted.name)
            if wanted.applies and (installed is None or not wanted.admits(installed)):
                add(wanted.name, str(wanted), installed)
    if not needed:
        return None
    command = "pip install -U" if upgrade else "pip install"
    return f"needs {' and '.join(needed)} ({command} {' '.join(install)})"


def numbers(version: str) -> tuple[int, ...]:
    """Returns the first two numbers of a version."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
