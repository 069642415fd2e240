"""Write the public functions and methods of all algorithms from their declarations.

Run it as ``python3 dev.py generate`` after you change the signature or the docstring of an algorithm. With
``--check`` it only says which files are out of date.
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
if "dask_graphflow" not in sys.modules:
    # Import the algorithms without the rest of the package, whose generated files may be out of date.
    sys.modules["dask_graphflow"] = ModuleType("dask_graphflow")
    sys.modules["dask_graphflow"].__path__ = [str(PACKAGE)]

from dask_graphflow import algorithms  # noqa: E402
from dask_graphflow.algorithms.algorithm import ALGORITHMS, Algorithm  # noqa: E402

HAND_WRITTEN = ("connected_components",)  # only the method of a graph is generated
WIDTH = 96
ONE, BOTH = "dd.DataFrame", "tuple[dd.DataFrame, dd.DataFrame]"

# Parameters that the algorithms share, with those in the docstring of Graph. An algorithm's docstring can
# explain one of them in other words.
COMMON = {
    "edges": """\
edges : dask.dataframe.DataFrame, pandas.DataFrame, cudf.DataFrame or Graph
    The edge list, one row per edge. Or a :class:`~dask_graphflow.Graph`, without {names}.""",
    "frame": """\
{names}
    How the edges of a frame become a graph; see :class:`~dask_graphflow.Graph`.""",
    "trace": """\
trace : bool
    Also return a frame with one row per superstep. False by default.""",
    "progress": """\
progress : bool or callable
    Report each superstep when it ends, in a progress bar or to a function. False by default. The notes of
    :class:`~dask_graphflow.Graph` describe both.""",
}
LAZY = (
    "The result is lazy, and bit-identical for every partitioning and number of threads. The index "
    "restarts at 0 in each partition."
)
STEPS = """\
dask.dataframe.DataFrame
    Only with `trace`: one row per superstep; see :class:`~dask_graphflow.Graph`."""
RAISES = """\
NullVertexError
    An id is null, and `dropna` is False. Raised when the result is computed.
OptionError, UnknownColumnError, VertexTypeError, EdgeListError
    An argument is invalid; raised at the call."""
HEADER = '''\
"""The algorithms as {what}.

``python3 dev.py generate`` wrote this file from the declarations in ``dask_graphflow/algorithms``. Change
them, and run it again.
"""

from __future__ import annotations

'''


class Param(NamedTuple):
    """A parameter of a signature; `default` is source code, or None if the parameter is required."""

    name: str
    type: str
    default: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


class Face:
    """What the functions and methods of an algorithm are made of."""

    def __init__(self, declared: Algorithm) -> None:
        self.declared, self.name = declared, declared.name
        self.function = f"{declared.run.__module__.rpartition('.')[2]}.{self.name}"
        self.sections = sections_of(inspect.getdoc(declared.run) or "")
        self.summary, *self.about = self.sections[""].split("\n\n")
        self.explained = COMMON | explained(self.sections.get("Parameters", ""))
        own = list(inspect.signature(declared.run).parameters.values())[1:]
        self.own = [Param(p.name, declared.checks[p.name].annotation, code(p.default)) for p in own]
        self.positional = [p.name for p in own if p.kind is not p.KEYWORD_ONLY]
        shown = [Param("trace", "bool", "False"), Param("progress", "Listener", "False")]
        self.shown = shown if declared.supersteps else []

    def of_frame(self, *, typed: bool) -> tuple[list[Param], list[str]]:
        """Return the parameters after a frame, and the names of those that say how it is read."""
        one = ("ColumnNames", None) if typed else ("ColumnNames | None", "None")
        weight = Param("weight", "Hashable | None", "None")
        if typed and self.declared.weights == "required":
            weight = Param("weight", "Hashable")
        read = [
            Param("source", *one),
            Param("target", *one),
            weight,
            Param("directed", "bool", str(self.declared.directed)),
            Param("multi", "str", code("keep")),
            Param("vertices", "Any", "None"),
            Param("dropna", "bool", "False"),
        ]
        if self.declared.weights == "ignored":
            read = [p for p in read if p.name not in ("weight", "multi")]
        needed = [p for p in self.own if p.default is None]
        others = [p for p in self.own if p.default is not None]
        found = [*read[:2], *needed, *read[2:], *others, *self.shown]
        return found, [p.name for p in read]

    def docstring(self, width: int, about: list[str], **sections: str) -> str:
        """Return a docstring whose paragraphs and entries are wrapped at a width."""
        texts = [self.summary, *(wrapped(paragraph, width) for paragraph in about)]
        for name in ("Parameters", "Returns", "Raises"):
            entries = re.split(r"\n(?=\S)", sections.get(name, ""))
            sections[name] = "\n".join(reflowed(entry, width) for entry in entries)
        if re.search(r"\[\d+\]_", sections["Parameters"]):
            sections["References"] = self.sections["References"]
        order = ("Parameters", "Returns", "Raises", "References", "Examples")
        titled = [(f"{name}\n{'-' * len(name)}", sections.get(name)) for name in order]
        texts += [f"{title}\n{text}" for title, text in titled if text]
        return '"""' + "\n\n".join(texts) + '\n"""'

    def entries(self, parameters: list[Param]) -> str:
        """Return the entries of a docstring that explain some parameters."""
        return "\n".join(self.explained[p.name] for p in parameters if p.name in self.explained)

    def returned(self, *, full: bool) -> str:
        """Return the entries of a docstring on what is returned."""
        first = f"{self.sections['Returns']} {LAZY if full else 'The result is lazy.'}"
        return "\n".join([first, *([STEPS] if self.shown else [])])

    def overloads(self, *heads: list[str]) -> list[str]:
        """Return typed variants of a function: one per head, or with `trace` three per head."""
        kinds = [
            ("Literal[False]", "False", ONE),
            ("Literal[True]", None, BOTH),
            ("bool", "False", "Any"),
        ]
        found = []
        for head in heads:
            if not self.shown:
                found += filled(self.name, head, ONE)
            for kind, default, result in kinds if self.shown else []:
                shown = [str(Param("trace", kind, default)), str(self.shown[1])]
                found += filled(self.name, [*head[: -len(shown)], *shown], result)
        return found

    def as_function(self) -> str:
        """Return the function of a frame or a graph."""
        typed, names = self.of_frame(typed=True)
        taken, _ = self.of_frame(typed=False)
        own = [*self.own, *self.shown]
        of_graph = ["edges: Graph", *(["*"] if own else []), *map(str, own)]
        edges = COMMON["edges"].format(names=listed([f"`{name}`" for name in names]))
        read = ", ".join(name for name in names if name not in self.explained)
        frame = COMMON["frame"].format(names=read)
        sections = {
            name: text for name, text in self.sections.items() if name in ("References", "Examples")
        }
        sections |= {
            "Parameters": f"{edges}\n{frame}\n{self.entries(taken)}",
            "Returns": self.returned(full=True),
        }
        sections["Raises"] = "\n".join(filter(None, [self.sections.get("Raises"), RAISES]))
        passed = [p.name if p.name in self.positional else f"{p.name}={p.name}" for p in own]
        body = [
            self.docstring(104, self.about, **sections),
            f"graph = {call('as_graph', [self.name, 'edges', *(f'{n}={n}' for n in names)])}",
            f"return {call(f'graph.{self.name}', passed)}",
        ]
        typed_heads = self.overloads(["edges: Any", "*", *map(str, typed)], of_graph)
        return "\n".join(
            [*typed_heads, *defined(self.name, ["edges: Any", "*", *taken], "Any", body)]
        )

    def as_method(self) -> str:
        """Return the method of a graph."""
        own = [*self.own, *self.shown]
        options = [str(p) for p in own if p.name not in self.positional]
        taken = ["self", *(str(p) for p in own if p.name in self.positional)]
        taken += ["*", *options] if options else []
        see = f"See :func:`dask_graphflow.{self.name}`, which can be called on a frame, too."
        sections = {"Parameters": self.entries(own), "Returns": self.returned(full=False)}
        body = [
            self.docstring(100, [*self.about, see], **sections),
            f"return {call('ask', ['self', self.function, *(f'{p.name}={p.name}' for p in own)])}",
        ]
        heads = self.overloads(taken) if self.shown else []
        lines = [*heads, *defined(self.name, taken, "Any" if heads else ONE, body)]
        return textwrap.indent("\n".join(lines), " " * 4)

    def as_accessor(self) -> str:
        """Return the method of a frame's accessor."""
        taken, names = self.of_frame(typed=True)
        options = ", ".join(p.name for p in taken if p.name not in names)
        explained = (
            f"{', '.join(names)}\n    How the frame is read; see :class:`~dask_graphflow.Graph`."
        )
        if options:
            explained += f"\n{options}\n    The options of the algorithm."
        see = f"See :func:`dask_graphflow.{self.name}`."
        passed = ["self._frame", *(f"{p.name}={p.name}" for p in taken)]
        body = [
            self.docstring(100, [see], Parameters=explained, Returns=self.returned(full=False)),
            f"return {call(f'functions.{self.name}', passed)}",
        ]
        return textwrap.indent(
            "\n".join(defined(self.name, ["self", "*", *taken], "Any", body)), " " * 4
        )


def sections_of(docstring: str) -> dict[str, str]:
    """Return the sections of a docstring by their titles; the text before them has none."""
    parts = re.split(r"^(\w+)\n-{3,}\n", docstring, flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], (part.strip() for part in parts[::2]), strict=True))


def explained(section: str) -> dict[str, str]:
    """Return the entries of a section by their first names."""
    entries = re.split(r"\n(?=\S)", section)
    return {re.split(", | : ", entry)[0]: entry for entry in entries}


def code(value: object) -> str | None:
    """Return a default as source code."""
    if value is inspect.Parameter.empty:
        return None
    return json.dumps(value) if isinstance(value, str) else repr(value)


def listed(words: list[str]) -> str:
    """Return words as in a sentence."""
    return f"{', '.join(words[:-1])} and {words[-1]}"


def wrapped(text: str, width: int, margin: str = "") -> str:
    """Return a paragraph, wrapped at a width."""
    words = " ".join(text.split())
    return textwrap.fill(
        words, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
    )


def reflowed(entry: str, width: int) -> str:
    """Return an entry of a docstring with its text wrapped."""
    head, _, text = entry.partition("\n    ")
    return f"{head}\n{wrapped(text, width, ' ' * 4)}" if text else head


def call(function: str, arguments: list[str]) -> str:
    """Return a call on as few lines as possible."""
    return "\n".join(
        packed(f"{function}(", [*(f"{a}," for a in arguments[:-1]), *arguments[-1:]], ")")
    )


def filled(name: str, parameters: list[str], result: str) -> list[str]:
    """Return an overload on as few lines as possible."""
    items = [*(f"{p}," for p in parameters[:-1]), parameters[-1]]
    return ["@overload", *packed(f"def {name}(", items, f") -> {result}: ...")]


def packed(head: str, items: list[str], tail: str) -> list[str]:
    """Return words between a head and a tail, as many on a line as fit."""
    lines = [head + items[0]] if items else [head]
    for item in [*items[1:-1], *[i + tail for i in items[-1:] if len(items) > 1]]:
        if len(lines[-1]) + len(item) > WIDTH - 5:
            lines.append("   ")
        lines[-1] += f" {item}"
    if len(items) < 2:
        lines[-1] += tail
    return lines


def defined(name: str, parameters: list[object], result: str, body: list[str]) -> list[str]:
    """Return a function."""
    items = [*(f"{p}," for p in parameters[:-1]), str(parameters[-1])]
    head = packed(f"def {name}(", items, f") -> {result}:")
    return [*head, *(textwrap.indent(part, " " * 4) for part in body)]


def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    for module in pkgutil.iter_modules(algorithms.__path__):
        importlib.import_module(f"{algorithms.__name__}.{module.name}")
    faces = [Face(declared) for _, declared in sorted(ALGORITHMS.items())]
    public = [face for face in faces if face.name not in HAND_WRITTEN]
    typing = "from typing import Any, Literal, overload\n\nimport dask.dataframe as dd\n\n"
    names = "".join(f'    "{face.name}",\n' for face in public)
    modules = "".join(
        f"    {name},\n" for name in sorted({f.function.partition(".")[0] for f in faces})
    )
    functions = [
        HEADER.format(what="functions of a frame or a graph"),
        f"from collections.abc import Hashable\n{typing}",
        "from .calls import as_graph\nfrom .graph import Graph\n",
        f"from .inputs import ColumnNames, Listener\n\n__all__ = [\n{names}]\n\n# fmt: off\n\n\n",
        "\n\n\n".join(face.as_function() for face in public),
    ]
    methods = [
        HEADER.format(what="methods of a graph") + typing,
        f"from dask_graphflow.algorithms import (\n{modules})\n",
        "from dask_graphflow.algorithms.algorithm import ask\n\nfrom .inputs import Listener\n\n",
        '__all__ = ["GraphMethods"]\n\n# fmt: off\n\n\n',
        'class GraphMethods:\n    """The algorithms as methods."""\n\n',
        "\n\n".join(face.as_method() for face in faces),
    ]
    accessor = [
        HEADER.format(what="methods of a frame's accessor"),
        "from collections.abc import Hashable\nfrom typing import Any\n\n",
        "from . import functions\nfrom .inputs import ColumnNames, Listener\n\n",
        '__all__ = ["FrameMethods"]\n\n# fmt: off\n\n\n',
        'class FrameMethods:\n    """The algorithms as methods."""\n\n',
        "    _frame: Any\n\n" + "\n\n".join(face.as_accessor() for face in public),
    ]
    made = {"functions": functions, "graph_methods": methods, "frame_methods": accessor}
    return {PACKAGE / "api" / f"{name}.py": "".join(text) + "\n" for name, text in made.items()}


def main() -> int:
    """Write the files, or with --check say which ones are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say which files are out of date")
    check = parser.parse_args().check
    old = {p: text for p, text in files().items() if not p.exists() or p.read_text() != text}
    for path, text in old.items():
        print(f"{path} is out of date; run: python3 dev.py generate" if check else f"Wrote {path}")
        if not check:
            path.write_text(text)
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
