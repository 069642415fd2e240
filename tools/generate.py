"""Write the public functions and methods of all algorithms from their declarations.

Run it as ``python3 dev.py generate`` after you change the signature or the summary of an algorithm. With
``--check`` it only says which files are out of date.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pkgutil
import sys
import textwrap
import typing
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / "dask_graphflow"
if "dask_graphflow" not in sys.modules:
    # Import the algorithms without the rest of the package, whose generated files may be out of date.
    sys.modules["dask_graphflow"] = ModuleType("dask_graphflow")
    sys.modules["dask_graphflow"].__path__ = [str(PACKAGE)]

from dask_graphflow import algorithms  # noqa: E402
from dask_graphflow.algorithms.algorithm import ALGORITHMS, Algorithm  # noqa: E402

HAND_WRITTEN = ("connected_components",)  # only the method of a graph is generated
WIDTH = 100
ONE, BOTH = "dd.DataFrame", "tuple[dd.DataFrame, dd.DataFrame]"
OVERLOADS = [
    ("Literal[False]", "False", ONE),
    ("Literal[True]", None, BOTH),
    ("bool", "False", "Any"),
]
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
    """The parts from which the functions and methods of an algorithm are made."""

    def __init__(self, declared: Algorithm) -> None:
        self.declared, self.name = declared, declared.name
        self.module = declared.run.__module__.rpartition(".")[2]
        summary = (inspect.getdoc(declared.run) or "").partition("\n")[0]
        self.docstring = f'    """{summary}"""'
        own = list(inspect.signature(declared.run).parameters.values())[1:]
        self.own = [
            Param(p.name, type_name(declared.options[p.name].type), code(p.default)) for p in own
        ]
        if declared.supersteps:
            self.own += [Param("trace", "bool", "False"), Param("progress", "Listener", "False")]
        self.positional = [p.name for p in own if p.kind is not p.KEYWORD_ONLY]

    def reading(self, *, required: bool) -> list[Param]:
        """Return the parameters that say how to read a frame. They are not allowed with a graph."""
        end = ("ColumnNames", None) if required else ("ColumnNames | None", "None")
        weight = Param("weight", "Hashable | None", "None")
        if required and self.declared.weights == "required":
            weight = Param("weight", "Hashable")
        read = [
            Param("source", *end),
            Param("target", *end),
            weight,
            Param("directed", "bool", str(self.declared.directed)),
            Param("multi", "str", code("keep")),
            Param("vertices", "Any", "None"),
            Param("dropna", "bool", "False"),
        ]
        unweighted = ("weight", "multi") if self.declared.weights == "ignored" else ()
        return [p for p in read if p.name not in unweighted]

    def of_frame(self, *, required: bool) -> list[Param]:
        """Return all parameters after a frame."""
        read = self.reading(required=required)
        needed = [p for p in self.own if p.default is None]
        return [*read[:2], *needed, *read[2:], *(p for p in self.own if p not in needed)]

    def defined(self, taken: Sequence[Param | str], *body: str, typed: bool = True) -> str:
        """Return a function or method, preceded by its overloads if it has `trace` and is `typed`."""
        traced, lines = Param("trace", "bool", "False"), []
        for kind, default, result in OVERLOADS if typed and traced in taken else []:
            variant = [Param("trace", kind, default) if p == traced else p for p in taken]
            lines += ["@overload", packed(f"def {self.name}(", variant, f") -> {result}: ...")]
        result = "Any" if traced in taken else ONE
        lines += [packed(f"def {self.name}(", taken, f") -> {result}:"), self.docstring]
        return "\n".join([*lines, *(textwrap.indent(part, " " * 4) for part in body)])

    def as_function(self) -> str:
        """Return the function of a frame or a graph."""
        read = [f"{p.name}={p.name}" for p in self.reading(required=False)]
        own = [p.name if p.name in self.positional else f"{p.name}={p.name}" for p in self.own]
        return self.defined(
            ["edges: Any", "*", *self.of_frame(required=False)],
            packed("graph = as_graph(", [self.name, "edges", *read], ")"),
            packed(f"return graph.{self.name}(", own, ")"),
        )

    def as_method(self) -> str:
        """Return the method of a graph."""
        options = [p for p in self.own if p.name not in self.positional]
        taken = ["self", *(p for p in self.own if p not in options)]
        own = [f"{p.name}={p.name}" for p in self.own]
        body = packed("return ask(", ["self._shards", f"{self.module}.{self.name}", *own], ")")
        method = self.defined([*taken, *(["*", *options] if options else [])], body)
        return textwrap.indent(method, " " * 4)

    def as_accessor(self) -> str:
        """Return the method of a frame's accessor."""
        taken = self.of_frame(required=True)
        passed = ["self._frame", *(f"{p.name}={p.name}" for p in taken)]
        body = packed(f"return functions.{self.name}(", passed, ")")
        return textwrap.indent(self.defined(["self", "*", *taken], body, typed=False), " " * 4)


def type_name(kind: Any) -> str:
    """Return a type as source code."""
    if {Any} & {kind, *typing.get_args(kind)}:
        return "Any"
    if isinstance(kind, type):
        return kind.__name__
    return str(kind).replace("collections.abc.", "")


def code(value: object) -> str | None:
    """Return a default as source code."""
    if value is inspect.Parameter.empty:
        return None
    return json.dumps(value) if isinstance(value, str) else repr(value)


def packed(head: str, items: Sequence[object], tail: str) -> str:
    """Return a head, items and a tail on as few lines as possible, without line breaks inside items."""
    whole = [f"{item}".replace(" ", "\xa0") for item in items]
    text = head.replace(" ", "\xa0") + ", ".join(whole) + tail.replace(" ", "\xa0")
    lines = textwrap.wrap(
        text, WIDTH, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\xa0", " ")


def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    for module in pkgutil.iter_modules(algorithms.__path__):
        importlib.import_module(f"{algorithms.__name__}.{module.name}")
    faces = [Face(declared) for _, declared in sorted(ALGORITHMS.items())]
    public = [face for face in faces if face.name not in HAND_WRITTEN]
    names = "".join(f'    "{face.name}",\n' for face in public)
    modules = "".join(f"    {name},\n" for name in sorted({face.module for face in faces}))
    typing = "from typing import Any, Literal, overload\n\nimport dask.dataframe as dd\n\n"
    methods_class = 'class {name}:\n    """The algorithms as methods."""\n\n'
    functions = [
        HEADER.format(what="functions of a frame or a graph"),
        f"from collections.abc import Hashable, Sequence\n{typing}",
        "from .calls import as_graph\nfrom .docstrings import document\n",
        f"from .inputs import ColumnNames, Listener\n\n__all__ = [\n{names}]\n\n# fmt: off\n\n\n",
        "\n\n\n".join(face.as_function() for face in public),
        "\n\n\ndocument(globals())\n",
    ]
    methods = [
        HEADER.format(what="methods of a graph"),
        f"from collections.abc import Sequence\n{typing}",
        f"from dask_graphflow.algorithms import (\n{modules})\n",
        "from dask_graphflow.algorithms.algorithm import ask\n",
        "from dask_graphflow.runtime.shards import Shards\n\n",
        "from .docstrings import document\nfrom .inputs import Listener\n\n",
        '__all__ = ["GraphMethods"]\n\n# fmt: off\n\n\n',
        methods_class.format(name="GraphMethods") + "    _shards: Shards\n\n",
        "\n\n".join(face.as_method() for face in faces),
        "\n\n\ndocument(vars(GraphMethods))\n",
    ]
    accessor = [
        HEADER.format(what="methods of a frame's accessor"),
        "from collections.abc import Hashable, Sequence\nfrom typing import Any\n\n",
        "import dask.dataframe as dd\n\nfrom . import functions\n",
        "from .docstrings import document\nfrom .inputs import ColumnNames, Listener\n\n",
        '__all__ = ["FrameMethods"]\n\n# fmt: off\n\n\n',
        methods_class.format(name="FrameMethods") + "    _frame: Any\n\n",
        "\n\n".join(face.as_accessor() for face in public),
        "\n\n\ndocument(vars(FrameMethods))\n",
    ]
    made = {"functions": functions, "graph_methods": methods, "frame_methods": accessor}
    return {PACKAGE / "api" / f"{name}.py": "".join(text) for name, text in made.items()}


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
