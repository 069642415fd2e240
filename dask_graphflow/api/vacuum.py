"""Deleting the versions of a saved graph that are no longer needed."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from dask_graphflow.declarations.number_options import Count
from dask_graphflow.exceptions import OutputError
from dask_graphflow.showing.arguments import explained
from dask_graphflow.storage.folders import Folder
from dask_graphflow.storage.versions import delete_unneeded


@explained
def vacuum(
    path: str | PathLike[str],
    *,
    keep: int = 1,
    storage_options: Mapping[str, Any] | None = None,
) -> list[str]:
    """Delete the files of a saved graph that its newest versions do not need.

    The versions before the last one that is stored as a whole can be deleted, and so can what writers left
    that did not end. Call it while nobody uses the older versions, and nobody adds one.

    Parameters
    ----------
    path : str or path
        The folder of the saved graph: a local path, or a URL of any file system of fsspec.
    keep : int
        How many versions can still be loaded afterwards, at least; 1 by default. Older ones that share
        files with them can be loaded, too, and so can the version before, so that results follow from it.
    storage_options : dict, optional
        Options of the file system, as for ``dask.dataframe.read_parquet``.

    Returns
    -------
    list of str
        The names of the files and folders that were deleted.

    Raises
    ------
    InputFileError
        The folder is not a saved graph, or files of it are damaged.
    OutputError
        A file cannot be deleted.
    OptionError
        Another option is invalid.

    Examples
    --------
    >>> import tempfile
    >>> import dask_graphflow as gf
    >>> folder = tempfile.TemporaryDirectory()
    >>> gf.Graph(gf.generate.path(4), source="src", target="dst").save(folder.name)
    >>> longer = gf.load_graph(folder.name).update(insert=[(4, 5), (5, 6)])
    >>> longer.save(folder.name, append=True)  # many edges are new: it is stored as a whole
    >>> shorter = gf.load_graph(folder.name).update(delete=[(5, 6)])
    >>> shorter.save(folder.name, append=True)
    >>> "vertices-0-4.arrow" in gf.vacuum(folder.name)
    True
    >>> gf.load_graph(folder.name).num_edges
    4
    >>> folder.cleanup()
    """
    Count().check("keep", keep, None)
    folder = Folder.of(path, storage_options, OutputError)
    return delete_unneeded(folder, keep)
