"""Compile the host kernels into a shared library.

    PYTHONPATH=. python tools/precompile.py FOLDER [FUNCTION ...]

It makes sample calls of all functions, or of those that are named, and notes which kernels they call with
which types. It compiles these kernels for each level of processors, and writes the library and the list of
its entries into the folder. The hook of the build runs it for wheels of a platform. It needs a C compiler.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from typing import Any

import entries
import numpy as np
import sample_calls

from dask_graphflow.kernels import compiling, precompiled

# The levels that `level` in precompiled.c knows, and another architecture's only one.
X86 = platform.machine() in ("x86_64", "AMD64")
LEVELS = ("x86-64-v2", "x86-64-v3") if X86 else ("generic",)
SUPPORT = Path(__file__).with_name("precompiled.c")
Called = dict[tuple[str, str], tuple[Any, tuple[Any, ...]]]


def kinds_of(value: Any) -> str | None:
    """Return the kinds of an argument as ``precompiled.c`` spells them, or None if no entry can take it."""
    if value is None:
        return "n"
    if isinstance(value, tuple):
        items = [kinds_of(item) for item in value]
        return None if None in items else f"({''.join(items)})"
    if isinstance(value, np.ndarray):
        if not (value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative):
            return None
        return f"{value.dtype.char}{value.ndim}{'w' if value.flags.writeable else 'r'}"
    if not isinstance(value, int | float | np.generic):
        return None
    kind = np.asarray(value).dtype.char
    return {"l": "q", "L": "Q"}.get(kind, kind) if kind in "dqlQLiIBf?" else None


def changeable(value: Any) -> Any:
    """Return an argument with copies of read-only arrays, so that fewer types are compiled."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return value.copy()
    if isinstance(value, tuple):
        items = [changeable(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def record(functions: list[str]) -> Called:
    """Make the sample calls; return the kernels that they called, with the types of the arguments."""
    called: Called = {}
    unfit = set()
    lock = threading.Lock()

    def noted(kernel: Any, *arguments: Any) -> Any:
        kinds = kinds_of(arguments)
        if kinds is None:
            unfit.add(kernel._name.partition(" ")[0])
        elif kernel._name:
            key = kernel._name, kinds
            if key not in called:
                types = tuple(kernel._dispatcher.typeof_pyval(argument) for argument in arguments)
                with lock:
                    called[key] = kernel, tuple(map(entries.wide, types))
        return kernel._dispatcher(*changeable(arguments))

    compiling.Kernel.__call__ = noted
    for _ in sample_calls.results(functions):
        pass
    print(
        f"called also with types for which there are no entries: {' '.join(sorted(unfit)) or 'none'}"
    )
    return called


def forget() -> None:
    """Forget the code that was compiled for another processor."""
    for one in gc.get_objects():
        if type(one) is compiling.Kernel:
            vars(one).pop("_dispatcher", None)


def compile_entries(called: Called, folder: Path, level: int) -> dict[str, dict[str, Any]]:
    """Compile the entries for a level into object files; return the number and results of each entry."""
    index: dict[str, dict[str, Any]] = {}
    compiled: dict[Any, tuple[int, str] | None] = {}
    refused = set()
    for (name, kinds), (kernel, types) in sorted(called.items(), key=lambda item: item[0]):
        key = id(kernel), types
        if key not in compiled:
            number = len(compiled)
            symbol = f"entry_{level}_{number}"
            try:
                code, returns = entries.entry(kernel, types, symbol)
            except entries.NoEntryError as error:
                refused.add(f"{name.splitlines()[0]} {error}")
                compiled[key] = None
                continue
            (folder / f"{symbol}.o").write_bytes(code)
            compiled[key] = number, returns
        if compiled[key] is not None:
            index.setdefault(name, {})[kinds] = compiled[key]
    print(f"{LEVELS[level]}: {sum(map(bool, compiled.values()))} entries of {len(index)} kernels")
    for one in sorted(refused):
        print(f"  without an entry: {one}")
    return index


def link(folder: Path, library: Path) -> None:
    """Link the object files in a folder, and the C code, into a module of Python."""
    objects = sorted(map(str, folder.glob("*.o")))
    mac = ["-undefined", "dynamic_lookup", "-Wl,-x", "-mmacosx-version-min=11.0"]
    system = mac if sys.platform == "darwin" else ["-Wl,-s"]
    command = ["cc", "-shared", "-O2", "-fPIC", "-fvisibility=hidden", *system, "-o", str(library)]
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run([*command, include, str(SUPPORT), *objects, "-lm"], check=True)
    ctypes.CDLL(str(library), os.RTLD_NOW)  # an error if it calls a function that is nowhere


def main() -> None:
    """Write the library and the list of its entries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("functions", nargs="*")
    parser.add_argument(
        "--levels", type=int, default=len(LEVELS), help="compile for the first ones"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # The sample calls run code for the lowest level.
        entries.compile_for(LEVELS[0], folder)
        called = record(options.functions)
        for level, processor in enumerate(LEVELS[: options.levels]):
            if level:
                entries.compile_for(processor, folder)
                forget()
            index = compile_entries(called, Path(folder), level)
        link(Path(folder), options.folder / precompiled.LIBRARY.name)
    table = {
        "sources": precompiled.checksum(),
        "levels": LEVELS[: options.levels],
        "entries": index,
    }
    text = json.dumps(table, separators=(",", ":"), sort_keys=True)
    (options.folder / precompiled.INDEX.name).write_text(text)


if __name__ == "__main__":
    main()
