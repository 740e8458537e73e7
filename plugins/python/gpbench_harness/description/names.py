"""Names of distributions."""

from __future__ import annotations

__all__ = ["normalised"]


def normalised(name: str) -> str:
    """Returns the name of a distribution as indices compare it."""
    parts = name.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(part for part in parts if part)
