"""Docstrings of the algorithms' functions and methods.

Each one is the docstring of its algorithm, with the texts that several algorithms share, and with what
follows from the declaration of the algorithm. Its own docstring takes precedence over both.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping

from dask_graphflow.runtime.algorithm import ALGORITHMS, Algorithm
from dask_graphflow.showing.arguments import READING

__all__ = ["docstring", "method_docstring"]

SHARED = {
    "edges": """\
edges : DataFrame, sparse matrix, array, list of pairs, NetworkX graph or Graph
    The edge list, one row per edge, in any form that :class:`~dask_graphflow.Graph` describes. A symmetric
    matrix is read as undirected{values}. Or a :class:`~dask_graphflow.Graph`, without the options
    {reading}.""",
    "trace": """\
trace : bool
    Also return a frame with one row per superstep. False by default.""",
    "progress": """\
progress : bool or callable
    Report each superstep when it ends, in a progress bar or to a function. False by default. The notes of
    :class:`~dask_graphflow.Graph` describe both.""",
    "max_iter": """\
max_iter : int
    Maximum number of iterations; {default} by default.""",
    "precision": """\
precision : {{"float64", "float32"}}
    Precision of the scores that are read along the edges. With "float32" an iteration reads less
    memory, and scores are accurate to about 6 digits. "{default}" by default.""",
    "fail_on_nonconvergence": """\
fail_on_nonconvergence : bool
    If `max_iter` iterations do not reach `tol`: True, the default, raises an error; False returns the
    result so far.""",
    "k": """\
k : int, optional
    Number of randomly sampled vertices from which paths start; the scores are then estimates, scaled to all
    vertices. By default all vertices, which is exact, and takes time in proportion to V times E.""",
    "seed": """\
seed : int
    Chooses the sample; 0 by default. It depends only on the seed and on the order of the ids.""",
}
FRAME = "    How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`."
EDGES = """\
dask.dataframe.DataFrame
    One row per edge, sorted by source, target and weight, with the columns ``source`` and ``target``
    (the dtype of the ids) and, if edges have weights, ``weight``. In an undirected graph, an edge has
    one row, and its source is the end with the smaller id."""
LAZY = """
    The result is lazy, and bit-identical for every partitioning and number of threads. The index restarts
    at 0 in each partition."""
STEPS = """
dask.dataframe.DataFrame
    Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`."""
ERRORS = {
    "ConvergenceError": "`max_iter` iterations did not reach `tol`.",
    "UnknownVertexError": "An id in an option is not in the graph: no edge starts or ends there.",
    "WeightError": "A weight is negative, infinite, NaN, or far too large or small.",
}
RAISES = """
NullVertexError
    An id is null, and `dropna` is False. Raised when the result is computed.
OptionError, UnknownColumnError, VertexTypeError, EdgeListError
    An argument is invalid; raised at the call."""


def docstring(name: str, taken: Mapping[str, inspect.Parameter]) -> str | None:
    """Return the docstring of an algorithm's function or method with the parameters `taken`."""
    declared = ALGORITHMS[name]
    if not declared.run.__doc__:  # python -OO removes docstrings
        return None
    own = _sections(inspect.cleandoc(declared.run.__doc__))
    sections = {"": "", "Parameters": "", "Returns": "", "Raises": "", **own}
    entries = re.split(r"\n(?=\S)", sections["Parameters"])
    reading = [p for p in taken if p in READING]
    named = ", ".join(f"`{p}`" for p in reading)
    values = ", and its values are weights" if "weight" in taken else ""
    explained = {
        p: text.format(reading=named, values=values, default=taken[p].default)
        for p, text in SHARED.items()
        if p in taken
    }
    explained |= {re.split(", | : ", entry)[0]: entry for entry in entries}
    if reading:
        together = ", ".join(p for p in reading if p not in explained)
        explained["source"] = f"{together}\n{FRAME}"
    sections["Parameters"] = "\n".join(explained[p] for p in taken if p in explained)
    sections["Returns"] = sections["Returns"] or _returned(declared)
    sections["Returns"] += LAZY + (STEPS if "trace" in taken else "")
    sections["Raises"] += _errors(declared, sections["Raises"]) + (RAISES if reading else "")
    return _joined(sections)


def method_docstring(name: str, text: str | None) -> str | None:
    """Return the docstring of a method of a graph or a frame, made from that of a function.

    The parameter `edges` is removed. The examples are replaced by a reference to the function.
    """
    if not text:
        return None
    sections = _sections(inspect.cleandoc(text))
    sections[""] += f"\n\nSee :func:`dask_graphflow.{name}` for an example."
    sections.pop("Examples", None)
    entries = re.split(r"\n(?=\S)", sections.get("Parameters", ""))
    sections["Parameters"] = "\n".join(e for e in entries if not e.startswith("edges : "))
    return _joined(sections)


def _returned(declared: Algorithm) -> str:
    """Return the description of a result with one row per edge, or one per vertex and known columns."""
    if declared.rows == "edges":
        return EDGES
    assert isinstance(declared.columns, Mapping), f"{declared.name} says what it returns"
    columns = {"vertex": "id", **declared.columns}
    *others, last = (
        f"``{column}`` ({'the dtype of the ids' if dtype == 'id' else dtype})"
        for column, dtype in columns.items()
    )
    text = f"One row per vertex, sorted by vertex, with the columns {', '.join(others)} and {last}."
    return "dask.dataframe.DataFrame\n" + textwrap.indent(textwrap.fill(text, 100), "    ")


def _errors(declared: Algorithm, own: str) -> str:
    """Return the descriptions of the errors that follow from the declaration of an algorithm."""
    checks = {name: option.check for name, option in declared.options.items()}
    raised = {
        "ConvergenceError": "fail_on_nonconvergence" in checks,
        "UnknownVertexError": any(check.names_vertices for check in checks.values()),
        "WeightError": declared.weights != "ignored" and declared.rows != "edges",
    }
    return "".join(
        f"\n{error}\n    {text}\n    Raised when the result is computed."
        for error, text in ERRORS.items()
        if raised[error] and error not in own
    )


def _sections(docstring: str) -> dict[str, str]:
    """Return the sections of a docstring by title. The text before the first title has the key ""."""
    parts = re.split(r"^(\w+)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], (part.strip() for part in parts[::2]), strict=True))


def _joined(sections: Mapping[str, str]) -> str:
    """Return the docstring that has these sections. Empty sections are left out."""
    titled = [f"{t}\n{'-' * len(t)}\n{text.strip()}" for t, text in sections.items() if t and text]
    return "\n\n".join([sections[""], *titled])
