"""The CUDA C++ sources and the kernels in them. Reading them takes neither CuPy nor a GPU."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

__all__ = ["FILTER_THREADS", "KERNELS", "OPTIONS", "THREADS", "instance", "source"]

THREADS = 256  # of a block, with one exception:
FILTER_THREADS = 640
OPTIONS = ("-std=c++17", f"-DTHREADS={THREADS}", f"-DFILTER_THREADS={FILTER_THREADS}")

_C_TYPES = {"int32": "int", "int64": "long long"}


@cache
def instance(kernel: str, *dtypes: Any) -> str:
    """Return the name of a kernel template for these dtypes, as CUDA C++ spells it.

    Examples
    --------
    >>> instance("hook", "int32", "int64")
    'hook<int, long long>'
    """
    return f"{kernel}<{', '.join(_C_TYPES[str(dtype)] for dtype in dtypes)}>"


def _instances(kernel: str, parameters: int) -> tuple[str, ...]:
    return tuple(instance(kernel, *dtypes) for dtypes in product(_C_TYPES, repeat=parameters))


KERNELS: dict[str, tuple[str, ...]] = {
    "forest.cu": (
        "clear_report",
        *_instances("hook", 2),
        *_instances("hook_plain", 2),
        *_instances("absorb", 2),
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
}
"""The kernels of each source file, every one that :mod:`.device` may ask for."""


def source(name: str) -> str:
    """Return a source file with its headers pasted in.

    CuPy's cache of compiled code goes by the text it is given: it does not see a changed header.
    """
    folder = files(__package__) / "cuda"
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        if line.startswith("#include "):
            lines[at] = (folder / line.split('"')[1]).read_text(encoding="utf-8")
    return "\n".join(lines) + "\n"
