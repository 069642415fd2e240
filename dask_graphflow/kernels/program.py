"""Edge programs, and expressions per vertex, as kernels take them. This needs neither Numba nor CuPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np


class HostFunctions(NamedTuple):
    """The compiled functions of an edge program, to be called from code that Numba compiles.

    Attributes
    ----------
    signal : callable
        ``signal(columns, src, dst, weight)`` returns a message with the target's dtype. The values of the
        parameters come after the columns, in the same tuple.
    cond : callable
        ``cond(columns, dst)`` returns whether `dst` accepts messages.
    combine : callable
        ``combine(old, new)`` returns the target's new value, from its old value and a message.
    after : callable
        ``after(columns, dst, step)`` is called once for each vertex that changed, and returns whether it is
        in the next frontier; see :class:`.After`.
    """

    signal: Callable[..., Any]
    cond: Callable[..., Any]
    combine: Callable[..., Any]
    after: Callable[..., Any]


class HostProgram(NamedTuple):
    """A compiled edge program.

    Attributes
    ----------
    functions : HostFunctions
    text : str
        Text that determines what the functions do, or "" if no text does.
    target : int
        Index of the column that receives messages.
    first_hit : bool
        See :class:`.EdgeOp`.
    weighted : bool
        Whether the program reads weights. If not, they are not loaded.
    """

    functions: HostFunctions
    text: str
    target: int
    first_hit: bool
    weighted: bool


class DeviceProgram(NamedTuple):
    """An edge program in CUDA C++.

    Attributes
    ----------
    name, struct : str
        The name of the program's struct, and its source, which has to come after ``advance.cuh``.
    layout : dtype
        The members of the struct: first the pointers to columns, then the parameters.
    target : int
        Index of the column that receives messages.
    columns : int
        Number of columns.
    first_hit : bool
        See :class:`.EdgeOp`.
    weighted : bool
        Whether the program reads weights.
    """

    name: str
    struct: str
    layout: np.dtype[Any]
    target: int
    columns: int
    first_hit: bool
    weighted: bool


Program: TypeAlias = Any  # a HostProgram where the kernels are the host's, else a DeviceProgram


class VertexProgram(NamedTuple):
    """Expressions per vertex, which read a sequence of arrays and scalars.

    Attributes
    ----------
    values : callable
        Takes the sequence, in host memory. Returns one array per expression, or a scalar if all vertices
        share the value.
    struct : str
        The expressions in CUDA C++, as a struct ``Values``, which has to come after ``vertices.cuh``.
    layout : dtype
        The members of the struct: the number of vertices, pointers to the columns that the values are
        assigned to, and what the expressions read.
    """

    values: Callable[[Sequence[Any]], list[Any]]
    struct: str
    layout: np.dtype[Any]
