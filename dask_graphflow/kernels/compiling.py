"""Host kernels: functions that Numba compiles when they are first called.

A module of kernels is imported without Numba. The first kernel that Numba compiles, or loads from its
cache, imports Numba (:mod:`.jit`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from . import precompiled


class Kernel:
    """A function that Numba compiles for each combination of argument types.

    Compiled functions may call it. It has the attributes of Numba's dispatcher.
    """

    def __init__(
        self, function: Callable[..., Any], program: str | None, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self._definition = function, program, options
        # What determines the code: "" if only the function itself does.
        self._name = ""
        if program is not None:
            self._name = f"{function.__module__}.{function.__qualname__} {program}".rstrip()

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel, by code that was compiled with the package if there is any for these types."""
        if self._entries:
            result = precompiled.library().call(self._entries, arguments)
            if result is not NotImplemented:
                return result
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        # Threads may make several of an attribute, and all use the first one.
        if name == "_entries":
            found = precompiled.library().entries.get(self._name, {})
            return self.__dict__.setdefault(name, found)
        if name == "_dispatcher":
            from . import jit

            return self.__dict__.setdefault(name, jit.dispatcher(*self._definition))
        return getattr(self._dispatcher, name)


class _Intrinsic:
    def __init__(self, typed: Callable[..., Any]) -> None:
        self._typed = typed
        self.__name__, self.__doc__ = typed.__name__, typed.__doc__

    def __getattr__(self, name: str) -> Any:
        # Numba asks for this attribute when it compiles a function that calls this one.
        if name != "_numba_type_":
            raise AttributeError(name)
        from . import jit

        return self.__dict__.setdefault(name, jit.intrinsic_type(self._typed))


def intrinsic(typed: Callable[..., Any]) -> Any:
    """Return a function of compiled code that emits LLVM's instructions.

    Parameters
    ----------
    typed : callable
        It gets Numba's typing context and the types of the arguments, and returns a signature and a code
        generator (see ``numba.extending.intrinsic``). It imports what it needs of Numba.
    """
    return _Intrinsic(typed)


def compiled(
    function: Callable[..., Any],
    *,
    program: str = "",
    allocates: bool = False,
    **options: Any,
) -> Any:
    """Return a function compiled by Numba, which releases the GIL and is cached on disk.

    Parameters
    ----------
    function : callable
        A function at the top level of a module, or an inner function with its `program`.
    program : str, optional
        Text that determines everything that an inner function uses from the function around it. Cached code
        is only loaded for the same text, and only if no source file of the kernels has changed.
    allocates : bool, default False
        Whether the function allocates arrays. Then it counts references to all arrays, which takes time to
        compile and to run. Work space of a fixed size needs no allocation (:func:`.host_atomics.scratch`).
    **options
        More options of ``numba.njit``.
    """
    return Kernel(function, program, {"allocates": allocates, **options})


def uncached(function: Callable[..., Any], **options: Any) -> Any:
    """Return a function compiled by Numba, which each process compiles again."""
    return Kernel(function, None, options)


# For a function that is only called by compiled functions, which contain its code. No wrapper for Python is
# compiled, so calling it from Python crashes the process.
inner = partial(uncached, no_cpython_wrapper=True)
