"""Run kernels that were compiled with the package, without Numba.

``tools/precompile.py`` compiles the kernels into a shared library, one *entry* for each combination of
argument types that its sample calls met, and a version of each entry for each level of processors. A wheel
for a platform contains the library (``_precompiled.abi3.so``) and the list of its entries. The library is
only used if no source file of the kernels and programs has changed since. Numba compiles for all other
types, and everything if there is no library.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
LIBRARY, INDEX = FOLDER / "_precompiled.abi3.so", FOLDER / "_precompiled.json"


class Library(NamedTuple):
    """The library, if it can be used, and why not otherwise."""

    level: str  # of the processor, for which the entries in use were compiled; "" if there are none
    problem: str  # "" also if this installation has no library
    call: Any  # the function of precompiled.c; None if there is no library
    entries: dict[str, dict[bytes, tuple[int, bytes]]]  # by kernel, then by kinds of arguments


def source_files() -> list[Path]:
    """Return the files that decide how kernels are compiled, in a fixed order."""
    package = FOLDER.parent
    return sorted(
        path for name in ("kernels", "programs") for path in package.glob(f"{name}/**/*.py")
    )


def checksum() -> int:
    """Return a checksum of these files."""
    check = 0
    for path in source_files():
        check = zlib.crc32(path.read_bytes(), check)
    return check


@functools.cache
def library() -> Library:
    """Load the library, unless there is none, it is out of date or it does not suit the processor."""
    if not (LIBRARY.exists() and INDEX.exists()):
        return Library("", "", None, {})
    index = json.loads(INDEX.read_text())
    if index["sources"] != checksum():
        return Library("", "the library was compiled from other sources", None, {})
    try:
        module = importlib.import_module("._precompiled", __package__)
    except ImportError as error:
        return Library("", f"the library cannot be loaded: {error}", None, {})
    level = min(module.level(), len(index["levels"]) - 1)
    if level < 0:
        return Library("", "the library needs a newer processor", None, {})
    symbols = ctypes.CDLL(str(LIBRARY))

    def entry(number: int, returns: str) -> tuple[int, bytes]:
        function = symbols[f"entry_{level}_{number}"]
        return ctypes.cast(function, ctypes.c_void_p).value or 0, returns.encode()

    entries = {
        kernel: {kinds.encode(): entry(*which) for kinds, which in of_types.items()}
        for kernel, of_types in index["entries"].items()
    }
    return Library(index["levels"][level], "", module.call, entries)
