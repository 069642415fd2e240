"""Expressions per vertex on the device.

All expressions of a step are compiled into one kernel when they are first computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from dask_graphflow.kernels.common.device import namespace as cupy
from dask_graphflow.kernels.fixed_point import units
from dask_graphflow.kernels.launching import launch, launch_resident, read
from dask_graphflow.kernels.program import VertexProgram
from dask_graphflow.kernels.sources import OPTIONS, source

WORD, SIGN = 2**64, 2**63
_REDUCED = np.dtype([("counted", "i8"), ("high", "i8"), ("low", "i8"), ("largest", "u8")])


def assign(program, given, columns):
    count = len(columns[0])
    values = _struct(program, count, (*columns, *given))
    launch(_kernel(program.struct, "assign_values"), count, values)


class DeviceFloatTotal:
    def __init__(self, program, given, exists, threads=1):
        self._all = program, given, exists
        found = _reduce("largest_magnitude", *self._all)
        self.wrong = int(found["counted"])
        self.largest = float(found["largest"].view("float64"))

    def parts(self, exponent, count):
        scales = np.int32(exponent), *map(np.float64, units(1.0, count))
        found = _reduce("sum_floats", *self._all, *scales)
        return int(found["high"]), int(found["low"])


def integer_total(program, given, exists):
    return int(_reduce("sum_integers", program, given, exists)["low"]) % WORD


def largest(program, given, exists, dtype):
    found = _reduce("largest_value", program, given, exists)
    return np.array([_value(int(found["largest"]), dtype)][: found["counted"]], dtype)


def _value(order: int, dtype: np.dtype[Any]) -> Any:
    """Return the value whose order among all numbers of 64 bits is given; see vertices.cuh."""
    if dtype.kind == "u":
        return order
    if dtype.kind == "i":
        return order - SIGN
    if order == WORD - 1:
        return np.nan
    return np.uint64(order - SIGN if order >= SIGN else WORD - 1 - order).view("float64")


def _reduce(
    name: str, program: VertexProgram, given: Sequence[Any], exists: Any, *arguments: Any
) -> Any:
    """Reduce an expression over the vertices, and wait for the result."""
    found, count = cupy.zeros(_REDUCED.itemsize // 8, "int64"), len(exists)
    values = _struct(program, count, given)
    kernel = _kernel(program.struct, name)
    launch_resident(kernel, count, values, exists, *arguments, found)
    return read(found).view(_REDUCED)[0]


def _struct(program: VertexProgram, count: int, members: Sequence[Any]) -> np.ndarray:
    pointers = (member.data.ptr if np.ndim(member) else member for member in members)
    return np.array((count, *pointers), program.layout)


@cache
def _kernel(struct: str, name: str) -> Any:
    expression, code = f"{name}<Values>", source("vertices.cuh") + struct
    module = cupy.RawModule(code=code, options=OPTIONS, name_expressions=(expression,))
    return module.get_function(expression)


new_float_total = DeviceFloatTotal
