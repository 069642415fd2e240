"""The load-balancing policies of an advance, and the CUDA C++ source of each policy for an edge program.

This module needs neither CuPy nor a GPU; :mod:`.advance.device` describes each policy.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest
from dask_graphflow.showing.values import shown

from .program import DeviceProgram
from .sources import instance, source

KERNELS = {
    "thread": "advance_thread",
    "twc": "advance_twc",
    "lb": "advance_balanced",
    "lb_light": "advance_light",
    "lb_cull": "advance_balanced",
    "lb_light_cull": "advance_light",
    "all_edges": "advance_balanced",
}
CULLING = ("lb_cull", "lb_light_cull", "all_edges")
POLICIES = (*KERNELS, "auto")
# On the host, one thread processes each row. A thread takes another mini-chunk of rows when it is done.
HOST_POLICIES = ("thread", "all_edges", "auto")
STAGES = {"bitmask": 1, "block": 2, "warp": 4, "exact": 8}  # as in cull.cuh


def check(balance: str, policies: Collection[str] = POLICIES, *, frontier: bool = False) -> None:
    """Raise an error unless a policy exists and, if there is a frontier, supports one."""
    if not isinstance(balance, str) or balance not in policies:
        names = ", ".join(map(repr, policies))
        only = " on the host" if policies is HOST_POLICIES else ""
        raise OptionError(
            f"balance={shown(balance)}; allowed{only} are {names}{nearest(balance, policies)}"
        )
    if balance == "all_edges" and frontier:
        raise OptionError(
            "balance='all_edges' with a frontier; it pushes along every edge: give frontier=None, or "
            "another policy"
        )


def text(program: DeviceProgram) -> str:
    """Return the CUDA C++ source of all policies for an edge program."""
    return source("advance.cuh") + program.struct


def expression(program: DeviceProgram, balance: str, *, pulls: bool) -> str:
    """Return the CUDA C++ name of a policy's kernel for an edge program."""
    culls = balance in CULLING and not pulls
    flags = ", ".join(str(flag).lower() for flag in (pulls, culls))
    return f"{KERNELS[balance]}<{program.name}, {flags}>"


def other_expression(kernel: str, program: DeviceProgram, *dtypes: Any) -> str:
    """Return the CUDA C++ name of a kernel for an edge program that is the same for all policies."""
    return instance(kernel, program.name, *dtypes)
