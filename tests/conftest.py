"""Fixtures and helpers of all tests: backends, schedulers, oracles, and difficult graphs."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import itertools
import multiprocessing
import os
import pathlib
import re
import subprocess
import tempfile
import tracemalloc
import types

import dask
import dask.dataframe as dd
import networkx as nx
import numpy as np
import nx_graphs
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

import dask_graphflow as gf
from dask_graphflow import Graph  # as it is without `backend`
from dask_graphflow.algorithms import ALGORITHMS
from dask_graphflow.graph import blocks, make_rows, partition
from dask_graphflow.kernels import disk, host_threads
from dask_graphflow.operators.forests import reconnect
from dask_graphflow.operators.search import repair
from dask_graphflow.tasks import expr

# The backend to which `on_backend` moves data; the same in all tests of a run.
BACKEND = types.SimpleNamespace(name="pandas")

collect_ignore = ["typed"]  # programs that mypy reads
WORKER = os.environ.get("PYTEST_XDIST_WORKER")  # "gw0" and so on; None without pytest-xdist

# Modules that nearly every worker imports.
PRELOAD = ["conftest", "dask_graphflow.algorithms.bfs", "dask_graphflow.kernels.rows.host"]

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
ENDS = {"source": "a", "target": "b"}  # the columns of `frame`

arrow_text = pytest.mark.skipif(
    pd.Series(["a"]).dtype == object, reason="pandas before version 3 reads text as Python objects"
)
columns_are_shared = pytest.mark.skipif(
    not expr.shares_columns(), reason="pandas before version 3 copies the columns of a frame"
)


def oracle(pairs, vertices=()):
    """Return {vertex: smallest vertex of its component}, by NetworkX."""
    graph = nx.Graph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from(pairs)
    found = {}
    for members in nx.connected_components(graph):
        smallest = min(members)
        found.update(dict.fromkeys(members, smallest))
    return found


def as_dict(labels, vertex="vertex", component="component"):
    """Return a computed result as {vertex: component}."""
    assert labels[vertex].is_unique
    return dict(zip(labels[vertex].tolist(), labels[component].tolist(), strict=True))


def frame(pairs, dtype="int64"):
    """Return an edge list as a frame with columns a and b."""
    pairs = list(pairs)
    return pd.DataFrame(
        {
            "a": pd.Series([a for a, _ in pairs], dtype=dtype),
            "b": pd.Series([b for _, b in pairs], dtype=dtype),
        }
    )


def partitioned(edges, count):
    """Return a frame as a Dask DataFrame of exactly `count` partitions, empty ones among them."""
    bounds = [len(edges) * i // count for i in range(count + 1)]
    parts = [edges.iloc[low:high] for low, high in itertools.pairwise(bounds)]
    return dd.from_map(_part, range(count), args=[parts], meta=edges.iloc[:0])


def _part(i, parts):
    return parts[i]


def pytest_addoption(parser):
    parser.addoption(
        "--backend",
        choices=["pandas", "cudf"],
        default="pandas",
        help="what the edges of tests are made of: NumPy and pandas, or CuPy and cuDF on a GPU",
    )
    parser.addoption(
        "--combinations",
        choices=["some", "all"],
        default="some",
        help="run enough cases of a test for each pair of its parameters' values (on a GPU: for each "
        "value), or all cases",
    )
    parser.addoption("--minutes", type=float, help="how long the fuzzer or the soak goes on")
    parser.addoption(
        "--cases", type=int, help="cases of the fuzzer or the soak, instead of --minutes"
    )
    parser.addoption("--seed", type=int, default=0, help="number of the first of these cases")


def pytest_configure(config):
    host_threads.WORTH = 1  # so that the small arrays of tests go to several threads
    # So that the small results of tests are brought up to date.
    repair.FEW = repair.VERTICES = repair.OF_ROADS = 0
    reconnect.FEW_VERTICES = reconnect.VERTICES = reconnect.OF_ROADS = 0
    BACKEND.name = config.getoption("--backend")
    if BACKEND.name == "cudf":
        # Warnings are errors on the host. On a GPU, RAPIDS has warnings of its own.
        config.addinivalue_line("filterwarnings", "default")
        _take_a_gpu()
    if BACKEND.name == "pandas" and "forkserver" in multiprocessing.get_all_start_methods():
        # Workers are forked from a process that has imported what they need. They start in a quarter
        # of the time, because importing Numba alone takes longer than everything else that a worker does.
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        get_mp_context().set_forkserver_preload(["distributed", "dask.dataframe", *PRELOAD])


def _take_a_gpu():
    """Have each process of pytest-xdist use one GPU, in turn. CUDA reads the variable when it starts."""
    if WORKER:
        named = os.environ.get("CUDA_VISIBLE_DEVICES")
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=True).stdout
        devices = named.split(",") if named else range(listed.count(b"GPU "))
        os.environ["CUDA_VISIBLE_DEVICES"] = str(
            devices[int(WORKER.removeprefix("gw")) % len(devices)]
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep only the cases of a test that are needed for each pair of values of its parameters.

    A fault that depends on the values of parameters depends on one or two of them, hardly ever on three.
    With cuDF, only the tests that use a GPU are kept, and of their cases those that are needed for each
    value: the others run on the host, and processes that share a GPU wait for each other. The choice is
    made after -k and other options were applied, so every case can still be run alone.
    """
    count, left_out = 2, set()
    if BACKEND.name == "cudf":
        count, left_out = 1, {item for item in items if not _uses_a_gpu(item)}
    if config.getoption("--combinations") == "some":
        cases = {}
        for item in items:
            if hasattr(item, "callspec") and item not in left_out:
                cases.setdefault(item.nodeid.split("[")[0], []).append(item)
        for of_a_test in cases.values():
            left_out.update(_spare(of_a_test, count))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _uses_a_gpu(item):
    """Return whether a test moves data to the backend, or is marked as one for a GPU."""
    marked = any(item.get_closest_marker(mark) for mark in ("gpu", "gpu2"))
    helpers = {"BACKEND", "computed", "cupy_or_skip", "on_backend"}
    return marked or "backend" in item.fixturenames or not helpers.isdisjoint(vars(item.module))


def _spare(items, count):
    """Return the cases of a test whose combinations of `count` values all occur in other cases."""
    together = [mark.args[0] for mark in items[0].iter_markers("parametrize")]
    together = [re.split("[ ,]+", names) if isinstance(names, str) else names for names in together]
    parameters = [
        *together,
        *([name] for name in {*items[0].callspec.params}.difference(*together)),
    ]
    if len(parameters) <= count:
        return []

    def combined(item):
        # The same objects in all cases, and not all can be hashed.
        values = (tuple(id(item.callspec.params[name]) for name in names) for names in parameters)
        return set(itertools.combinations(enumerate(values), count))

    spare = {item: combined(item) for item in items}
    missing = set().union(*spare.values())
    while missing:  # greedily
        chosen = max(spare, key=lambda item: len(spare[item] & missing))
        missing -= spare.pop(chosen)
    return spare


def pytest_collection_finish():
    # The thousands of collected tests do not change, so the garbage collector does not have to visit them.
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter):
    # Values that tests recorded with `record_property`.
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in report.user_properties if report.when == "call" else ():
            terminalreporter.write_line(f"{name}: {value}")


@contextlib.contextmanager
def locked(path, operation):
    """Lock a file or folder that the processes of pytest-xdist share."""
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, operation)
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough if the test forked
        os.close(file)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Run a test that is marked `alone` while the other processes of pytest-xdist wait."""
    if not WORKER:
        return (yield)
    alone = item.get_closest_marker("alone") is not None
    with contextlib.ExitStack() as stack:
        # A test that waits to be alone keeps others from starting, or its turn might never come.
        with locked(pathlib.Path(__file__).parent, fcntl.LOCK_EX):
            stack.enter_context(locked(__file__, fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        return (yield)


class Reader:
    """Partitions that record when they were read."""

    def __init__(self, parts):
        self.parts = parts
        self.read = []

    def __call__(self, i):
        self.read.append(i)
        return self.parts[i]

    def __dask_tokenize__(self):
        return ("reader", id(self))


def cupy_or_skip():
    """Return CuPy, or skip the test if there is no GPU."""
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"no GPU: {error}", allow_module_level=True)
    return cupy


class OnHost:
    """A collection of cuDF frames whose results are returned as pandas frames."""

    def __init__(self, collection):
        self.collection = collection

    def __getattr__(self, name):
        return getattr(self.collection, name)

    def __getitem__(self, name):
        return self.collection[name]

    def __len__(self):
        return len(self.collection)

    def compute(self, **options):
        result = self.collection.compute(**options)
        assert type(result).__module__.startswith("cudf")
        return to_host(result)


class GraphOnHost:
    """A graph of cuDF frames that is given pandas frames, and whose results are :class:`OnHost`."""

    def __init__(self, graph):
        self.graph = graph

    def __repr__(self):
        return repr(self.graph)

    def __getattr__(self, name):
        if name.startswith("__"):  # Python looks for these in a copy that has no graph yet
            raise AttributeError(name)
        found = getattr(self.graph, name)
        return _calling(found) if callable(found) else found


def on_backend(data):
    """Return an array, a frame or a collection on the backend of --backend; return other objects unchanged.

    Call it only in tests, not in functions that run on workers, which do not know the option.
    """
    if isinstance(data, OnHost):
        return data.collection
    if isinstance(data, GraphOnHost):
        return data.graph
    if BACKEND.name == "pandas":
        return data
    if isinstance(data, np.ndarray):
        import cupy

        return cupy.asarray(data)
    if isinstance(data, dd.DataFrame | dd.Series):
        there = type(data._meta).__module__.startswith("cudf")
        return data if there else data.to_backend("cudf")
    if isinstance(data, pd.DataFrame | pd.Series):
        import cudf

        return cudf.from_pandas(data)
    return data


def astray(data):
    """Return the bytes of data, writable, one byte behind a multiple of all items' sizes."""
    room = np.zeros(memoryview(data).nbytes + 65, np.uint8)
    first = -room.ctypes.data % 64 + 1
    room[first : first + memoryview(data).nbytes] = np.frombuffer(data, np.uint8)
    return room[first : first + memoryview(data).nbytes].data


def to_host(data):
    """Return the result of :func:`on_backend`, or a value computed from it, in host memory."""
    if not hasattr(data, "to_pandas"):
        return data.get() if type(data).__module__.startswith("cupy") else data
    found = data.to_pandas()
    if isinstance(found, pd.DataFrame):
        for name in found.columns:
            found[name] = to_host(data[name]).array
    elif isinstance(found, pd.Series):
        # cuDF has one type for integers with and without nulls, and pandas has two.
        if data.dtype.kind in "iub" and data.isna().any():
            return data.to_pandas(nullable=True)
        # It remembers which type of text of pandas it was given, because Dask on cuDF has another one.
        if isinstance(found.dtype, pd.StringDtype):
            return found.astype("str")
    return found


def on_host(result):
    """Return the result of a call on frames of the tested backend as pandas frames."""
    if BACKEND.name == "pandas":
        return result
    if isinstance(result, tuple):
        found, steps = result  # which are few, and pandas' for every backend
        return on_host(found), steps
    if isinstance(result, Graph):
        return GraphOnHost(result)
    return OnHost(result) if isinstance(result, dd.DataFrame) else result


def computed(*results):
    """Compute several lazy results together, and return them."""
    return [to_host(found) for found in dask.compute(*map(on_backend, results))]


def same_dtypes(*dtypes):
    """Return whether all dtypes are the same.

    A GPU has one dtype for text, and one for each type of number.
    """
    if BACKEND.name == "cudf":
        dtypes = [
            "text" if pd.api.types.is_string_dtype(dtype) else getattr(dtype, "numpy_dtype", dtype)
            for dtype in dtypes
        ]
    return all(dtype == dtypes[0] for dtype in dtypes)


def is_as_announced(found, result):
    """Return whether a computed frame has the columns and dtypes that the lazy frame announced."""
    pairs = zip(found.dtypes, result.dtypes, strict=True)
    return list(found) == list(result.columns) and all(same_dtypes(*pair) for pair in pairs)


def _calling(function):
    def call(*arguments, **options):
        arguments = map(on_backend, arguments)
        options = {name: on_backend(value) for name, value in options.items()}
        return on_host(function(*arguments, **options))

    return call


@pytest.fixture
def backend(monkeypatch):
    """Make the calls of a test use frames of the backend that --backend names."""
    if BACKEND.name == "pandas":
        return
    for name in ("Graph", "connected_components", "shortest_paths", *ALGORITHMS):
        monkeypatch.setattr(gf, name, _calling(getattr(gf, name)))


def fewer(cases, on_gpu):
    """Return the cases to try.

    Fewer run on a GPU, which takes far longer for small graphs; all run on the host.
    """
    return cases if BACKEND.name == "pandas" else on_gpu


def some_steps(graphs):
    """Return graphs by name.

    On a GPU, paths have fewer edges, because a search takes one superstep per edge.
    """
    return {
        name: pairs[: fewer(None, 60)] if name.startswith("path") else pairs
        for name, pairs in graphs.items()
    }


def most_memory(call):
    """Return the peak of the memory that Python and NumPy take during a call, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def host_only(reason):
    """Skip the rest of a test if the data are on a GPU."""
    if BACKEND.name != "pandas":
        pytest.skip(reason)


@pytest.fixture
def host_memory():
    """Skip a test of a property that only arrays in host memory have."""
    if BACKEND.name != "pandas":
        pytest.skip("about arrays in host memory")


@pytest.fixture
def small_files(monkeypatch, tmp_path):
    """Make files and blocks of graphs on disk tiny, and return the folder of the files."""
    sizes = (disk, "LEAST", 1 << 10), (blocks, "BLOCK", 1 << 10), (make_rows, "PIECE", 1 << 13)
    for size in sizes:
        monkeypatch.setattr(*size)
    with dask.config.set(temporary_directory=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def figures():
    """Draw without a screen; leave no figure open; check that the settings are unchanged."""
    import matplotlib as mpl
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    before = mpl.rcParams.copy()
    yield
    assert mpl.rcParams == before
    pyplot.close("all")


def _start_gpu():
    """Do the work that takes a worker seconds the first time, so that no test waits for it."""
    import cudf

    cudf.DataFrame({"a": [1]}).sort_values("a")


@contextlib.contextmanager
def two_workers(**options):
    """Start a cluster of two processes, or as the options of `LocalCluster` say."""
    settings = {
        # Dask would move partitions under any policy.
        "distributed.scheduler.work-stealing": False,
        # Small slices are sent one by one, next to other messages, as slices of 50 MB would be.
        "distributed.comm.offload": "1kB",
        "distributed.worker.transfer.message-bytes-limit": "1kB",
    }
    with tempfile.TemporaryDirectory() as folder:
        # Stored rates of this machine must not change any test.
        settings["graphflow.calibration.path"] = folder
        with dask.config.set(settings):
            two = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
            cluster = LocalCluster(**two | options)
        try:
            if BACKEND.name == "cudf":
                with Client(cluster, set_as_default=False) as client:
                    client.run(_start_gpu)
            yield cluster
        finally:
            # Dask looks for the name of a worker that was lost before its cluster had listed it.
            with contextlib.suppress(KeyError):
                cluster.close()


@pytest.fixture(scope="session")
def shared_cluster():
    """Return a cluster of two processes; tests ask for `client`."""
    with two_workers() as cluster:
        yield cluster


@pytest.fixture
def client(shared_cluster):
    """Return a client of a cluster that all tests of a process share: leave the workers as they were."""
    with Client(shared_cluster) as client:
        yield client


@pytest.fixture
def mortal():
    """Return the client of a cluster of its own, whose workers a test may change or kill."""
    with two_workers() as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def data():
    """Return the folder of graphs that do not come with the repository, or skip."""
    folder = os.environ.get("GRAPHFLOW_DATA")
    if not folder or not pathlib.Path(folder).is_dir():
        pytest.skip("GRAPHFLOW_DATA names no folder of graphs")
    return pathlib.Path(folder)


@pytest.fixture(params=["sync", "threads"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield request.param


@pytest.fixture
def one_thread():
    """Compute in the thread of the test, one task after the other."""
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def debian():
    return EXAMPLES / "debian12_deps.parquet"


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def pytest_generate_tests(metafunc):
    """Let a test with `members`, the number of members of its graphs, run on 1, 2 and 3 of them.

    Two members are a slow case, because the middle one of three members does everything that one of two
    does, and more.
    """
    marks = metafunc.definition.iter_markers("parametrize")
    chosen = any("members" in re.split(r"\W+", str(mark.args[0])) for mark in marks)
    if "members" in metafunc.fixturenames and not chosen:
        counts = [1, pytest.param(2, marks=pytest.mark.slow), 3]
        metafunc.parametrize("members", counts, ids="{} members".format)


@pytest.fixture
def built(backend, members, monkeypatch):
    """Return a function that builds a graph of pairs, or of a frame, on 1, 2 and 3 members.

    Its results are pandas frames on each --backend. The column w of a frame has the weights. Shards are
    cut at multiples of 64 vertices instead of 4096, so that members share small graphs too.
    """
    monkeypatch.setattr(partition, "GRAIN", 64)

    def make(edges, *, partitions=2 * members, **options):
        edges = edges if isinstance(edges, pd.DataFrame) else frame(edges)
        options = {"weight": "w" if "w" in edges else None, "shards": members} | options
        edges = partitioned(edges, partitions)
        return gf.Graph(edges, source="a", target="b", **options).persist()

    return make


GRAPHS = {
    "empty": [],
    "one edge": [(3, 1)],
    "self-loop": [(4, 4)],
    "all ids equal": [(2, 2)] * 9,
    "duplicates": [(1, 2)] * 5 + [(4, 3)] * 5,
    "reversed duplicates": [(1, 2), (2, 1), (5, 4), (4, 5)],
    "star": [(50, i) for i in range(50)],
    "path": [(i, i + 1) for i in range(300)],
    "path backwards": [(i + 1, i) for i in reversed(range(300))],
    "two triangles": [(0, 1), (1, 2), (2, 0), (7, 8), (8, 9), (9, 7)],
    "late bridge": [(i, i + 100) for i in range(100)] + [(i, i + 1) for i in range(99)],
    "isolated by loops": [(0, 1), (5, 5), (9, 9), (1, 3)],
}


@pytest.fixture(params=GRAPHS, ids=str)
def graph(request):
    return some_steps(GRAPHS)[request.param]


@pytest.fixture(
    params=itertools.product(nx_graphs.TYPES, nx_graphs.NODES),
    ids=lambda pair: f"{pair[0].__name__}-{pair[1]}",
)
def nx_graph(request):
    """Return a random graph of NetworkX, of each type and with each kind of nodes."""
    kind, nodes = request.param
    return nx_graphs.random_graph(kind, nx_graphs.NODES[nodes], seed=len(nodes))
