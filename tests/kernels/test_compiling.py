"""Where compiled kernels are kept, also where neither the installation nor a home can be written to."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import llvmlite.binding
import numba
import numpy as np
import pytest

import dask_graphflow
from dask_graphflow import EdgeOp
from dask_graphflow.kernels import compiling, jit
from dask_graphflow.kernels.advance import host as host_advance
from dask_graphflow.kernels.host_atomics import scratch
from dask_graphflow.kernels.rows import host as host_rows

NOBODY = 64_999  # another user
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1  # of Linux

RECORD = """
import json, warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    {}
    from dask_graphflow.kernels.common import host
    from dask_graphflow.kernels.advance import host as host_advance
    from dask_graphflow.kernels.buckets import host as host_buckets
    from dask_graphflow.kernels.rows import host as host_rows
told = [str(one.message) for one in seen if "Numba" in str(one.message)]
print(json.dumps([told, host._hook.stats.cache_path]))
"""
COMPONENTS = RECORD.format(
    """import pandas as pd
    import dask_graphflow as gf
    edges = pd.DataFrame({"a": [1, 2, 5], "b": [2, 3, 6]})
    found = gf.connected_components(edges, source="a", target="b").compute()
    assert found.component.tolist() == [1, 1, 1, 5, 5]"""
)
SMALL = RECORD.format(
    """import numpy as np
    from dask_graphflow.kernels.advance import host as host_advance
    words = np.zeros(1, "uint64")
    host_advance._to_words(np.array([3]), words)
    assert words.tolist() == [8]"""
)


@pytest.fixture(scope="module")
def read_only():
    """Return a folder with a copy of the package that the user of :func:`alone` cannot write to."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        package = pathlib.Path(dask_graphflow.__file__).parent
        shutil.copytree(
            package, folder / "dask_graphflow", ignore=shutil.ignore_patterns("__pycache__")
        )
        folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
        for one in folders:
            one.chmod(0o555)
        yield folder
        for one in folders:
            one.chmod(0o755)


def heed_modes():
    """Make the modes of folders apply to root too, in the programs that this process runs."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def alone(read_only, temporary, *arguments, **environment):
    """Run Python as a user without a home; return the JSON that it prints."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    where = {"PYTHONPATH": str(read_only), "TMPDIR": str(temporary), "HOME": os.devnull}
    where["CUPY_CACHE_DIR"] = str(temporary / "cupy")  # without a home, CuPy cannot be imported
    root = {} if os.geteuid() else {"preexec_fn": heed_modes}
    writable = subprocess.run(["test", "-w", read_only], **root).returncode == 0
    if writable:
        pytest.skip("nothing is read-only for root here")
    done = subprocess.run(
        [sys.executable, "-B", *arguments],
        env=kept | where | environment, cwd="/", capture_output=True, text=True, timeout=300, **root,
    )  # fmt: skip
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


class Found(NamedTuple):
    temporary: pathlib.Path
    own: pathlib.Path
    told: list
    folder: str
    files: dict


def files_in(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def first(read_only):
    """Return the outcome of a first call that has a folder for temporary files."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = pathlib.Path(folder)
        own = temporary / f"dask-graphflow-{os.getuid()}"
        told, kept = alone(read_only, temporary, "-c", COMPONENTS)
        yield Found(temporary, own, told, kept, files_in(own))


def doctor(*where, **environment):
    command = "-W", "ignore", "-m", "dask_graphflow", "doctor", "--json"
    found = {one["name"]: one for one in alone(*where, *command, **environment)["checks"]}
    assert found["kernels"]["state"] == "ok"
    return found["kernel cache"]


def test_kernels_are_kept_among_temporary_files_if_nothing_else_is_writable(first):
    assert len(first.told) == 1
    assert f"kept in {first.own}" in first.told[0]
    assert jit.ADVICE in first.told[0]
    assert pathlib.Path(first.folder).parent == first.own
    assert stat.S_IMODE(first.own.stat().st_mode) == 0o700


@pytest.mark.slow
def test_kernels_among_temporary_files_are_used_again(first, read_only):
    check = doctor(read_only, first.temporary)
    assert (check["state"], check["todo"]) == ("missing", jit.ADVICE)
    assert str(first.own) in check["found"]
    assert first.files
    # Nothing was written again; on a GPU, the doctor compiles more.
    assert first.files.items() <= files_in(first.own).items()


@pytest.mark.slow
def test_the_advice_in_the_message_works(first, read_only):
    assert "NUMBA_CACHE_DIR" in jit.ADVICE
    check = doctor(read_only, first.temporary, NUMBA_CACHE_DIR=str(first.own))
    assert (check["state"], check["todo"]) == ("ok", "")
    assert str(first.own) in check["found"]


@pytest.mark.slow
def test_kernels_run_without_any_folder_to_keep_them_in(read_only, tmp_path):
    (tmp_path / f"dask-graphflow-{os.getuid()}").touch()
    told, folder = alone(read_only, tmp_path, "-c", SMALL)
    assert folder is None
    assert len(told) == 1
    assert "each process compiles anew" in told[0]
    assert jit.ADVICE in told[0]


# A folder whose files another user could write would run that user's code


def readable(folder):
    folder.mkdir(mode=0o755)


def linked(folder):
    (folder.parent / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(folder.parent / "elsewhere")


def taken(folder):
    if os.geteuid():
        pytest.skip("only root gives folders away")
    folder.mkdir(mode=0o700)
    os.chown(folder, NOBODY, NOBODY)


def swappable(folder):
    folder.parent.chmod(0o777)  # and not sticky, as /tmp is


@pytest.mark.parametrize("prepare", [readable, linked, taken, swappable])
def test_a_temporary_folder_that_others_can_change_is_not_used(prepare, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"dask-graphflow-{os.getuid()}"
    prepare(own)
    assert jit._private() is None


@pytest.mark.parametrize("mode", [0o700, 0o1777])
def test_a_temporary_folder_of_ones_own_is_used_again(mode, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(mode)
    found = {jit._private() for _ in range(2)}
    assert found == {tmp_path / f"dask-graphflow-{os.getuid()}"}


# Workers on one machine compile the same functions for different types at the same time


class Together(jit._FilesByTypes):
    """The files of one of two processes that save at once; each write waits for events and sets some."""

    def __init__(self, folder, waits, tells):
        super().__init__(str(folder), "function-1.py311", "version of the source")
        self.waits, self.tells = iter(waits), iter(tells)

    @contextmanager
    def _open_for_write(self, path):
        next(self.waits).wait(10)
        with super()._open_for_write(path) as file:
            yield file
        next(self.tells).set()


def test_code_for_other_types_is_not_loaded_if_two_processes_compile_at_once(tmp_path):
    both, first, second, last = threading.Barrier(2), *(threading.Event() for _ in range(3))
    both.set = lambda: None

    def meet(event):
        return type(
            "Meet", (), {"wait": lambda self, limit: (both.wait(limit), event.wait(limit))}
        )()

    now = threading.Event()
    now.set()
    one = Together(tmp_path, [meet(now), last], [first, threading.Event()])
    other = Together(tmp_path, [meet(first), now], [second, last])
    with ThreadPoolExecutor(2) as pool:
        saves = [pool.submit(one.save, ("int64",), "code for int64")]
        saves += [pool.submit(other.save, ("float64",), "code for float64")]
        for save in saves:
            save.result()
    later = jit._FilesByTypes(str(tmp_path), "function-1.py311", "version of the source")
    assert later.load(("float64",)) == "code for float64"
    assert later.load(("int64",)) == "code for int64"
    newer = jit._FilesByTypes(str(tmp_path), "function-1.py311", "a newer version")
    assert newer.load(("int64",)) is None


def test_a_function_that_was_compiled_before_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(jit.numba.config, "CACHE_DIR", str(tmp_path))
    for found in ("cache_misses", "cache_hits"):
        made = compiling.compiled(_twice)
        assert [made(2), made(1.5)] == [4, 3.0]
        assert sum(getattr(made.stats, found).values()) == 2
    assert len(files_in(tmp_path)) == 2


def test_the_loops_of_a_program_are_loaded_and_those_of_another_are_not(tmp_path, monkeypatch):
    monkeypatch.setattr(jit.numba.config, "CACHE_DIR", str(tmp_path))
    rows = host_rows.rows(np.zeros(1, "int64"), np.ones(1, "int64"), None, count=1, columns=2)
    make, seen = host_advance.kernels.__wrapped__, []
    # The same source and types, and another message, cond or way to combine.
    for signal, slot, cond, level, found in (
        ("level[src] + 1", "min", None, [4, 9], "cache_misses"),
        ("level[src] + 1", "min", None, [4, 9], "cache_hits"),
        ("level[src] + 2", "min", None, [4, 9], "cache_misses"),
        ("level[src] + 1", "max", None, [4, 3], "cache_misses"),
        ("level[src] + 1", "min", "level[dst] > 9", [4, 9], "cache_misses"),
    ):
        op = EdgeOp("some", target="level", signal=signal, slot=slot, cond=cond)
        bound = op.bind({"level": "int32"}, index_dtype="int32")
        loops = make(bound.host_program)
        monkeypatch.setattr(host_advance, "kernels", lambda _, loops=loops: loops)
        columns = (np.array(level, "int32"),)
        host_advance.push(
            bound.host_program, rows._replace(ends=rows.ends.astype("int32")), columns
        )
        assert sum(getattr(loops[0].stats, found).values()) == 1
        seen.append(columns[0].tolist())
    assert seen == [[4, 5], [4, 5], [4, 6], [4, 5], [4, 9]]


def _twice(x):
    return x + x


@pytest.mark.parametrize("collecting", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_the_garbage_collector_pauses_while_numba_compiles(collecting, fails):
    seen = []

    def kernel(x):
        return x.missing if fails else x + 1

    class Watching(jit.event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    before = gc.isenabled()
    try:
        gc.enable() if collecting else gc.disable()
        with (
            jit.event.install_listener("numba:compile", Watching()),
            pytest.raises(jit.numba.TypingError) if fails else nullcontext(),
        ):
            jit.numba.njit(kernel)(1)
        assert set(seen) == {False}
        assert gc.isenabled() == collecting
    finally:
        gc.enable() if before else gc.disable()


@compiling.inner
def plus(numbers, index, more):
    numbers[index] += more


@compiling.uncached
def add_several(numbers, by):
    plus(numbers, 0, 5)
    plus(numbers, 1, by)
    plus(numbers, 0, True)
    room = scratch(3, numbers.dtype)
    for i in range(2):
        room[i] = numbers[i]
    numbers[2] = room[0] * room[1]


def test_an_inner_function_is_compiled_once_and_only_with_its_caller():
    numbers = np.arange(3)
    add_several(numbers, 7)
    assert numbers.tolist() == [6, 8, 48]
    types = [signature[1:] for signature in plus.signatures]
    assert types == [(numba.int64, numba.int64), (numba.int64, numba.boolean)]
    library = plus.overloads[plus.signatures[0]].library
    with pytest.raises(RuntimeError, match="no compiled object"):
        library._get_compiled_object()


def test_llvm_optimizes_a_kernel_but_not_its_wrapper_for_python():
    add_several(np.arange(3), 7)
    module = llvmlite.binding.parse_assembly(next(iter(add_several.inspect_llvm().values())))
    left = {
        function.name.startswith("_ZN7cpython"): any(
            b"optnone" in one for one in function.attributes
        )
        for function in module.functions
        if not function.is_declaration
    }
    assert left == {True: True, False: False}


def test_a_kernel_counts_references_only_if_it_allocates():
    def fill(numbers):
        numbers[:] = np.ones(numbers.size)

    numbers = np.zeros(3)
    with pytest.raises(numba.errors.TypingError, match="ones"):
        compiling.uncached(fill)(numbers)
    compiling.uncached(fill, allocates=True)(numbers)
    assert numbers.tolist() == [1, 1, 1]
    text = next(iter(add_several.inspect_llvm().values()))
    assert "NRT_incref" not in text
