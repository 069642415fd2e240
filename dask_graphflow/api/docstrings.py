"""Docstrings of the functions and methods that ``python3 dev.py generate`` writes.

Each one is the docstring of its algorithm, with the texts that all algorithms share.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from dask_graphflow.algorithms.algorithm import ALGORITHMS

__all__ = ["document"]

READING = ("source", "target", "weight", "directed", "multi", "vertices", "dropna")
# An algorithm's docstring can override the text of one of these parameters, or of those above.
SHARED = {
    "edges": """\
edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
    The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without the options
    {reading}.""",
    "trace": """\
trace : bool
    Also return a frame with one row per superstep. False by default.""",
    "progress": """\
progress : bool or callable
    Report each superstep when it ends, in a progress bar or to a function. False by default. The notes of
    :class:`~dask_graphflow.Graph` describe both.""",
}
FRAME = "    How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`."
LAZY = """
    The result is lazy, and bit-identical for every partitioning and number of threads. The index restarts
    at 0 in each partition."""
STEPS = """
dask.dataframe.DataFrame
    Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`."""
RAISES = """
NullVertexError
    An id is null, and `dropna` is False. Raised when the result is computed.
OptionError, UnknownColumnError, VertexTypeError, EdgeListError
    An argument is invalid; raised at the call."""


def document(namespace: Mapping[str, Any]) -> None:
    """Replace the summaries of algorithms' functions or methods by full docstrings.

    Parameters
    ----------
    namespace : mapping of str to object
        The names in a module or a class. Only the names of algorithms are used.
    """
    for name in ALGORITHMS.keys() & namespace.keys():
        function = namespace[name]
        if function.__doc__:  # python -OO removes docstrings
            function.__doc__ = _docstring(name, inspect.signature(function).parameters)


def _docstring(name: str, taken: Iterable[str]) -> str:
    """Return the docstring of an algorithm's function or method with the parameters `taken`."""
    found = _sections(inspect.cleandoc(ALGORITHMS[name].run.__doc__ or ""))
    sections = {"": "", "Parameters": "", "Returns": "", "Raises": "", **found}
    entries = re.split(r"\n(?=\S)", sections["Parameters"])
    explained = SHARED | {re.split(", | : ", entry)[0]: entry for entry in entries}
    reading = [p for p in taken if p in READING]
    if reading:
        explained["edges"] = SHARED["edges"].format(reading=", ".join(f"`{p}`" for p in reading))
        together = ", ".join(p for p in reading if p not in explained)
        explained["source"] = f"{together}\n{FRAME}"
        sections["Raises"] += RAISES
    sections["Parameters"] = "\n".join(explained[p] for p in taken if p in explained)
    sections["Returns"] += LAZY + (STEPS if "trace" in taken else "")
    if "self" in taken:
        sections[""] += f"\n\nSee :func:`dask_graphflow.{name}` for an example."
        sections.pop("Examples", None)
    titled = [f"{t}\n{'-' * len(t)}\n{text.strip()}" for t, text in sections.items() if t and text]
    return "\n\n".join([sections[""], *titled])


def _sections(docstring: str) -> dict[str, str]:
    """Return the sections of a docstring by title. The text before the first title has the key ""."""
    parts = re.split(r"^(\w+)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], (part.strip() for part in parts[::2]), strict=True))
