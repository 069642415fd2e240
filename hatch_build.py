"""Hook of the build: add the compiled host kernels to a wheel, if the environment asks for them.

Without ``GRAPHFLOW_PRECOMPILE=1``, the wheel is pure, and Numba compiles the kernels where it is installed.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ASKED = os.environ.get("GRAPHFLOW_PRECOMPILE") == "1"
KERNELS = "dask_graphflow/kernels"


class PrecompiledKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the kernels (``tools/precompile.py``) for the platform of the wheel."""

    def dependencies(self) -> list[str]:
        """Return what the build needs: the package itself runs, so its dependencies."""
        return self.metadata.core.dependencies if ASKED else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, and name the platform in the tag of the wheel."""
        if not ASKED or self.target_name != "wheel" or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        precompile = Path(self.root, "tools", "precompile.py")
        environment = os.environ | {"PYTHONPATH": self.root}
        command = [sys.executable, str(precompile), self._folder.name]
        subprocess.run(command, env=environment, check=True)
        for path in Path(self._folder.name).iterdir():
            build_data["force_include"][str(path)] = f"{KERNELS}/{path.name}"
        build_data["pure_python"], build_data["tag"] = False, f"cp311-abi3-{platform_tag()}"


def platform_tag() -> str:
    """Return the tag of the platform. `tools/check_wheel.py` checks that the library needs no newer one."""
    if sys.platform == "darwin":
        return f"macosx_11_0_{platform.machine()}"
    if platform.libc_ver()[0] == "glibc":
        return f"manylinux_2_17_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_")
