"""Docstrings of the algorithms' functions and methods.

Each one consists of the docstring of its algorithm, of what several algorithms share, and of what follows
from the declaration of the algorithm. Its own docstring takes precedence over both.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dask_graphflow.declarations.algorithm import Algorithm
from dask_graphflow.declarations.documentation import Documentation, Entry
from dask_graphflow.declarations.option import Option
from dask_graphflow.declarations.previous import Previous
from dask_graphflow.showing.arguments import READING

EDGES = """\
The edge list, one row per edge, in any form that :class:`~dask_graphflow.Graph` describes. A symmetric
matrix is read as undirected{values}. Or a :class:`~dask_graphflow.Graph`, without the options
{reading}."""
SHARED = {
    "edges": ("DataFrame, sparse matrix, array, list of pairs, NetworkX graph or Graph", EDGES),
    "columns": (
        "column name, or list of column names, optional",
        """\
Further columns of the edges that the result has too, such as times, amounts or ids of payments. Each row of
the edges then has a row of its own.""",
    ),
    "trace": ("bool", "Also return a frame with one row per superstep. False by default."),
    "progress": (
        "bool or callable",
        """\
Report each superstep when it ends, in a progress bar or to a function. False by default. The notes of
:class:`~dask_graphflow.Graph` describe both.""",
    ),
    "previous": (
        "DataFrame, optional",
        """\
The result of the same call on the graph from which :meth:`~dask_graphflow.Graph.update` made this one, in
memory, lazy, or read from Parquet. It is brought up to date, which takes less time than a new computation
if few edges changed. It never changes the result.""",
    ),
    "max_iter": ("int", "Maximum number of iterations; {default} by default."),
    "precision": (
        '{{"float64", "float32"}}',
        """\
Precision of the scores that are read along the edges. With "float32" an iteration reads less
memory, and scores are accurate to about 6 digits. "{default}" by default.""",
    ),
    "fail_on_nonconvergence": (
        "bool",
        """\
If `max_iter` iterations do not reach `tol`: True, the default, raises an error; False returns the
result so far.""",
    ),
    "k": (
        "int, optional",
        """\
Number of randomly sampled vertices from which paths start; the scores are then estimates, scaled to all
vertices. By default all vertices, which is exact, and takes time in proportion to V times E.""",
    ),
    "seed": (
        "int",
        "Chooses the sample; 0 by default. It depends only on the seed and on the order of the ids.",
    ),
}
FRAME = "How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`."
TUPLES = """
If ids have several columns, write each id as a tuple; a single tuple with one part per column is one
id."""
ROW_PER_EDGE = """\
dask.dataframe.DataFrame
    One row per edge, sorted by source, target and weight, with the columns ``source`` and ``target``
    (the dtype of the ids) and, if edges have weights, ``weight``. In an undirected graph, an edge has
    one row, and its source is the end with the smaller id."""
LAZY = """
    The result is lazy, and bit-identical for every partitioning and number of threads. The index restarts
    at 0 in each partition."""
FURTHER = {
    "all": """

    With `columns`, each row of the edges has a row of its own, with its ends and its weight, also if the
    graph merged parallel edges. If directions are ignored, its source can be either end. The rows of
    parallel edges are sorted by weight, if the result has weights, then in the order of the edges.
""",
    "lightest": """

    With `columns`, an edge of the forest is the row of the edges with the smallest weight, and the first
    one if several weigh the same. It has its own ends, so its source can be either end.
""",
}
KEPT = "\nA :class:`~dask_graphflow.Graph` has to keep them: ``Graph(edges, columns=[...])``."
STEPS = """
dask.dataframe.DataFrame
    Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`."""
ERRORS = {
    "ConvergenceError": "`max_iter` iterations did not reach `tol`.",
    "UnknownVertexError": "An id in an option is not in the graph: no edge starts or ends there.",
    "UsageError": "`previous` is not the result of this call on the version before the last update.",
    "WeightError": "A weight is negative, infinite, NaN, or far too large or small.",
}
LATER = "when the result is computed"
WHEN = {"UsageError": f"at the call if it is in memory, and otherwise {LATER}"}
RAISES = """
NullVertexError
    An id is null, and `dropna` is False. Raised when the result is computed.
OptionError, UnknownColumnError, VertexTypeError, EdgeListError
    An argument is invalid; raised at the call."""


def function_documentation(declared: Algorithm, taken: Sequence[Option]) -> Documentation:
    """Return the documentation of an algorithm's function or method with the options `taken`."""
    own = declared.documentation
    if not own.description:  # python -OO removes docstrings
        return own
    names = [option.name for option in taken]
    reading = [name for name in names if name in READING]
    values = ", and its values are weights" if "weight" in names else ""
    shown = {"reading": ", ".join(f"`{name}`" for name in reading), "values": values}
    entries = {}
    for option in taken:
        if option.name in own.parameters:
            entry = own.parameters[option.name]
            several = option.kind == "ids" and option.required
            entries[option.name] = entry._replace(note=TUPLES if several else "")
        elif option.name in SHARED:
            kind, text = (
                one.format(default=option.default, **shown) for one in SHARED[option.name]
            )
            note = KEPT if option.name == "columns" else ""
            entries[option.name] = Entry((option.name,), kind, text, note)
        elif option.name == "source":
            together = tuple(p for p in reading if p not in own.parameters)
            entries["source"] = Entry(together, "", "", FRAME)
    sections = dict(own.sections)
    sections["Returns"] = sections["Returns"] or _describe_result(declared)
    sections["Returns"] += FURTHER.get(declared.parallel or "", "")
    sections["Returns"] += LAZY + (STEPS if "trace" in names else "")
    sections["Raises"] += _errors(declared, sections["Raises"]) + (RAISES if reading else "")
    return Documentation(own.description, entries, sections)


def method_documentation(name: str, of_function: Documentation) -> Documentation:
    """Return the documentation of a method of a graph or a frame, made from that of a function.

    The parameter `edges` is removed. The examples are replaced by a reference to the function.
    """
    if not of_function.description:
        return of_function
    return replace(
        of_function,
        description=f"{of_function.description}\n\nSee :func:`dask_graphflow.{name}` for an example.",
        parameters={p: one for p, one in of_function.parameters.items() if p != "edges"},
        sections={t: text for t, text in of_function.sections.items() if t != "Examples"},
    )


def _describe_result(declared: Algorithm) -> str:
    """Return the description of a result with one row per edge, or one per vertex and known columns."""
    result = declared.result
    if result.rows == "edges":
        return ROW_PER_EDGE
    assert isinstance(result.columns, Mapping), f"{declared.name} says what it returns"
    columns = {"vertex": "id", **result.columns}
    *others, last = (
        f"``{column}`` ({'the dtype of the ids' if dtype == 'id' else dtype})"
        for column, dtype in columns.items()
    )
    text = f"One row per vertex, sorted by vertex, with the columns {', '.join(others)} and {last}."
    return "dask.dataframe.DataFrame\n" + textwrap.indent(textwrap.fill(text, 100), "    ")


def _errors(declared: Algorithm, own: str) -> str:
    """Return the descriptions of the errors that follow from the declaration of an algorithm."""
    options = declared.options
    raised = {
        "ConvergenceError": "fail_on_nonconvergence" in options,
        "UnknownVertexError": any(option.check.names_vertices for option in options.values()),
        "UsageError": isinstance(declared.previous, Previous),
        "WeightError": declared.weights != "ignored" and declared.result.rows != "edges",
    }
    return "".join(
        f"\n{error}\n    {text}\n    Raised {WHEN.get(error, LATER)}."
        for error, text in ERRORS.items()
        if raised[error] and error not in own
    )
