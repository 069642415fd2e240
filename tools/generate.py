"""Write the public functions and methods of all algorithms from their declarations.

Run it as ``python3 dev.py generate`` after you change the signature or the docstring of an algorithm;
``--check`` only says whether the written files are up to date.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / "dask_graphflow"
API = PACKAGE / "api"
if "dask_graphflow" not in sys.modules:
    # Import the algorithms without the rest of the package, whose generated files may be out of date.
    sys.modules["dask_graphflow"] = ModuleType("dask_graphflow")
    sys.modules["dask_graphflow"].__path__ = [str(PACKAGE)]

from dask_graphflow import algorithms  # noqa: E402
from dask_graphflow.algorithms.algorithm import ALGORITHMS, Algorithm  # noqa: E402

HAND_WRITTEN = ("connected_components",)  # its function and accessor method are not generated
WIDTH = 100

TRACE = "trace : bool\n    Also return a frame with one row per superstep. False by default."
PROGRESS = """\
progress : bool or callable
    Report each superstep when it ends. True shows a progress bar in a terminal. A function is called
    with a dict that has the keys ``superstep``, ``direction``, ``frontier``, ``edges``, ``bytes`` and
    ``seconds``. The last two are the bytes that the first shard sent, and its time. On a cluster the
    function runs in the event-loop thread of the client, at most ten times per second, and always for
    the last superstep."""
COMMON = {
    "edges": """\
edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
    The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`; the other parameters down to
    `dropna` are then left out.""",
    "source": """\
source, target : column name, or list of column names
    Columns with the ids at the two ends of each edge. Several columns form one id. Ids can be integers,
    strings, categoricals or dates: anything that can be hashed and sorted. Both ends must have the
    same type.""",
    "weight": """\
weight : column name, optional
    Numeric column with the weights of the edges. By default the edges have no weights.""",
    "directed": """\
directed : bool
    Whether an edge leads only from its source to its target. True by default; False makes every edge
    count in both directions.""",
    "multi": """\
multi : {"keep", "sum", "min", "first"}
    What to do with parallel edges. "keep", the default, keeps all of them. The others merge them into
    one edge, which has the sum of the weights, the smallest weight, or the weight of the first edge.""",
    "vertices": """\
vertices : Series, DataFrame or Index, optional
    Vertex ids to add to those of the edges, for vertices without an edge. In a frame, the first
    columns are the id, as many as `source` has.""",
    "dropna": """\
dropna : bool
    Whether to skip edges with a null id. False by default, which raises an error.""",
    "trace": TRACE,
    "progress": PROGRESS,
}
LAZY = (
    "The result is lazy, and bit-identical for every partitioning and number of threads. The index restarts \
at 0 in each partition."
)
STEPS = """\
dask.dataframe.DataFrame
    Only with `trace`: one row per superstep, with the columns ``superstep``, ``direction``,
    ``frontier`` (number of vertices that the superstep started from), ``edges`` (number of edges that
    leave them) and ``seconds``. If the graph has several shards, there is one row per superstep and
    shard, and one partition per shard. The column ``member`` is the number of the shard. ``compute``,
    ``communicate`` and ``wait`` split its seconds, and ``bytes`` is what it sent. ``linked`` is true
    if its GPU has no room for the edges and reads them from host memory."""
RAISES = """\
NullVertexError
    An id is null, and `dropna` is False. Raised when the result is computed.
OptionError, UnknownColumnError, VertexTypeError, EdgeListError
    An argument is invalid; raised at the call."""
HEADER = '''\
"""{what}

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
those, and run it again.
"""

from __future__ import annotations

'''


class Param(NamedTuple):
    """One parameter of a signature; `default` is source code, None if it is required."""

    name: str
    type: str
    default: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


class Face:
    """The parts of an algorithm's declaration and docstring that signatures are made of."""

    def __init__(self, declared: Algorithm) -> None:
        self.declared, self.name = declared, declared.name
        self.module = declared.run.__module__.rpartition(".")[2]
        parts = re.split(
            r"^(\w+)\n-{3,}$\n", inspect.getdoc(declared.run) or "", flags=re.MULTILINE
        )
        self.sections = {k: v.strip("\n") for k, v in zip(parts[1::2], parts[2::2], strict=True)}
        self.summary, _, self.more = parts[0].strip().partition("\n\n")
        entries = re.split(r"\n(?=\S)", self.sections.get("Parameters", ""))
        self.explained = {entry.partition(" : ")[0]: entry for entry in entries if entry}
        own = list(inspect.signature(declared.run).parameters.values())[1:]
        self.own = [Param(p.name, declared.checks[p.name].annotation, code(p.default)) for p in own]
        self.first = [p.name for p in own if p.kind is not p.KEYWORD_ONLY]
        self.shown = [Param("trace", "bool", "False"), Param("progress", "Listener", "False")]
        self.shown = self.shown if declared.supersteps else []

    def frame_options(self, required: bool) -> list[Param]:
        """Return the parameters that say how to read a frame."""
        either = "ColumnNames", None if required else "None"
        weight = Param("weight", "Hashable | None", "None")
        if required and self.declared.weights == "required":
            weight = Param("weight", "Hashable")
        weights = self.declared.weights != "ignored"
        return [
            *(Param(side, either[0] + ("" if required else " | None"), either[1]) for side in ENDS),
            *([weight] if weights else []),
            Param("directed", "bool", str(self.declared.directed)),
            *([Param("multi", "str", code("keep"))] if weights else []),
            Param("vertices", "Any", "None"),
            Param("dropna", "bool", "False"),
        ]

    def parameters(self, names: list[str]) -> str:
        """Return a docstring's section with some parameters."""
        entries = [self.explained.get(name) or COMMON[name] for name in names if name != "target"]
        return section("Parameters", "\n".join(entries)) if names else ""

    def overloads(self, heads: list[list[str]]) -> list[str]:
        """Return typed variants: one per beginning of a signature and, with `trace`, three of each."""
        kinds = [
            ("Literal[False]", "False", ONE),
            ("Literal[True]", None, BOTH),
            ("bool", "False", "Any"),
        ]
        found = ["# fmt: off"]
        for head in heads:
            for kind, default, result in kinds if self.shown else [("", "", ONE)]:
                shown = (
                    [str(Param("trace", kind, default)), str(self.shown[1])] if self.shown else []
                )
                found += ["@overload", *filled(self.name, [*head, *shown], result)]
        return [*found, "# fmt: on"]

    def function(self) -> str:
        """Return the function for a frame or a graph."""
        read, own = self.frame_options(required=False), [*self.own, *self.shown]
        heads = [
            ["edges: Any", "*", *map(str, [*self.frame_options(required=True), *self.own])],
            ["edges: Graph", *(["*"] if own else []), *map(str, self.own)],
        ]
        taken = ["edges: Any", "*", *map(str, [*read, *own])]
        doc = [f'"""{self.summary}', "", *([self.more, ""] if self.more else [])]
        doc.append(self.parameters(["edges", *(p.name for p in [*read, *own])]))
        doc.append(section("Returns", self.returns(full=True)))
        doc.append(
            section("Raises", "\n".join(filter(None, [self.sections.get("Raises"), RAISES])))
        )
        doc += [
            section(n, self.sections[n]) for n in ("References", "Examples") if n in self.sections
        ]
        graph = call("as_graph", [f'"{self.name}"', "edges", *(f"{p.name}={p.name}" for p in read)])
        answer = call(f"graph.{self.name}", [p if p in self.first else f"{p}={p}" for p, *_ in own])
        body = ["\n".join(doc).rstrip() + '\n"""', f"graph = {graph}", f"return {answer}"]
        return "\n".join([*self.overloads(heads), *defined(self.name, taken, "Any", body)])

    def method(self) -> str:
        """Return the method of a graph."""
        own = [*self.own, *self.shown]
        first = [str(p) for p in self.own if p.name in self.first]
        head = ["self", *first, *(["*"] if len(own) > len(first) else [])]
        rest = [str(p) for p in self.own if p.name not in self.first]
        doc = [f'"""{self.summary}', "", f"See :func:`dask_graphflow.{self.name}`.", ""]
        doc.append(self.parameters([p.name for p in own]).replace(PROGRESS, BRIEF_PROGRESS))
        doc.append(section("Returns", self.returns(full=False)))
        answer = call("ask", ["self", f"{self.module}.{self.name}", *(f"{p}={p}" for p, *_ in own)])
        body = ["\n".join(doc).rstrip() + '\n"""', f"return {answer}"]
        typed = self.overloads([[*head, *rest]]) if self.shown else []
        result = "Any" if typed else ONE
        taken = [*head, *rest, *map(str, self.shown)]
        return indented("\n".join([*typed, *defined(self.name, taken, result, body)]))

    def accessor(self) -> str:
        """Return the method of a frame's accessor."""
        read, own = self.frame_options(required=True), [*self.own, *self.shown]
        same = f"{', '.join(p.name for p in [*read, *own])}"
        doc = [f'"""{self.summary}', "", *self.accessor_doc(same, self.returns(full=False))]
        passed = ["self._frame", *(f"{p.name}={p.name}" for p in [*read, *own])]
        body = [
            "\n".join(doc).rstrip() + '\n"""',
            f"return {call(f'functions.{self.name}', passed)}",
        ]
        # What is required comes first, as in the functions; keywords may come in any order.
        return indented(
            "\n".join(defined(self.name, ["self", "*", *map(str, [*read, *own])], "Any", body))
        )

    def accessor_doc(self, names: str, returns: str) -> list[str]:
        """Return the sections of an accessor's docstring."""
        wrapped = "\n".join(textwrap.wrap(names, 96))
        text = f"{wrapped}\n    The same as for :func:`dask_graphflow.{self.name}`."
        return [section("Parameters", text), section("Returns", returns)]

    def returns(self, full: bool) -> str:
        """Return the section on what is returned."""
        found = self.sections["Returns"]
        head, _, text = found.partition("\n")
        words = " ".join(text.split()) + " " + (LAZY if full else "The result is lazy.")
        found = (
            head
            + "\n"
            + textwrap.fill(words, 99, initial_indent=" " * 4, subsequent_indent=" " * 4)
        )
        if self.shown:
            found += "\n" + (STEPS if full else BRIEF_STEPS)
        return found


ENDS = ("source", "target")
ONE, BOTH = "dd.DataFrame", "tuple[dd.DataFrame, dd.DataFrame]"
BRIEF_PROGRESS = "progress : bool or callable\n    Report each superstep when it ends."
BRIEF_STEPS = "dask.dataframe.DataFrame\n    Only with `trace`: one row per superstep."


def code(value: object) -> str | None:
    """Return a default as source code."""
    if value is inspect.Parameter.empty:
        return None
    return json.dumps(value) if isinstance(value, str) else repr(value)


def section(name: str, text: str) -> str:
    """Return a section of a docstring."""
    return f"{name}\n{'-' * len(name)}\n{text}\n"


def indented(text: str) -> str:
    """Return a text four columns further right."""
    return textwrap.indent(text, "    ")


def call(function: str, arguments: list[str]) -> str:
    """Return a call with one argument per line, as ruff leaves it; or on one line if it is short."""
    return (
        f"{function}({', '.join(arguments)})"
        if len(arguments) < 2
        else (f"{function}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")")
    )


def filled(name: str, parameters: list[str], result: str) -> list[str]:
    """Return the header of an overload on as few lines as possible."""
    lines = [f"def {name}("]
    for i, parameter in enumerate(parameters):
        item = parameter + (f") -> {result}: ..." if i == len(parameters) - 1 else ",")
        if len(lines[-1]) + 1 + len(item) > WIDTH - 4:
            lines.append("   ")
        lines[-1] += item if lines[-1].endswith("(") else f" {item}"
    return lines


def defined(name: str, parameters: list[str], result: str, body: list[str]) -> list[str]:
    """Return a function."""
    head = f"def {name}({', '.join(parameters)}) -> {result}:"
    if len(parameters) > 1:
        head = f"def {name}(\n" + "".join(f"    {p},\n" for p in parameters) + f") -> {result}:"
    return [head, *map(indented, body)]


def files() -> dict[Path, str]:
    """Return what the generated files should contain."""
    for module in pkgutil.iter_modules(algorithms.__path__):
        importlib.import_module(f"{algorithms.__name__}.{module.name}")
    faces = [Face(declared) for _, declared in sorted(ALGORITHMS.items())]
    public = [face for face in faces if face.name not in HAND_WRITTEN]
    modules = "".join(f"    {name},\n" for name in sorted({face.module for face in faces}))
    names = "".join(f'    "{face.name}",\n' for face in public)
    typing = "from typing import Any, Literal, overload\n\nimport dask.dataframe as dd\n\n"
    functions = (
        HEADER.format(what="The algorithms as functions of a frame of edges or of a graph.")
        + f"from collections.abc import Hashable\n{typing}from .calls import as_graph\n"
        f"from .graph import Graph\nfrom .inputs import ColumnNames, Listener\n\n__all__ = [\n{names}]\n\n\n"
        + "\n\n\n".join(face.function() for face in public)
    )
    methods = (
        HEADER.format(what="The algorithms as methods of a graph.")
        + f"{typing}from dask_graphflow.algorithms import (\n{modules})\n"
        "from dask_graphflow.algorithms.algorithm import ask\n\nfrom .inputs import Listener\n\n"
        '__all__ = ["GraphMethods"]\n\n\nclass GraphMethods:\n    """The algorithms as methods."""\n\n'
        + "\n\n".join(face.method() for face in faces)
    )
    accessor = (
        HEADER.format(what="The algorithms as methods of a frame's accessor.")
        + "from collections.abc import Hashable\nfrom typing import Any\n\nfrom . import functions\n"
        "from .inputs import ColumnNames, Listener\n\n"
        '__all__ = ["FrameMethods"]\n\n\nclass FrameMethods:\n    """The algorithms as methods."""\n\n'
        "    _frame: Any\n\n" + "\n\n".join(face.accessor() for face in public)
    )
    made = {"functions": functions, "graph_methods": methods, "frame_methods": accessor}
    return {API / f"{name}.py": blank(text) + "\n" for name, text in made.items()}


def blank(text: str) -> str:
    """Return a text without spaces at the ends of lines."""
    return re.sub(r"[ ]+$", "", text, flags=re.MULTILINE).rstrip("\n")


def main() -> int:
    """Write the files, or with --check say which ones are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    check = parser.parse_args().check
    old = [path for path, text in files().items() if not path.exists() or path.read_text() != text]
    for path in old:
        print(f"{path} is out of date; run: python3 dev.py generate" if check else f"Wrote {path}")
        if not check:
            path.write_text(files()[path])
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
