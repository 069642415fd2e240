"""Kernels that are compiled with the package: the same bits as Numba's, without Numba."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import dask_graphflow
from dask_graphflow.kernels import precompiled

ROOT = pathlib.Path(dask_graphflow.__file__).parents[1]
TOOLS = ROOT / "tools"
FEW = ("degrees",)
MORE = ("connected_components", "degrees", "bfs", "pagerank", "similarity", "sssp")
SEARCHES = ("connected_components", "bfs", "sssp")  # they have kernels for teams of threads
IMPORTS = """
import sys
from dask_graphflow.kernels import host_atomics, host_teams, host_threads
for name in sys.argv[1:]:
    __import__(name)
print(sorted({"numba", "llvmlite"} & {*sys.modules}))
"""
# The sample calls on small graphs, but with teams of two threads.
IN_TEAMS = """
import sys
import threading
sys.path.insert(0, sys.argv.pop(1))
import digests
from dask_graphflow.kernels import host_teams
from dask_graphflow.kernels.components import host as components
from dask_graphflow.kernels.search import host as search
from dask_graphflow.kernels.whole_buckets import host as whole_buckets
components.JOINED, search.WIDE, whole_buckets.TEAM = 1, 0, 0
sizes = {}
def together(kernel, threads, *arguments, **options):
    came = threading.Event()
    def work(*given):
        if given[-1]:
            came.set()
        elif threads > 1:  # a small call would end before another thread comes
            came.wait(1)
        kernel(*given)
    team = host_teams.together(work, threads, *arguments, **options)
    sizes.setdefault(kernel.__name__, set()).add(int(team[host_teams.STATE]) & host_teams.MEMBERS)
    return team
components.together = search.together = whole_buckets.together = together
digests.main()
assert len(sizes) == 3 and all(2 in some for some in sizes.values()), sizes
"""

needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or not TOOLS.exists(), reason="needs a checkout and a C compiler"
)


def run(package, *arguments):
    """Run Python with the package in a folder; return what it prints."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (package, ROOT)))},
        cwd=package, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def digests(package, *arguments):
    return json.loads(run(package, TOOLS / "digests.py", *arguments).splitlines()[-1])


def installed(folder, functions, levels):
    """Return a folder with a copy of the package, and a library of the kernels of some functions."""
    copied = shutil.ignore_patterns("__pycache__", "_precompiled*")
    shutil.copytree(ROOT / "dask_graphflow", folder / "dask_graphflow", ignore=copied)
    kernels = folder / "dask_graphflow" / "kernels"
    run(folder, TOOLS / "precompile.py", kernels, *functions, "--levels", levels)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("small"), FEW, 1)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return installed(tmp_path_factory.mktemp("large"), MORE, 3)


def test_modules_of_host_kernels_are_imported_without_numba():
    hosts = sorted((ROOT / "dask_graphflow" / "kernels").glob("*/host.py"))
    names = [f"dask_graphflow.kernels.{path.parent.name}.host" for path in hosts]
    assert len(names) > 10
    assert run(ROOT, "-c", IMPORTS, *names, "dask_graphflow.programs.host_operations") == "[]\n"


@needs_compiler
def test_results_have_the_bits_of_numba_without_numba(small):
    found = digests(small, "--without-numba", *FEW)
    assert found["level"]
    assert found["digests"] == digests(ROOT, *FEW)["digests"]


@needs_compiler
def test_an_entry_takes_and_returns_what_the_kernel_does(tmp_path):
    printed = run(TOOLS, ROOT / "tests" / "entry_probe.py", tmp_path)
    assert "without an entry: strided returns" in printed
    assert "without an entry: listed calls NRT_" in printed


@pytest.mark.slow
@needs_compiler
def test_results_have_the_bits_of_numba_on_each_level_of_processors(large):
    wanted = digests(ROOT, *MORE)
    assert (wanted["level"], wanted["problem"]) == ("", "")
    for level in range(2):
        found = digests(large, "--without-numba", "--level", level, *MORE)
        assert found["level"]
        assert found["digests"] == wanted["digests"]


@pytest.mark.slow
@needs_compiler
def test_teams_of_threads_have_the_bits_of_numba(large):
    wanted = digests(ROOT, *SEARCHES)
    printed = run(large, "-c", IN_TEAMS, TOOLS, "--without-numba", *SEARCHES)
    assert json.loads(printed)["digests"] == wanted["digests"]


@needs_compiler
def test_a_library_of_other_sources_is_not_used_and_the_doctor_says_so(small, tmp_path):
    shutil.copytree(small / "dask_graphflow", tmp_path / "dask_graphflow")
    check = {"name": "kernels", "state": "ok"}
    assert check.items() <= doctor(tmp_path)["kernels"].items()
    assert "compiled with the package" in doctor(tmp_path)["kernels"]["found"]
    kernel = tmp_path / "dask_graphflow" / "kernels" / "common" / "host.py"
    kernel.write_text(kernel.read_text() + "\n# changed\n")
    checks = doctor(tmp_path)
    assert "compiled by Numba" in checks["kernels"]["found"]
    assert checks["precompiled kernels"]["state"] == "wrong"
    assert "other sources" in checks["precompiled kernels"]["found"]
    assert "pip install" in checks["precompiled kernels"]["todo"]


def doctor(package):
    checks = json.loads(run(package, "-m", "dask_graphflow", "doctor", "--json"))["checks"]
    return {check["name"]: check for check in checks}


def test_without_a_library_nothing_is_said():
    library = precompiled.library()
    assert (library.level, library.problem, library.entries) == ("", "", {})
