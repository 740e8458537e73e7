"""Marks a wheel with programs as one for this architecture. Without them, as for an editable installation, it is pure Python."""

import platform
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Programs(BuildHookInterface):
    def initialize(self, version, build_data):
        if Path(self.root, "gpbench_harness", "lib").is_dir():
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-linux_{platform.machine()}"
