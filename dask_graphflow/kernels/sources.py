"""The CUDA C++ sources and the kernels in them. Reading them requires neither CuPy nor a GPU."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

THREADS = 256  # threads per block, with two exceptions:
FILTER_THREADS = 640
GANG = 512
OPTIONS = (
    "-std=c++17",
    f"-DTHREADS={THREADS}",
    f"-DFILTER_THREADS={FILTER_THREADS}",
    f"-DGANG={GANG}",
)

C_TYPES = {
    "None": "None",
    "bool": "bool",
    "int32": "int",
    "int64": "long long",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
_IDS = ("int32", "int64")
_WEIGHTS = ("int32", "int64", "float32", "float64")
_FLOATS = ("float32", "float64")
_KEYS = ("uint32", "uint64")
_WIDTHS = ("bool", "uint32", "uint64")  # of entries that are only copied
_SUMS = ("int64", "float64")
_RULES = ("COUNT", "SUM", "SCORE")  # as in groups.cu


@cache
def instance(kernel: str, *arguments: Any) -> str:
    """Return the CUDA C++ name of a kernel template with some arguments.

    An argument is a dtype, the name of a constant, or None: the type of weights if there are none.

    Examples
    --------
    >>> instance("hook", "int32", "int64")
    'hook<int, long long>'
    """
    names = (C_TYPES.get(str(argument), argument) for argument in arguments)
    return f"{kernel}<{', '.join(names)}>"


def _each(kernels: str, *choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return the instances of some kernel templates, for all combinations of their arguments."""
    combined = [*product(*choices)]
    return tuple(instance(kernel, *types) for kernel in kernels.split() for types in combined)


KERNELS: dict[str, tuple[str, ...]] = {
    "forest.cu": (
        "clear_report",
        "count_seen",
        *_each("hook absorb write_labels", _IDS, _IDS),
        *_each("compress mark_members identity bounds", _IDS),
    ),
    "components.cu": _each("hook_first choose_tree hook_rest mark_tree hook_outside_tree", _IDS),
    "giant.cu": ("mark_giant", "pick_hubs", *_each("choose_giant count_ends filter", _IDS)),
    "rows.cu": (
        "count_heads",
        *_each("count_ids row_bins count_selected select write_rows owners relabel", _IDS),
        *_each("write_weights", _WEIGHTS),
    ),
    "peers.cu": (
        "meet",
        "spread",
        *_each("take_changes", _WIDTHS),
        *_each("publish", _WIDTHS, _IDS),
        *_each("publish_marks", _IDS),
    ),
    "partition.cu": _each("choose count_grains", _IDS),
    "advance.cu": (
        "count_true",
        "count_ones",
        "tally",
        *_each("list_marked set_words write_words gather_degrees uniquify sum_degrees", _IDS),
    ),
    "search.cu": (
        *_each("bfs_pull bfs_pull_rest bfs_push_to_all part_found take_offers", _IDS),
        *_each("bfs_push bfs_run", _IDS, ("None", *_FLOATS)),
    ),
    "pull.cu": (
        "apply_batch",
        *_each("sum_contributions", _IDS, _FLOATS, ("None", *_FLOATS)),
        *_each("sum_batch", _IDS, ("None", *_FLOATS)),
        *_each("row_totals apply_sums", _FLOATS),
        *_each("shares", _SUMS, _FLOATS),
    ),
    "scores.cu": ("total", *_each("combine", _SUMS), *_each("scale", _SUMS, _FLOATS)),
    "buckets.cu": (
        *_each("relax relax_on", _IDS, _FLOATS, ("true", "false")),
        *_each("offer_distances", _IDS, _FLOATS),
        *_each("take_mirrors measure_piles least_distance", _IDS),
    ),
    "weights.cu": (*_each("light_first", _IDS, _FLOATS), *_each("weigh", _FLOATS)),
    "nearer.cu": _each("offer_nearer", _IDS, _FLOATS),
    "searches.cu": _each("search", _IDS, ("true", "false")),
    "peel.cu": _each("peel_run peel_all", _IDS),
    "spanning.cu": _each("join_components", _IDS, _KEYS),
    "biconnected.cu": _each("join_cycles", _IDS),
    "predecessors.cu": _each("set_predecessors", _IDS),
    "order.cu": _each("first_free", _IDS, ("BLOCK", "WARP")),
    "groups.cu": _each("few_groups some_groups many_groups", _IDS, _RULES),
    "sweep.cu": _each("sweep", _IDS, ("true", "false")),
    "between.cu": _each(
        "number_groups list_members sum_between copy_rows weight_between edges_inside", _IDS
    ),
    "intersect.cu": (
        *_each("triangles credit settle common", _IDS),
        *_each("lose peel_edges", _IDS, _IDS),
    ),
    "sample.cu": (
        "pick_edges",
        *_each("hashes walk propose connected", _IDS),
        *_each("cumulate", _FLOATS),
    ),
}
"""The kernels of each source file that the device modules can launch.

The kernels of ``advance.cuh`` are compiled once for each edge program instead; see :mod:`.policies`.
"""


@cache
def source(name: str) -> str:
    """Return the text of a source file with its headers included.

    CuPy caches compiled code by the text that it is given, so it would not notice a change in a header.
    """
    lines = _texts()[name].splitlines()
    for at, line in enumerate(lines):
        if line.startswith("#include "):
            lines[at] = _texts()[line.split('"')[1]]
    return "\n".join(lines) + "\n"


@cache
def _texts() -> dict[str, str]:
    """Return the texts of all source files and headers. No two of them have one name."""
    folders = (folder for folder in files(__package__).iterdir() if folder.is_dir())
    inside = (file for folder in folders for file in folder.iterdir())
    return {
        file.name: file.read_text(encoding="utf-8")
        for file in inside
        if file.name.endswith((".cu", ".cuh"))
    }
