"""Edge programs, and expressions per vertex, as kernels take them. This needs neither Numba nor CuPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np


class HostFunctions(NamedTuple):
    """The compiled functions of an edge program, to be called from code that Numba compiles."""

    # ``signal(columns, src, dst, weight)`` returns a message with the target's dtype. The values of the
    # parameters come after the columns, in the same tuple.
    signal: Callable[..., Any]
    cond: Callable[..., Any]  # ``cond(columns, dst)`` returns whether `dst` accepts messages
    # ``combine(old, new)`` returns the target's new value, from its old value and a message.
    combine: Callable[..., Any]
    # ``after(columns, dst, step)`` is called once for each vertex that changed, and returns whether it is
    # in the next frontier; see :class:`.After`.
    after: Callable[..., Any]


class HostProgram(NamedTuple):
    """A compiled edge program."""

    functions: HostFunctions
    text: str  # text that determines what the functions do, or "" if no text does
    target: int  # index of the column that receives messages
    first_hit: bool  # see :class:`.EdgeOp`
    weighted: bool  # whether the program reads weights. If not, they are not loaded.


class DeviceProgram(NamedTuple):
    """An edge program in CUDA C++."""

    # The name of the program's struct, and its source, which has to come after ``advance.cuh``.
    name: str
    struct: str
    # Dtype. The members of the struct: first the pointers to columns, then the parameters.
    layout: np.dtype[Any]
    target: int  # index of the column that receives messages
    columns: int  # number of columns
    first_hit: bool  # see :class:`.EdgeOp`
    weighted: bool  # whether the program reads weights


Program: TypeAlias = Any  # a HostProgram where the kernels are the host's, else a DeviceProgram


class VertexProgram(NamedTuple):
    """Expressions per vertex, which read a sequence of arrays and scalars."""

    # Takes the sequence, in host memory. Returns one array per expression, or a scalar if all vertices
    # share the value.
    values: Callable[[Sequence[Any]], list[Any]]
    # The expressions in CUDA C++, as a struct ``Values``, which has to come after ``vertices.cuh``.
    struct: str
    # Dtype. The members of the struct: the number of vertices, pointers to the columns that the values are
    # assigned to, and what the expressions read.
    layout: np.dtype[Any]
