"""The load-balancing policies of an advance, and on the device the CUDA C++ of each for an edge program.

This takes neither CuPy nor a GPU; :mod:`.device_advance` says what each policy does.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.suggestions import nearest

from .sources import source

if TYPE_CHECKING:
    from .edge_op import BoundOp

__all__ = [
    "CULLING",
    "HOST_POLICIES",
    "KERNELS",
    "POLICIES",
    "STAGES",
    "check",
    "expression",
    "text",
]

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
# On the host a thread walks along a row, and takes the next mini-chunk of rows when it is done with one.
HOST_POLICIES = ("thread", "all_edges", "auto")
STAGES = {"bitmask": 1, "block": 2, "warp": 4, "exact": 8}  # of cuda/cull.cuh


def check(balance: str, policies: Collection[str] = POLICIES, *, frontier: bool = False) -> None:
    """Raise unless a policy exists, and goes along the edges of a frontier where there is one."""
    if balance not in policies:
        names = ", ".join(map(repr, policies))
        only = " on the host" if policies is HOST_POLICIES else ""
        raise OptionError(
            f"balance={balance!r}; allowed{only} are {names}{nearest(balance, policies)}"
        )
    if balance == "all_edges" and frontier:
        raise OptionError(
            "balance='all_edges' with a frontier; it pushes along every edge: give frontier=None, or "
            "another policy"
        )


def text(bound: BoundOp) -> str:
    """Return the CUDA C++ of all policies with an edge program."""
    return source("advance.cuh") + bound.cuda


def expression(bound: BoundOp, balance: str, *, pulls: bool) -> str:
    """Return the name of a policy's kernel for an edge program, as CUDA C++ spells it."""
    culls = balance in CULLING and not pulls
    flags = ", ".join(str(flag).lower() for flag in (pulls, culls))
    return f"{KERNELS[balance]}<{bound.cuda_name}, {flags}>"
