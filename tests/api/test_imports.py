"""The package imports what a call uses, and frames have the accessor in every order of imports."""

from __future__ import annotations

import ast
import inspect
import pathlib
import pickle
import subprocess
import sys
import threading
import time

import pytest

import dask_graphflow as gf
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.api import after_import, functions, lazy_methods
from dask_graphflow.declarations.algorithm import DECLARED

STUB = pathlib.Path(gf.__file__).with_suffix(".pyi")
LIBRARIES = {"dask", "distributed", "llvmlite", "numba", "numpy", "pandas", "pyarrow"}
EDGES = "pd.DataFrame({'a': [1, 2], 'b': [2, 3]})"


def run(code, *arguments):
    """Run a program in a new process, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported_by(code):
    """Return the modules that a program imports, besides those that every interpreter imports here."""
    shown = run(f"import sys; before = {{*sys.modules}}\n{code}\nprint(*{{*sys.modules}} - before)")
    return set(shown.split())


@pytest.mark.parametrize(
    "code",
    [
        "import dask_graphflow",
        "import dask_graphflow as gf; dir(gf); gf.__version__; hasattr(gf, '__wrapped__')",
        "import dask_graphflow as gf; gf.GraphflowError; gf.exceptions.WeightError",
        "from dask_graphflow.api.accessor import GraphflowAccessor; dir(GraphflowAccessor)",
    ],
)
def test_the_package_imports_no_library_before_a_name_needs_one(code):
    modules = imported_by(code)
    ours = {name for name in modules if name.startswith("dask_graphflow")}
    assert not LIBRARIES & modules
    assert len(ours) <= 15, sorted(ours)


@pytest.mark.parametrize(
    ("name", "options", "used"),
    [
        ("pagerank", "", {"pagerank"}),
        (
            "bfs",
            ", sources=[1]",
            {"bfs", "sssp"},
        ),  # it can return one distance per source and vertex
        ("connected_components", "", set()),
    ],
)
def test_a_call_imports_what_it_uses(name, options, used):
    modules = imported_by(
        f"import pandas as pd, dask_graphflow as gf\n"
        f"gf.{name}({EDGES}, source='a', target='b'{options})"
    )
    assert {one for one in ALGORITHMS if f"dask_graphflow.algorithms.{one}" in modules} == used
    others = {
        f"dask_graphflow.{one}" for one in ("algorithms.edge_program", "cli", "plot", "storage")
    }
    assert not {"numba", "distributed", *others} & modules


def test_threads_can_use_names_for_the_first_time_together():
    run(
        "import threading, dask_graphflow as gf\n"
        "meet, found = threading.Barrier(8), []\n"
        "def use(i):\n"
        "    meet.wait()\n"
        "    for name in gf.__all__[i:] + gf.__all__[:i]:\n"
        "        found.append((name, getattr(gf, name)))\n"
        "threads = [threading.Thread(target=use, args=[7 * i]) for i in range(8)]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"
        "assert len(found) == 8 * len(gf.__all__)\n"
        "assert len(set(map(id, (value for _, value in found)))) == len(gf.__all__)\n"
    )


@pytest.mark.parametrize(
    "imports",
    [
        ["dask_graphflow", "pandas as pd", "dask.dataframe as dd"],
        ["dask_graphflow", "dask.dataframe as dd", "pandas as pd"],
        ["pandas as pd", "dask_graphflow", "dask.dataframe as dd"],
        ["dask.dataframe as dd", "dask_graphflow", "pandas as pd"],
    ],
    ids=" then ".join,
)
def test_frames_have_the_accessor_in_every_order_of_imports(imports):
    lines = "\n".join(f"import {one}" for one in imports)
    call = ".gf.degrees(source='a', target='b').compute()"
    shown = run(
        f"{lines}\nassert pd.__spec__.loader is pd.__loader__ and pd.__loader__.get_source('pandas')\n"
        "assert 'gf' in dir(pd.DataFrame) and dd.DataFrame.gf is pd.DataFrame.gf\n"
        f"frame = {EDGES}\nprint(len(frame{call}), len(dd.from_pandas(frame, npartitions=1){call}))"
    )
    assert shown == "3 3\n"


def test_pandas_alone_is_enough_for_the_accessor():
    shown = run(f"import dask_graphflow, pandas as pd\nprint({EDGES}.gf.bfs)")
    assert "bound method" in shown


def test_a_missing_library_is_as_missing_as_before():
    code = "import sys, dask_graphflow; sys.path[:] = []; import pandas"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'pandas'\n")


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Return the name of a library that takes a moment to import, which other threads can see."""
    (tmp_path / "slow_library.py").write_text("import time\ntime.sleep(0.2)\nready = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "slow_library"
    sys.modules.pop("slow_library", None)
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, after_import._Finder)]


@pytest.mark.parametrize("when", ["before", "meanwhile", "after"])
def test_a_function_waits_for_a_library_and_is_called_once(library, when, monkeypatch):
    monkeypatch.setattr(after_import, "_finder", after_import._Finder())
    calls = []

    def then():
        calls.append(sys.modules[library].ready)

    if when == "before":
        after_import.after_import(library, then)
        assert not calls
        __import__(library)
    elif when == "meanwhile":
        other = threading.Thread(target=__import__, args=[library])
        other.start()
        while library not in sys.modules:
            pass
        after_import.after_import(library, then)
        other.join()
    else:
        __import__(library)
        after_import.after_import(library, then)
    assert calls == [True]
    __import__(library)
    assert calls == [True]
    loader = sys.modules[library].__loader__
    assert loader is sys.modules[library].__spec__.loader
    assert not isinstance(loader, after_import._Loader)


def test_two_copies_of_the_package_wait_for_a_library_together(library, monkeypatch):
    called = []
    for copy in ("first", "second"):
        monkeypatch.setattr(after_import, "_finder", after_import._Finder())
        after_import.after_import(library, lambda copy=copy: called.append(copy))
    __import__(library)
    assert sorted(called) == ["first", "second"]


def test_every_public_name_is_found_and_listed():
    assert {*gf.__all__} <= {*dir(gf)}
    scope = {}
    exec("from dask_graphflow import *", scope)
    assert {*gf.__all__} <= scope.keys()
    assert all(scope[name] is getattr(gf, name) for name in gf.__all__)
    assert {*gf.__all__} <= vars(gf).keys()  # now imported


def test_the_stub_of_the_package_has_the_same_names():
    names = {"__version__", *functions.__all__}
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            names |= {one.name for one in node.names if one.name not in ("*", "functions")}
    assert names == {*gf.__all__}


def test_every_module_of_an_algorithm_declares_it():
    assert [one.name for one in ALGORITHMS.values()] == list(ALGORITHMS)
    # The two ways to call shortest_paths share a folder, which is not an algorithm of that name.
    assert DECLARED.keys() - {"shortest_paths"} == {*ALGORITHMS}
    assert "quotient" not in ALGORITHMS
    with pytest.raises(KeyError):
        ALGORITHMS["quotient"]


@pytest.mark.parametrize("name", ["bfs", "connected_components"])
def test_functions_and_methods_are_pickled_by_name(name):
    for one in (
        getattr(gf, name),
        getattr(gf.Graph, name),
        getattr(functions.FrameMethods, name),
    ):
        assert pickle.loads(pickle.dumps(one)) is one
        assert inspect.isfunction(one)


def test_a_method_is_made_once_and_is_the_same_in_all_threads():
    meet, found, made_for = threading.Barrier(2, timeout=30), [], []

    def make(name):
        made_for.append(name)
        time.sleep(0.1)  # the other thread asks meanwhile
        return lambda self: name

    def use():
        meet.wait()
        found.append(made.one)

    made = lazy_methods.class_of_methods("Methods", ["one"], make, __name__)
    threads = [threading.Thread(target=use) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found[0] is found[1] is made.one
    assert made().one() == "one"
    assert made_for == ["one"]
