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
_SUMS = ("int64", "float64")
_RULES = ("COUNT", "SUM", "SCORE")  # as in groups.cu


@cache
def instance(kernel: str, *arguments: Any) -> str:
    """Return the CUDA C++ name of a kernel template with some arguments.

    An argument is a dtype, or the name of a constant.

    Examples
    --------
    >>> instance("hook", "int32", "int64")
    'hook<int, long long>'
    """
    names = (C_TYPES.get(str(argument), argument) for argument in arguments)
    return f"{kernel}<{', '.join(names)}>"


def _instances(kernel: str, parameters: int) -> tuple[str, ...]:
    return _each(kernel, *[_IDS] * parameters)


def _each(kernel: str, *choices: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(instance(kernel, *dtypes) for dtypes in product(*choices))


KERNELS: dict[str, tuple[str, ...]] = {
    "forest.cu": (
        "clear_report",
        *_instances("hook", 2),
        *_instances("absorb", 2),
        *_instances("hook_first", 1),
        *_instances("choose_tree", 1),
        *_instances("hook_rest", 1),
        *_instances("compress", 1),
        *_instances("mark_members", 1),
        *_instances("identity", 1),
        *_instances("bounds", 1),
        "count_seen",
        *_instances("write_labels", 2),
    ),
    "giant.cu": (
        *_instances("choose_giant", 1),
        "mark_giant",
        *_instances("count_ends", 1),
        "pick_hubs",
        *_instances("filter", 1),
    ),
    "rows.cu": (
        *_instances("count_ids", 1),
        *_instances("row_bins", 1),
        *_instances("count_selected", 1),
        *_instances("select", 1),
        "count_heads",
        *_instances("write_rows", 1),
        *(instance("write_weights", dtype) for dtype in _WEIGHTS),
        *_instances("owners", 1),
        *_instances("relabel", 1),
    ),
    "partition.cu": (*_instances("choose", 1), *_instances("count_grains", 1)),
    "advance.cu": (
        *_instances("list_marked", 1),
        "count_true",
        *_instances("set_words", 1),
        "count_ones",
        *_instances("write_words", 1),
        *_instances("gather_degrees", 1),
        *_instances("uniquify", 1),
        "tally",
        *_instances("sum_degrees", 1),
    ),
    "search.cu": (
        *_instances("bfs_pull", 1),
        *_instances("bfs_pull_rest", 1),
        *_instances("bfs_push", 1),
        *_instances("bfs_run", 1),
        *_each("bfs_push_weightless", _IDS, _FLOATS),
        *_each("bfs_run_weightless", _IDS, _FLOATS),
        *_instances("part_found", 1),
        *_instances("take_offers", 1),
    ),
    "pull.cu": (
        *_each("sum_contributions", _IDS, _FLOATS),
        *_each("sum_weighted", _IDS, _FLOATS, _FLOATS),
        *_each("row_totals", _FLOATS),
        *_each("shares", _SUMS, _FLOATS),
        *_each("apply_sums", _FLOATS),
        *_instances("sum_batch", 1),
        *_each("sum_weighted_batch", _IDS, _FLOATS),
        "apply_batch",
    ),
    "scores.cu": (
        "total",
        *(instance("combine", dtype) for dtype in _SUMS),
        *_each("scale", _SUMS, _FLOATS),
    ),
    "buckets.cu": (
        *_each("light_first", _IDS, _FLOATS),
        *_each("relax", _IDS, _FLOATS),
        *_each("relax_on", _IDS, _FLOATS),
        *_each("offer_distances", _IDS, _FLOATS),
        *_each("take_mirrors", _IDS),
        *_instances("measure_piles", 1),
        *_instances("least_distance", 1),
        *_each("offer_nearer", _IDS, _FLOATS),
        *_each("weigh", _FLOATS),
    ),
    "searches.cu": _each("search", _IDS, ("true", "false")),
    "peel.cu": (*_instances("peel_run", 1), *_instances("peel_all", 1)),
    "spanning.cu": _each("join_components", _IDS, _KEYS),
    "biconnected.cu": _instances("join_cycles", 1),
    "predecessors.cu": _instances("set_predecessors", 1),
    "order.cu": _each("first_free", _IDS, ("BLOCK", "WARP")),
    "groups.cu": (
        *_each("few_groups", _IDS, _RULES),
        *_each("some_groups", _IDS, _RULES),
        *_each("many_groups", _IDS, _RULES),
    ),
    "sweep.cu": _each("sweep", _IDS, ("true", "false")),
    "between.cu": (
        *_instances("number_groups", 1),
        *_instances("list_members", 1),
        *_instances("sum_between", 1),
        *_instances("copy_rows", 1),
        *_instances("weight_between", 1),
        *_instances("edges_inside", 1),
    ),
    "intersect.cu": (
        *_instances("triangles", 1),
        *_instances("credit", 1),
        *_instances("lose", 2),
        *_instances("settle", 1),
        *_instances("peel_edges", 2),
        *_instances("common", 1),
    ),
    "sample.cu": (
        *_instances("hashes", 1),
        *_instances("walk", 1),
        *_instances("propose", 1),
        *_instances("connected", 1),
        "pick_edges",
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
