"""Scanpy: the clusters of cells.

:func:`leiden` takes the arguments of ``scanpy.tl.leiden``, and writes the same fields of an AnnData object.
It uses neither Scanpy nor igraph. The clusters are the same in each run and for every number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from dask.typing import no_default

from dask_graphflow.api.graph import Graph
from dask_graphflow.declarations.number_options import Number, check_count
from dask_graphflow.exceptions import OptionError
from dask_graphflow.showing.arguments import explained
from dask_graphflow.showing.suggestions import nearest

__all__ = ["leiden"]


@explained
def leiden(
    adata: Any,
    resolution: float = 1.0,
    *,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: int = 0,
    key_added: str = "leiden",
    adjacency: Any = None,
    directed: bool | None = None,
    use_weights: bool = True,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
) -> Any:
    """Cluster cells by the Leiden method, with the arguments and the results of ``scanpy.tl.leiden``.

    Call ``scanpy.pp.neighbors`` before. The clusters maximize modularity, as those of Scanpy do, but they
    are not the same ones. They are the same in each run and for every number of threads.

    Parameters
    ----------
    adata : anndata.AnnData
        The cells. Their graph is ``adata.obsp["connectivities"]`` unless another one is given.
    resolution : float
        Larger values give more clusters; 1.0 by default.
    restrict_to : tuple of str and sequence of str, optional
        The name of a categorical column of ``adata.obs``, and some of its categories. Only cells of these
        categories are clustered, and all others keep their category. The new column is then called
        "leiden_R" unless `key_added` has another name.
    random_state : int
        Chooses among several good solutions; 0 by default.
    key_added : str
        The column of ``adata.obs`` and the entry of ``adata.uns`` to write; "leiden" by default.
    adjacency : sparse matrix, optional
        The graph: one row and one column per cell. Entries of 0 are not edges.
    directed : bool, optional
        Whether to use the directed modularity. By default, only if the matrix is not symmetric. For a
        symmetric matrix, both have the same value.
    use_weights : bool
        Whether the values of the matrix are weights. True by default; otherwise each edge counts once.
    neighbors_key : str, optional
        The entry of ``adata.uns`` that names the graph, if ``scanpy.pp.neighbors`` was called with
        `key_added`.
    obsp : str, optional
        The entry of ``adata.obsp`` that is the graph.
    copy : bool
        Whether to return a copy of `adata` with the clusters. By default, `adata` is changed.

    Returns
    -------
    anndata.AnnData or None
        The copy, or None. It has the clusters in ``obs[key_added]``, a categorical column: "0" is the
        cluster with most cells, and of two clusters of one size, the one with the first cell comes first.
        ``uns[key_added]["params"]`` has `resolution` and `random_state`.

    Raises
    ------
    OptionError
        An argument has a value that is not allowed, or names an entry that `adata` does not have.
    ArgumentError
        The function does not have an argument, such as Scanpy's `flavor`, `n_iterations` and
        `partition_type`.
    EdgeListError, WeightError
        The matrix is not square, or has a weight that is negative or NaN.

    Examples
    --------
    >>> import dask_graphflow as gf
    >>> import scanpy as sc  # doctest: +SKIP
    >>> adata = sc.datasets.pbmc68k_reduced()  # doctest: +SKIP
    >>> gf.integrations.scanpy.leiden(adata, resolution=0.5)  # doctest: +SKIP
    >>> adata.obs["leiden"].cat.categories  # doctest: +SKIP
    Index(['0', '1', '2', '3', '4', '5'], dtype='str')
    """
    if not hasattr(adata, "obsp"):
        raise OptionError(f"adata is a {type(adata).__name__}; give an AnnData object")
    Number(above=0, finite=True).check("resolution", resolution, None)
    check_count("random_state", random_state, least=0)
    graph = _graph(adata, {"adjacency": adjacency, "obsp": obsp, "neighbors_key": neighbors_key})
    adata = adata.copy() if copy else adata
    inside = np.ones(adata.n_obs, bool)
    if restrict_to is not None:
        inside = _inside(adata.obs, *restrict_to)
        graph = graph[inside][:, inside]
        key_added = "leiden_R" if key_added == "leiden" else key_added
    weight = no_default if use_weights else None
    communities = Graph(graph, directed=directed, weight=weight).leiden(
        resolution=float(resolution), seed=random_state
    )
    numbers = _by_size(communities.compute()["community"].to_numpy()).astype(str)
    if restrict_to is None:
        names, categories = numbers, [str(number) for number in range(len({*numbers}))]
    else:
        from natsort import natsorted  # AnnData needs it too

        key, chosen = restrict_to
        names = adata.obs[key].to_numpy(dtype=object)
        names[inside] = [f"{'-'.join(chosen)},{number}" for number in numbers]
        categories = natsorted(pd.unique(names[pd.notna(names)]))
    adata.obs[key_added] = pd.Categorical(names, categories=categories)
    adata.uns[key_added] = {"params": {"resolution": resolution, "random_state": random_state}}
    return adata if copy else None


def _graph(adata: Any, given: dict[str, Any]) -> Any:
    """Return the matrix that the arguments name, in rows and without zeros."""
    given = {option: value for option, value in given.items() if value is not None}
    if len(given) > 1:
        raise OptionError(
            f"{' and '.join(given)} both say which graph to cluster; give one of them"
        )
    if "adjacency" in given:
        graph = given["adjacency"]
        if not hasattr(graph, "tocsr") or graph.shape != (adata.n_obs, adata.n_obs):
            raise OptionError(
                f"adjacency is a {type(graph).__name__} of shape {getattr(graph, 'shape', '?')}; give a "
                f"sparse matrix of SciPy with {adata.n_obs} rows and columns, one per cell"
            )
    else:
        name = given.get("obsp") or _connectivities(adata, given.get("neighbors_key"))
        graph = adata.obsp[_known("obsp", name, adata.obsp, "adata.obsp")]
    graph = graph.tocsr(copy=True)
    graph.eliminate_zeros()
    return graph


def _connectivities(adata: Any, neighbors_key: str | None) -> str:
    """Return the entry of ``adata.obsp`` that ``scanpy.pp.neighbors`` wrote."""
    if neighbors_key is not None:
        _known("neighbors_key", neighbors_key, adata.uns, "adata.uns")
    entry = adata.uns.get(neighbors_key or "neighbors", {})
    return str(entry.get("connectivities_key", "connectivities"))


def _inside(obs: pd.DataFrame, key: str, chosen: Sequence[str]) -> np.ndarray[Any, Any]:
    """Return for each cell whether it is in one of the categories of a column."""
    _known("restrict_to", key, obs.columns, "adata.obs")
    if not isinstance(obs[key].dtype, pd.CategoricalDtype):
        raise OptionError(
            f"restrict_to names the column {key!r}, which has dtype {obs[key].dtype}; give a categorical "
            f"column. adata.obs[{key!r}].astype('category') makes one"
        )
    for one in chosen:
        _known("restrict_to", one, obs[key].cat.categories, f"adata.obs[{key!r}]")
    return obs[key].isin(chosen).to_numpy()


def _known(option: str, name: str, entries: Iterable[str], where: str) -> str:
    """Return a name that is one of some entries, or raise."""
    if name in entries:
        return name
    have = ", ".join(map(repr, entries)) or "no entries"
    graph = ". scanpy.pp.neighbors(adata) makes a graph" if where == "adata.obsp" else ""
    raise OptionError(
        f"{option}: {where} does not have {name!r}, but {have}{graph}{nearest(name, entries)}"
    )


def _by_size(labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the number of each cell's cluster, from 0 for the largest. Labels are the first cells."""
    first, group, size = np.unique(labels, return_inverse=True, return_counts=True)
    number = np.empty(len(first), np.int64)
    number[np.lexsort((first, -size))] = np.arange(len(first))
    return number[group]
