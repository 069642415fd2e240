"""`integrations.scanpy.leiden` beside `scanpy.tl.leiden`: the fields, and the quality of the clusters."""

from __future__ import annotations

import dask
import numpy as np
import pandas as pd
import pytest

import dask_graphflow as gf

sc = pytest.importorskip("scanpy")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the real libraries
leiden = gf.integrations.scanpy.leiden
IGRAPH = {"flavor": "igraph", "n_iterations": 2, "directed": False}


@pytest.fixture(scope="module")
def read_only():
    return sc.datasets.pbmc68k_reduced()


@pytest.fixture
def adata(read_only):
    return read_only.copy()


def modularity(graph, labels, resolution=1.0):
    """Return the modularity of clusters of an undirected graph, by its definition."""
    entries, total = graph.tocoo(), graph.sum()
    _, labels = np.unique(np.asarray(labels), return_inverse=True)
    inside = entries.data[labels[entries.row] == labels[entries.col]].sum()
    degrees = np.bincount(labels, np.asarray(graph.sum(axis=1)).ravel())
    return inside / total - resolution * (degrees**2).sum() / total**2


@pytest.mark.parametrize("resolution", [0.3, 1, 3.0])
def test_the_clusters_are_as_good_as_those_of_igraph(adata, resolution):
    leiden(adata, resolution)
    sc.tl.leiden(adata, resolution, key_added="theirs", **IGRAPH)
    graph = adata.obsp["connectivities"].astype("float64")
    ours, theirs = (modularity(graph, adata.obs[one], resolution) for one in ("leiden", "theirs"))
    assert ours > 0.99 * theirs


def test_the_fields_are_those_of_scanpy(adata):
    leiden(adata, resolution=0.5, random_state=3, key_added="ours")
    sc.tl.leiden(adata, resolution=0.5, random_state=3, key_added="theirs", **IGRAPH)
    ours, theirs = adata.obs["ours"], adata.obs["theirs"]
    assert type(ours.dtype) is type(theirs.dtype)
    assert ours.cat.categories.dtype == theirs.cat.categories.dtype
    assert [*ours.cat.categories] == [str(number) for number in range(ours.nunique())]
    sizes = ours.value_counts(sort=False)
    assert sizes.is_monotonic_decreasing
    theirs = adata.uns["theirs"]["params"]
    assert adata.uns["ours"]["params"] == {
        name: theirs[name] for name in ("resolution", "random_state")
    }


def test_other_functions_of_scanpy_take_the_clusters(adata):
    leiden(adata)
    sc.tl.paga(adata, groups="leiden")
    sc.tl.rank_genes_groups(adata, "leiden", use_raw=False)
    assert adata.uns["paga"]["connectivities"].shape[0] == adata.obs["leiden"].nunique()


@pytest.mark.parametrize("key", ["leiden", "finer"])
def test_restrict_to_divides_some_clusters_and_keeps_all_others(adata, key):
    leiden(adata, resolution=0.5)
    before = adata.obs["leiden"].copy()
    restricted = ("leiden", ["0", "2"])
    leiden(adata, restrict_to=restricted, key_added=key)
    sc.tl.leiden(adata, restrict_to=restricted, key_added="theirs", **IGRAPH)
    found = adata.obs["leiden_R" if key == "leiden" else key]
    inside = before.isin(["0", "2"])
    assert (found[~inside].astype(str) == before[~inside].astype(str)).all()
    assert found[inside].str.startswith("0-2,").all()
    assert [*found.cat.categories[:2]] == [*adata.obs["theirs"].cat.categories[:2]]
    part = adata[inside].copy()
    leiden(part)
    assert (found[inside].str.removeprefix("0-2,") == part.obs["leiden"].astype(str)).all()


def test_each_way_to_name_the_graph_gives_its_clusters(adata):
    graph = adata.obsp["connectivities"]
    del adata.uns["neighbors"]
    leiden(adata)
    sc.pp.neighbors(adata, n_neighbors=30, key_added="wide")
    wide = adata.obsp["wide_connectivities"]
    leiden(adata, adjacency=wide, key_added="by_matrix")
    leiden(adata, obsp="wide_connectivities", key_added="by_name")
    leiden(adata, neighbors_key="wide", key_added="by_key")
    found = adata.obs
    assert found["by_matrix"].equals(found["by_name"])
    assert found["by_name"].equals(found["by_key"])
    assert not found["by_key"].equals(found["leiden"])
    assert modularity(graph, found["leiden"]) > modularity(graph, found["by_key"])


def test_without_weights_each_edge_counts_once_and_zeros_are_no_edges(adata):
    ones = adata.obsp["connectivities"].copy()
    ones.data[:] = 1
    leiden(adata, use_weights=False)
    leiden(adata, adjacency=ones, key_added="ones")
    zeros = ones.tolil()
    zeros[0, 699] = zeros[699, 0] = 1
    zeros = zeros.tocsr()
    zeros[0, 699] = zeros[699, 0] = 0
    assert zeros.nnz > ones.nnz
    leiden(adata, adjacency=zeros, use_weights=False, key_added="zeros")
    assert adata.obs["leiden"].equals(adata.obs["ones"])
    assert adata.obs["leiden"].equals(adata.obs["zeros"])


def test_directions_count_if_the_matrix_is_not_symmetric(adata):
    leiden(adata, obsp="distances")
    leiden(adata, obsp="distances", directed=True, key_added="directed")
    assert adata.obs["leiden"].equals(adata.obs["directed"])
    with pytest.raises(gf.exceptions.EdgeListError, match="neither symmetric"):
        leiden(adata, obsp="distances", directed=False)


def test_a_copy_leaves_the_cells_as_they_were(adata):
    before = [*adata.obs], [*adata.uns]
    changed = leiden(adata, copy=True)
    assert leiden(adata) is None
    assert changed.obs["leiden"].equals(adata.obs["leiden"])
    assert before == ([*changed.obs][:-1], [*changed.uns][:-1])


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_number_of_threads_does_not_matter(adata, threads):
    leiden(adata, key_added="expected")
    with dask.config.set(num_workers=threads):
        leiden(adata)
    assert adata.obs["leiden"].equals(adata.obs["expected"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flavor": "igraph"}, "one implementation"),
        ({"n_iterations": 2}, "ends by itself"),
        ({"partition_type": object}, "objective='cpm'"),
        ({"resolution": None}, "a number that is finite and above 0"),
        ({"random_state": None}, "whole number"),
        ({"obsp": "connectivity"}, "did you mean 'connectivities'"),
        ({"neighbors_key": "wide"}, "adata.uns does not have 'wide'"),
        ({"obsp": "distances", "neighbors_key": "neighbors"}, "give one of them"),
        ({"adjacency": np.eye(700)}, "a sparse matrix of SciPy with 700 rows"),
        ({"restrict_to": ("bulk_label", ["Dendritic"])}, "did you mean 'bulk_labels'"),
        ({"restrict_to": ("bulk_labels", ["Dendritik"])}, "did you mean 'Dendritic'"),
        ({"restrict_to": ("n_genes", ["1"])}, "a categorical column"),
    ],
)
def test_an_argument_that_cannot_be_honored_raises_and_changes_nothing(adata, options, message):
    before = adata.copy()
    with pytest.raises(gf.GraphflowError, match=message):
        leiden(adata, **options)
    pd.testing.assert_frame_equal(adata.obs, before.obs)
    assert adata.uns.keys() == before.uns.keys()


def test_what_is_no_adata_is_refused():
    with pytest.raises(gf.exceptions.OptionError, match="adata is a NoneType; give an AnnData"):
        gf.integrations.scanpy.leiden(None)
