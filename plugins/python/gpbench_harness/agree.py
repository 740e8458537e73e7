"""Whether a class is what its file says without being run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .description.classes import CAPABILITIES
from .learner import Learner
from .param import params_of
from .solver import Solver

__all__ = ["disagreements", "find_class"]


def find_class(module: Any, described: Mapping[str, Any]) -> type[Solver] | type[Learner]:
    """Returns the described class of an imported module.

    Raises
    ------
    TypeError
        If the module has no such class, or it is something else.
    """
    name, kind = described["class"], described["kind"]
    found = getattr(module, name, None)
    base = Solver if kind == "solver" else Learner
    if not isinstance(found, type) or not issubclass(found, base):
        what = "nothing" if found is None else f"a {type(found).__name__}"
        raise TypeError(
            f"line {described['line']} has the class `{name}`, a {kind}, but the imported module has {what} of that name"
        )
    return found


def disagreements(owner: type, described: Mapping[str, Any]) -> list[str]:
    """Returns how a class differs from its description, as sentences; none if it does not.

    Parameters
    ----------
    owner : type
        The class, as it is after the import.
    described : mapping
        Its description by ``describe.py``.
    """
    found: list[str] = []
    place = f"line {described['line']} says"

    def compare(what: str, static: Any, real: Any) -> None:
        if type(static) is not type(real) or static != real:
            found.append(f"{place} that {what} is {static!r}, but after the import it is {real!r}")

    compare("`id`", described["id"], getattr(owner, "id", ""))
    compare("`source`", described["source"], getattr(owner, "source", ""))
    compare("`facts`", described["facts"], getattr(owner, "facts", {}))
    capabilities = getattr(owner, "capabilities", ())
    known = set(CAPABILITIES[described["kind"]])
    if not set(capabilities) <= known:
        found.append(f"`capabilities` is {capabilities!r} after the import, which has unknown ones")
    compare("`capabilities`", sorted(described["capabilities"]), sorted(set(capabilities)))
    lines = (owner.__doc__ or "").strip().splitlines()
    compare("the docstring's first line", described["doc"], lines[0].strip() if lines else "")
    real = params_of(owner)
    static = {one["name"]: one for one in described["params"]}
    for name in sorted(set(static) - set(real)):
        found.append(f"line {static[name]['line']} has the parameter `{name}`, which the class does not have")
    for name in sorted(set(real) - set(static)):
        found.append(f"the class has the parameter `{name}` after the import, which the file does not show")
    for name, one in static.items():
        if name not in real:
            continue
        place = f"line {one['line']} says"
        parameter = real[name]
        compare(f"the kind of parameter `{name}`", one["kind"], parameter.kind)
        compare(f"the default of parameter `{name}`", one["default"], parameter.default)
        for key, value in (("min", parameter.min), ("max", parameter.max)):
            bound = float(value) if value is not None and parameter.kind == "float" else value
            compare(f"`{key}` of parameter `{name}`", one[key], bound)
        choices = None if parameter.choices is None else list(parameter.choices)
        compare(f"`choices` of parameter `{name}`", one["choices"], choices)
        compare(f"`doc` of parameter `{name}`", one["doc"], parameter.doc)
    base = Solver if described["kind"] == "solver" else Learner
    for name in described["methods"]:
        if getattr(owner, name, None) is getattr(base, name):
            found.append(f"the file shows the method `{name}`, which the class does not have after the import")
    return found
