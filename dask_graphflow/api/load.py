"""Loading of saved graphs."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

from dask_graphflow.calls import saving
from dask_graphflow.declarations.number_options import Count
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.showing.arguments import explained

from .graph import Graph
from .member_plan import shard_count


@explained
def load_graph(
    path: str | PathLike[str],
    *,
    version: int | None = None,
    verify: bool = False,
    shards: int | None = None,
    backend: Literal["pandas", "cudf"] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Graph:
    """Return a graph that :meth:`Graph.save` saved.

    Nothing is built or sorted. Files in a local folder are mapped into memory. They are read once, to check
    them, when they are first used; the operating system can drop their pages, and reads them again.

    Parameters
    ----------
    path : str or path
        The folder: a local path, or a URL of any file system of fsspec, such as ``s3://bucket/graph``. On a
        cluster, all workers and this process must reach it.
    version : int, optional
        The number of a version: 0 is the graph that was saved first, and :meth:`Graph.save` with `append`
        adds the next ones. By default the newest.
    verify : bool
        Whether this call reads all files and checks every byte of them. By default, each process checks the
        parts of the files that it uses, when it first uses them. False by default.
    shards : int, optional
        Number of parts into which the graph is split; see :class:`Graph`. It may differ from the number of
        the saved graph, and does not change the results.
    backend : {"pandas", "cudf"}, optional
        Where the graph is: in host memory, with results in pandas frames, or in GPU memory, with results in
        cuDF frames. By default, the configuration ``dataframe.backend`` of Dask decides, which is "pandas"
        unless it was set. It does not have to be the backend of the saved graph.
    storage_options : dict, optional
        Options of the file system, as for ``dask.dataframe.read_parquet``.

    Returns
    -------
    Graph
        The graph is lazy: each computation opens the files again. ``persist()`` opens them once and keeps
        what algorithms derive from the edges. The numbers of vertices and edges are known at once.

    Raises
    ------
    InputFileError
        The folder is not a saved graph or lacks the version, saving it was not finished, files of it are
        missing or damaged, or a newer version of this library saved it. A damaged file is noticed by the
        first computation that uses it; with `verify`, by this call. So is a folder that was replaced after
        the graph was loaded.
    BackendError
        `backend` is "cudf", and this process has no GPU or no cuDF.
    OptionError
        Another option is invalid.

    Notes
    -----
    The manifest has a checksum of each 4 MiB of the files. A process compares the checksums of a local file
    once, and again if its time of change, its size or its inode differs. Files must not
    be changed while a graph that uses them is persisted. Graphs that were saved in version 1 of the format
    have no checksums, so only numbers that are used as indices are checked. Save such a graph again to get
    checksums.

    If the graph is loaded into as many shards as it was saved from, or was saved from one shard, the arrays
    of the edges are views of the mapped files. Otherwise, a shard that needs parts of several files copies
    these parts into one array. Mapped pages are let go before they take more than a quarter
    of the memory limit of the worker, so the edges may be larger than memory.

    Examples
    --------
    >>> import tempfile
    >>> import dask_graphflow as gf
    >>> folder = tempfile.TemporaryDirectory()
    >>> gf.Graph(gf.generate.path(4), source="src", target="dst").save(folder.name)
    >>> gf.load_graph(folder.name).bfs([0]).compute().distance.tolist()
    [0, 1, 2, 3]
    >>> folder.cleanup()
    """
    Flag().check("verify", verify, None)
    if backend is not None:
        Choice(("pandas", "cudf")).check("backend", backend, None)
    if version is not None:
        Count(0).check("version", version, None)
    saved = saving.read(path, storage_options, backend, version=version, verify=verify)
    graph = Graph.__new__(Graph)
    graph._take(saved.shards(*shard_count(saved.size, shards)))
    return graph
