"""Write what is made from the algorithms' declarations: type stubs, and the help of the command line.

Run it as ``python3 dev.py generate`` after you change the signature of an algorithm, or an option of a
command. With ``--check`` it only says which files are out of date.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any

import click
from dask.typing import no_default

import _graphflow_cli
from dask_graphflow import __version__, cli
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.api import functions, graph_methods, signatures

API = Path(functions.__file__).parent
CLI = Path(_graphflow_cli.__file__).parent
WIDTH = 108
TRACE = signatures.parameter(signatures.TRACE)
OVERLOADS = [
    (TRACE.replace(annotation="Literal[False]"), "DataFrame"),
    (TRACE.replace(annotation="Literal[True]", default=Parameter.empty), "Pair"),
    (TRACE, "Any"),
]
HEADER = '''\
"""The algorithms as {what}, written by ``python3 dev.py generate``."""

from collections.abc import Sequence
from typing import Any, Literal, overload

from dask.dataframe import DataFrame

{imports}

# fmt: off

Pair = tuple[DataFrame, DataFrame]
'''
FUNCTIONS = HEADER.format(
    what="functions and as methods of a frame",
    imports="from .graph import Graph\nfrom .signatures import Described\n"
    "from .types import ColumnName, ColumnNames, Edges, Listener",
)
METHODS = HEADER.format(
    what="methods of a graph", imports="from .types import ColumnNames, Listener"
)


def declarations(name: str, function: object, *, overloads: bool = True) -> str:
    """Return the declarations of a function or method: three overloads if it has `trace`."""
    taken = list(inspect.signature(function).parameters.values())
    if TRACE not in taken:
        return declaration(name, taken, "DataFrame")
    if not overloads:
        return declaration(name, taken, "Any")
    return "".join(
        "@overload\n" + declaration(name, [trace if p == TRACE else p for p in taken], result)
        for trace, result in OVERLOADS
    )


def declaration(name: str, taken: Sequence[Parameter], result: str) -> str:
    """Return one declaration. Lines are broken between parameters, and in those too long for a line."""
    shown = []
    for p in taken:
        annotation = "" if p.annotation is Parameter.empty else f": {p.annotation}"
        value = "..." if p.default is no_default else repr(p.default)
        shown.append(p.name + annotation + ("" if p.default is p.empty else f" = {value}"))
    kinds = [p.kind for p in taken]
    if Parameter.KEYWORD_ONLY in kinds:
        shown.insert(kinds.index(Parameter.KEYWORD_ONLY), "*")
    shown[0] = f"def {name}({shown[0]}"
    shown[-1] += f") -> {result}: ..."
    width = WIDTH - 4 if taken[0].name == "self" else WIDTH
    indent = " " * 4
    room = width - len(indent) - len(",")
    text = ", ".join(part if len(part) > room else part.replace(" ", "\xa0") for part in shown)
    lines = textwrap.wrap(
        text,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\xa0", " ") + "\n"


def stub_class(name: str, methods: Sequence[str]) -> str:
    """Return a class with the declarations of its methods."""
    return f"class {name}:\n{textwrap.indent(''.join(methods), ' ' * 4)}"


def commands() -> str:
    """Return the commands of the command line with their short help."""
    text = '"""The commands with their short help, written by ``python3 dev.py generate``."""\n\n'
    text += f"# ruff: noqa: E501\n# fmt: off\n\nVERSION = {__version__!r}\n\nCOMMANDS = {{\n"
    for title, names in (("Algorithms", cli.ALGORITHMS), ("Other commands", cli.OTHERS)):
        helps = {name: cli.command(name).get_short_help_str(limit=200) for name in names}
        lines = "".join(f"        {name!r}: {text!r},\n" for name, text in helps.items())
        text += f"    {title!r}: {{\n{lines}    }},\n"
    return text + "}\n"


def helps() -> str:
    """Return the help of all commands as JSON, with the usual help of each option only once."""
    told = dict(_described())
    texts: dict[str, Counter[str]] = {}
    for about in told.values():
        for row, text in itertools.chain(*about["sections"].values()):
            texts.setdefault(row, Counter())[text] += 1
    usual = {row: found.most_common(1)[0][0] for row, found in texts.items()}
    for about in told.values():
        for title, rows in about["sections"].items():
            about["sections"][title] = [
                row if text == usual[row] else (row, text) for row, text in rows
            ]
    return json.dumps({"options": usual, "commands": told}, indent=1, ensure_ascii=False) + "\n"


def _described() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each command and subcommand, and the parts of its help."""
    main = click.Context(_graphflow_cli.main, **_graphflow_cli.main.context_settings)
    for name in (*cli.ALGORITHMS, *cli.OTHERS):
        command = cli.command(name)
        inner = command.commands if isinstance(command, click.Group) else {}
        under = click.Context(command, parent=main)
        yield name, _parts(command, under, inner)
        for sub, one in inner.items():
            yield f"{name} {sub}", _parts(one, click.Context(one, parent=under), {})


def _parts(
    command: click.Command, ctx: click.Context, inner: Mapping[str, click.Command]
) -> dict[str, Any]:
    options = [p for p in command.get_params(ctx) if isinstance(p, click.Option)]
    sections = {"Options": [record for p in options if (record := p.get_help_record(ctx))]}
    if inner:
        helps = [(name, one.get_short_help_str(limit=200)) for name, one in sorted(inner.items())]
        sections["Commands"] = helps
    return {
        "usage": command.collect_usage_pieces(ctx),
        "help": inspect.cleandoc(command.help or ""),
        "epilog": command.epilog,
        "sections": sections,
    }


def files() -> dict[Path, str]:
    """Return the text of each file."""
    of_frame = [
        declarations(name, getattr(functions.FrameMethods, name), overloads=False)
        for name in functions.__all__
    ]
    of_graph = [
        declarations(name, getattr(graph_methods.GraphMethods, name)) for name in sorted(ALGORITHMS)
    ]
    names = textwrap.fill(
        ", ".join(f'"{name}"' for name in functions.__all__),
        WIDTH,
        initial_indent=" " * 4,
        subsequent_indent=" " * 4,
    )
    return {
        API / "functions.pyi": FUNCTIONS
        + f"\n__all__ = [\n{names},\n]\n\ndef describe(name: str) -> Described: ...\n\n"
        + "".join(declarations(name, getattr(functions, name)) for name in functions.__all__)
        + stub_class("FrameMethods", ["_frame: Any\n", *of_frame]),
        CLI / "commands.py": commands(),
        CLI / "help.json": helps(),
        API / "graph_methods.pyi": METHODS + "\n" + stub_class("GraphMethods", of_graph),
    }


def main() -> int:
    """Write the files, or with --check say which ones are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say which files are out of date")
    check = parser.parse_args().check
    stale = {p: text for p, text in files().items() if not p.exists() or p.read_text() != text}
    for path, text in stale.items():
        print(f"{path} is out of date; run: python3 dev.py generate" if check else f"Wrote {path}")
        if not check:
            path.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
