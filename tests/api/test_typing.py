"""A user's program has types: `mypy`, among the linters, checks what is in tests/typed."""

from __future__ import annotations

import ast
import pathlib
import runpy
import types
import typing

import pytest

import dask_graphflow as gf
from dask_graphflow.api import types as types_of
from dask_graphflow.inputs.files.find import EXTENSIONS
from dask_graphflow.kernels.policies import POLICIES
from dask_graphflow.operators.advance.direction import DIRECTION_RULES
from dask_graphflow.tasks.trees import MERGE_POLICIES

TYPED = pathlib.Path(__file__).parents[1] / "typed"


def test_the_package_says_that_it_has_types():
    assert (pathlib.Path(gf.__file__).parent / "py.typed").exists()


def test_the_program_runs(capsys):
    pytest.importorskip("crategraph_forceatlas2")
    runpy.run_path(str(TYPED / "program.py"), run_name="__main__")
    assert capsys.readouterr().out == f"{gf.__version__}\n"


def test_the_program_uses_all_that_is_public():
    tree = ast.parse((TYPED / "program.py").read_text())
    used = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {name for name in gf.__all__ if isinstance(getattr(gf, name), types.ModuleType)}
    assert {f"gf.{name}" for name in gf.__all__} - {f"gf.{name}" for name in modules} <= used
    assert {f"costs.{name}" for name in gf.costs.__all__} <= used
    functions = {name for name in gf.generate.__all__ if name.islower()}
    assert {f"generate.{name}" for name in functions} <= used
    graph = {name for name in dir(gf.Graph) if not name.startswith("_")}
    assert {f"g.{name}" for name in graph} <= used


@pytest.mark.slow
@pytest.mark.parametrize("name", ["returns.py", "accepted.py"])
def test_mypy_agrees_with_dasks_own_types(name):
    mypy = pytest.importorskip("mypy.api")
    # Without the project's configuration, which leaves Dask's types out.
    options = ["--config-file=", "--follow-imports=silent", "--strict", "--cache-dir=/dev/null"]
    options += ["--disable-error-code=import-untyped"]
    out, errors, code = mypy.run([*options, str(TYPED / name)])
    assert code == 0, out + errors


@pytest.mark.parametrize(
    ("chosen", "allowed"),
    [
        (types_of.Direction, DIRECTION_RULES),
        (types_of.Balance, POLICIES),
        (typing.get_type_hints(gf.connected_components)["merge"], MERGE_POLICIES),
        (typing.get_type_hints(gf.estimate)["merge"], MERGE_POLICIES),
        (typing.get_args(typing.get_type_hints(gf.read_edges)["format"])[0], EXTENSIONS),
    ],
    ids=["direction", "balance", "merge", "merge of an estimate", "format"],
)
def test_names_in_types_are_the_names_that_are_allowed(chosen, allowed):
    assert sorted(typing.get_args(chosen)) == sorted(allowed)


def test_each_call_that_is_refused_says_why():
    (function,) = (
        node
        for node in ast.parse((TYPED / "refused.py").read_text()).body
        if isinstance(node, ast.FunctionDef)
    )
    lines = (TYPED / "refused.py").read_text().splitlines()
    calls = function.body[1:]
    assert len(calls) > 20
    for call in calls:
        assert "  # type: ignore[" in lines[call.lineno - 1]
