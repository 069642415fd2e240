"""A function follows from its declaration, and rewording its docstring changes only its help."""

from __future__ import annotations

import inspect
import types
from dataclasses import replace
from typing import Annotated, Any

import pandas as pd
import pytest
from conftest import ENDS

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.api import calls, signatures
from dask_graphflow.api.graph import Graph
from dask_graphflow.cli import algorithms
from dask_graphflow.declarations.algorithm import DECLARED
from dask_graphflow.declarations.documentation import Documentation
from dask_graphflow.declarations.number_options import Number
from dask_graphflow.declarations.option import Choice, options_of
from dask_graphflow.declarations.vertex_options import VertexIds
from dask_graphflow.showing import arguments

# Words that could be taken for a type, the values of a flag, or a reference.
REWORDED = (
    "A tuple, Literal['x'] or None. How the edges of a frame become a graph. False, not True."
)


def reworded(name):
    """Return the declaration of an algorithm whose docstring says something else about everything."""
    declared = ALGORITHMS[name]
    about = declared.documentation
    entries = {
        first: one._replace(type="list of tuple", text=REWORDED)
        for first, one in about.parameters.items()
    }
    run = types.FunctionType(
        declared.run.__code__, declared.run.__globals__, name, declared.run.__defaults__
    )
    run.__kwdefaults__, run.__annotations__ = (
        declared.run.__kwdefaults__,
        declared.run.__annotations__,
    )
    run.__doc__ = str(
        replace(about, description="Return what nobody asked for.", parameters=entries)
    )
    return replace(declared, run=run, options=options_of(run))


def without_help(command):
    """Return all that is known about the options of a command, except the text that it shows."""
    return [
        {k: v for k, v in p.to_info_dict().items() if k not in ("help", "callback", "short_help")}
        for p in command.params
    ]


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_reworded_docstring_changes_only_help(name, monkeypatch):
    about = calls.describe_algorithm(name)
    monkeypatch.setitem(DECLARED, name, reworded(name))
    other = calls.describe_algorithm(name)
    assert other.options == about.options
    assert str(other.documentation) != str(about.documentation)
    one, another = (algorithms._command(getattr(gf, name), a) for a in (about, other))
    assert without_help(one) == without_help(another)
    assert one.help != another.help
    made = [signatures.make(name, a, print, __name__) for a in (about, other)]
    assert inspect.signature(made[0]) == inspect.signature(made[1])


@pytest.mark.parametrize("name", sorted({*ALGORITHMS} - {"connected_components"}))
def test_a_docstring_is_written_as_it_was_read(name):
    text = inspect.cleandoc(ALGORITHMS[name].run.__doc__)
    assert str(Documentation.parse(text)) == text


def test_every_algorithm_declares_its_cost():
    assert all(declared.cost for declared in ALGORITHMS.values())


def test_without_docstrings_there_is_no_documentation():
    about = Documentation.parse(None)
    assert about.description == ""
    assert signatures.make("f", signatures.Described([], about), print, __name__).__doc__ is None


def run(
    g: Any,
    sources: Annotated[Any, VertexIds()],
    *,
    limit: Annotated[float | None, Number(low=0)] = None,
    way: Annotated[str, Choice(("push", "pull"))] = "push",
    parts: Annotated[list[float] | float, Number()] = 1.0,
    replace: bool = False,
) -> None:
    """Do nothing."""


def test_the_signature_declares_the_options():
    options = options_of(run)
    about = {o.name: (o.kind, o.required, o.optional, o.positional) for o in options.values()}
    assert about == {
        "sources": ("ids", True, False, True),
        "limit": ("number", False, True, False),
        "way": ("choice", False, False, False),
        "parts": ("numbers", False, False, False),
        "replace": ("flag", False, False, False),
    }
    assert options["way"].choices == ("push", "pull")
    assert options["limit"].check.optional
    assert not options["sources"].check.optional


@pytest.mark.parametrize("call", ["function", "method", "accessor"])
def test_a_call_binds_its_arguments_once(call, monkeypatch):
    edges, bound, bind = pd.DataFrame({"a": [1, 2], "b": [2, 3]}), [], arguments.bind
    graph = Graph(edges, **ENDS)

    def counted(name, *given, **options):
        bound.append(name)
        return bind(name, *given, **options)

    monkeypatch.setattr(signatures, "bind", counted)
    monkeypatch.setattr(arguments, "bind", counted)
    found = {
        "function": lambda: gf.bfs(edges, **ENDS, sources=1),
        "method": lambda: graph.bfs(1),
        "accessor": lambda: edges.gf.bfs(**ENDS, sources=1),
    }[call]()
    assert len(bound) == 1
    assert found.compute().distance.tolist() == [0, 1, 2]
