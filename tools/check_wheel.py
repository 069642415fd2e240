"""Check the wheel with compiled kernels in a folder: sample calls need no Numba, and have the same bits.

``python3 dev.py wheel`` runs it after building the wheel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GLIBC = 17  # 2.17, the platform in the wheel's tag


def check_platform(library: Path) -> None:
    """Exit if the library needs a newer version of glibc than the tag of the wheel says."""
    versions = [int(version) for version in re.findall(rb"GLIBC_2\.(\d+)", library.read_bytes())]
    if max(versions, default=0) > GLIBC:
        sys.exit(f"{library.name} needs glibc 2.{max(versions)}; the wheel says 2.{GLIBC}")


def digests(package: Path, *arguments: str) -> dict[str, Any]:
    """Return what ``digests.py`` prints with the package in a folder."""
    command = [sys.executable, str(ROOT / "tools" / "digests.py"), *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (package, ROOT)))}
    done = subprocess.run(command, env=environment, cwd=package, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Check the wheel in the folder that the command line names."""
    [wheel] = Path(sys.argv[1]).resolve().glob("*-abi3-*.whl")
    wanted = digests(ROOT)["digests"]
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        kernels = Path(folder, "dask_graphflow", "kernels")
        check_platform(kernels / "_precompiled.abi3.so")
        index = json.loads((kernels / "_precompiled.json").read_text())
        for level in range(len(index["levels"])):
            found = digests(Path(folder), "--without-numba", "--level", str(level))
            if not found["level"]:
                sys.exit(
                    f"{wheel.name} does not use its kernels: {found['problem'] or 'there are none'}"
                )
            other = [call for call, digest in wanted.items() if found["digests"][call] != digest]
            if other:
                sys.exit(
                    f"{len(other)} calls have other bits for {found['level']}, such as {other[0]}"
                )
    print(f"{wheel.name}: {len(wanted)} calls have the same bits as with Numba")


if __name__ == "__main__":
    main()
