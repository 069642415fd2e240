"""Compile host kernels with Numba, and cache the compiled code on disk for the next process.

:mod:`.compiling` imports this module, and with it Numba, when a kernel is compiled or loaded for the first
time.

Numba stores compiled code in ``NUMBA_CACHE_DIR``, next to the source files, or in the user's cache folder.
It uses the first of these folders that is writable. A container with a read-only installation and no home
has no such folder. Then this module uses a private folder for temporary files. If that is not possible
either, each process compiles again.

The workers of a cluster compile at the same time, into one folder. Numba numbers the files of a function,
one per tuple of argument types, and lists the numbers in an index. Two processes that compile for different
types at once may choose the same number, and a third process then runs code for the wrong types, without an
error. Here the name of a file says what it was compiled for, and there is no index.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import stat
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

from dask_graphflow.exceptions import UsageError

from .compiler import InnerKernelCompiler, KernelCompiler
from .precompiled import source_files

ADVICE = "set the environment variable NUMBA_CACHE_DIR to a folder that you can write to"

_DEFINING = threading.Lock()


def dispatcher(function: Callable[..., Any], program: str | None, options: dict[str, Any]) -> Any:
    """Return Numba's version of a function; see :func:`.compiling.compiled`.

    Without a `program`, not even an empty one, the code is not cached on disk.
    """
    if numba.config.DISABLE_JIT:
        raise UsageError(
            "NUMBA_DISABLE_JIT is set, and kernels update arrays from several threads by atomic "
            "instructions, which only compiled code has. Unset this environment variable, and start Python "
            "and the workers again"
        )
    # Nothing calls the function from C, so there is less to compile.
    options = {**options, "nogil": True, "no_cfunc_wrapper": True}
    options["_nrt"] = allocates = options.pop("allocates", False)
    if not allocates:
        inner = options.get("no_cpython_wrapper", False)
        options["pipeline_class"] = InnerKernelCompiler if inner else KernelCompiler
    if program is None:
        return _defined(function, options)
    try:
        return _cached(function, program, options)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
    folder = _temporary()
    if folder is None:
        return _defined(function, options)
    # Numba chooses the folder when the function is defined. The setting is restored afterwards, so that
    # other libraries keep their own folder.
    with _DEFINING:
        before = numba.config.CACHE_DIR
        try:
            numba.config.CACHE_DIR = str(folder)
            return _cached(function, program, options)
        finally:
            numba.config.CACHE_DIR = before


def _defined(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return Numba's version of a function, which is not compiled again for each literal argument."""
    made = numba.njit(**options)(function)
    template = made.get_call_template
    made.get_call_template = lambda types, named: template(tuple(map(unliteral, types)), named)
    return made


def intrinsic_type(typed: Callable[..., Any]) -> Any:
    """Return Numba's type of an intrinsic function."""
    made = intrinsic(typed)
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(made)


def _cached(function: Callable[..., Any], program: str, options: dict[str, Any]) -> Any:
    made = _defined(function, {"cache": True, **options})
    cache = made._cache
    source = cache._impl.locator.get_source_stamp()
    cache._cache_file = _FilesByTypes(cache.cache_path, cache._impl.filename_base, source)
    cache.load_overload = functools.partial(_load, cache)
    if program:
        # Numba's own key contains a hash of the compiled functions that the inner function uses, and this
        # hash differs in each process.
        cache._index_key = lambda types, codegen: (types, codegen.magic_tuple(), program, _stamps())
    return made


def _load(cache: Any, types: Any, target: Any) -> Any:
    """Return compiled code from the cache, or None, without what only the compiler needs.

    Numba would first register all functions that it can compile, which takes 0.4 s in a new process. The
    compiler registers them itself.
    """
    rtsys.initialize(target)  # the functions that compiled code calls
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(types, target)


@functools.cache
def _stamps() -> tuple[tuple[str, float, int], ...]:
    """Return the name, modification time and size of each source file of the kernels and programs."""
    package = Path(__file__).parents[1]
    files = [(str(path.relative_to(package)), path.stat()) for path in source_files()]
    return tuple((name, about.st_mtime, about.st_size) for name, about in files)


class _FilesByTypes(IndexDataCacheFile):  # type: ignore[misc]
    """The cache files of a compiled function: one per tuple of argument types, named by their hash.

    The hash also covers the version of the source file and of Numba, so that a file is never out of date.
    """

    def flush(self) -> None:
        """Do nothing: there is no index to empty."""

    def save(self, key: Any, data: Any) -> None:
        """Save the code that was compiled for the types, the processor and the bytecode in `key`."""
        self._save_data(self._named(key), data)

    def load(self, key: Any) -> Any:
        """Return the code that was saved for `key`, or None."""
        try:
            return self._load_data(self._named(key))
        except FileNotFoundError:
            return None

    def _named(self, key: Any) -> str:
        of = repr((self._version, self._source_stamp, key))
        base: str = self._index_name.removesuffix(".nbi")
        return f"{base}.{hashlib.sha256(of.encode()).hexdigest()[:32]}.nbc"


class _WithoutCollecting(event.Listener):  # type: ignore[misc]
    """Pauses Python's garbage collector while Numba compiles.

    The compiler creates millions of objects and keeps most of them until it ends. Searching them for
    garbage again and again takes an eighth of the time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._compiling = 0  # functions in all threads; one may compile others that it calls
        self._paused = False

    def on_start(self, event: event.Event) -> None:
        """Pause the collector, unless the program itself has turned it off."""
        with self._lock:
            if not self._compiling:
                self._paused = gc.isenabled()
                gc.disable()
            self._compiling += 1

    def on_end(self, event: event.Event) -> None:
        """Resume the collector when no function is being compiled any more, even after an error."""
        with self._lock:
            self._compiling -= 1
            if self._paused and not self._compiling:
                gc.enable()


event.register("numba:compile", _WithoutCollecting())


def cached_in(function: Any) -> tuple[str | None, bool]:
    """Return the folder in which a compiled function is cached, if any, and whether Numba found it."""
    folder: str | None = function.stats.cache_path
    return folder, folder is not None and not _temporary.cache_info().currsize


@functools.cache
def _temporary() -> Path | None:
    """Return the folder to use if Numba finds none, and warn about it once per process."""
    folder = _private()
    then = "each process compiles anew" if folder is None else f"they are kept in {folder}"
    warnings.warn(
        "Numba finds no folder to keep compiled kernels in: neither the installation nor the home folder "
        f"can be written to. For now {then}. To avoid this, {ADVICE}",
        stacklevel=2,
    )
    return folder


def _private() -> Path | None:
    """Return a temporary folder that only this user can access, or None.

    Code from this folder is run, so no other user may be able to write to it or to replace it.
    """
    if not hasattr(os, "getuid"):
        return None
    try:
        above = Path(tempfile.gettempdir()).resolve()
        shared = above.stat()
        if shared.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not shared.st_mode & stat.S_ISVTX:
            return None
        folder = above / f"dask-graphflow-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if (
            not stat.S_ISDIR(status.st_mode)
            or status.st_uid != os.getuid()
            or status.st_mode & 0o077
        ):
            return None
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return None
    return folder
