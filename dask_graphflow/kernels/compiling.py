"""Host kernels: functions that Numba compiles when they are first called.

A module of kernels is imported without Numba. The first kernel that Numba compiles, or loads from its
cache, imports Numba (:mod:`.jit`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any


class Kernel:
    """A function that Numba compiles for each combination of argument types.

    Compiled functions may call it. It has the attributes of Numba's dispatcher.
    """

    def __init__(
        self, function: Callable[..., Any], program: str | None, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self._definition = function, program, options

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name != "_dispatcher":
            return getattr(self._dispatcher, name)
        from . import jit

        # Threads may make several, and all use the first one.
        return self.__dict__.setdefault(name, jit.dispatcher(*self._definition))


class intrinsic:  # noqa: N801 - a decorator
    """A function of compiled code that emits LLVM's instructions.

    The function around it gets Numba's typing context and the types of the arguments, and returns a
    signature and a code generator (see ``numba.extending.intrinsic``). It imports what it needs of Numba.
    """

    def __init__(self, typed: Callable[..., Any]) -> None:
        update_wrapper(self, typed)
        self._typed = typed

    def __getattr__(self, name: str) -> Any:
        # Numba asks for this attribute when it compiles a function that calls this one.
        if name != "_numba_type_":
            raise AttributeError(name)
        from . import jit

        return self.__dict__.setdefault(name, jit.intrinsic_type(self._typed))


def compiled(function: Callable[..., Any], *, program: str = "", **options: Any) -> Any:
    """Return a function compiled by Numba, which releases the GIL and is cached on disk.

    Parameters
    ----------
    function : callable
        A function at the top level of a module, or an inner function with its `program`.
    program : str, optional
        Text that determines everything that an inner function uses from the function around it. Cached code
        is only loaded for the same text, and only if no source file of the kernels has changed.
    **options
        More options of ``numba.njit``.
    """
    return Kernel(function, program, options)


# For a function that is only called by compiled functions. No wrapper for Python is compiled, so calling it
# from Python crashes the process.
inner = partial(compiled, no_cpython_wrapper=True)


def uncached(function: Callable[..., Any], **options: Any) -> Any:
    """Return a function compiled by Numba, which each process compiles again."""
    return Kernel(function, None, options)
