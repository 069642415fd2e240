"""The graph generators: lazy, the same for every partitioning, with the specified distribution."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dask_graphflow.exceptions import OptionError
from dask_graphflow.inputs import generate

SCALE = 12
EDGES = 16 << SCALE  # four tiles


@pytest.fixture(scope="module")
def edges():
    return generate.rmat(SCALE, seed=5, npartitions=1).compute()


@pytest.mark.parametrize("npartitions", [2, 3, 7, 64])
def test_rmat_is_the_same_for_every_number_of_partitions(edges, npartitions):
    lazy = generate.rmat(SCALE, seed=5, npartitions=npartitions)
    assert lazy.npartitions == npartitions
    pd.testing.assert_frame_equal(lazy.compute(), edges)


def test_one_partition_of_rmat_can_be_computed_alone(edges):
    lazy = generate.rmat(SCALE, seed=5, npartitions=7)
    third = lazy.partitions[3].compute()
    pd.testing.assert_frame_equal(third, edges.loc[third.index])


def test_rmat_seeds_and_scales_give_other_graphs(edges):
    assert not generate.rmat(SCALE, seed=6).compute().equals(edges)
    assert len(generate.rmat(5, edge_factor=3).compute()) == 3 << 5


@pytest.mark.parametrize("scale", [1, 2, 7, 8])
def test_rmat_ids_are_below_two_to_the_scale_and_fill_the_dtype_asked_for(scale):
    made = generate.rmat(scale, dtype="uint8").compute()
    assert made.dtypes.tolist() == ["uint8", "uint8"]
    assert made.to_numpy().max() < 1 << scale


def test_rmat_has_a_few_large_degrees_and_isolated_vertices(edges):
    degrees = np.bincount(edges.to_numpy().ravel(), minlength=1 << SCALE)
    assert degrees.max() > 20 * degrees.mean()
    assert (degrees == 0).mean() > 0.1


def test_quadrants_have_graph500s_chances_in_the_table():
    table = generate._quadrant_table()
    src, dst = table >> np.uint64(32), table & np.uint64(3)
    assert len(table) == 1 << 16
    for bit in (0, 1):
        quadrant = (src >> np.uint64(bit) & np.uint64(1)) * 2 + (
            dst >> np.uint64(bit) & np.uint64(1)
        )
        chances = np.bincount(quadrant.astype(int)) / len(table)
        assert np.abs(chances - generate.QUADRANTS).max() < 1e-4


@pytest.mark.parametrize("scale", range(1, 17))
def test_scramble_is_a_permutation(scale):
    keys = generate._scramble_keys(np.random.SeedSequence(scale), scale)
    ids = np.arange(1 << scale, dtype=np.uint32)
    scrambled = generate._scramble_ids(ids, keys, scale)
    assert (np.sort(scrambled) == ids).all()


@pytest.mark.parametrize("npartitions", [1, 2, 5, 40])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 6), (6, 1), (4, 5)])
def test_a_grid_joins_neighbors(rows, columns, npartitions):
    made = generate.grid(rows, columns, npartitions=npartitions, dtype="int32").compute()
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    expected = {
        (r * columns + c, q * columns + d)
        for r, c in cells
        for q, d in ((r, c + 1), (r + 1, c))
        if (q, d) in cells
    }
    assert made.dtypes.tolist() == ["int32", "int32"]
    assert len(made) == len(expected)
    assert set(made.itertuples(index=False, name=None)) == expected


def test_path_is_a_path():
    made = generate.path(1000, npartitions=3).compute()
    assert made["src"].tolist() == list(range(999))
    assert made["dst"].tolist() == list(range(1, 1000))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: generate.rmat(33), ["scale=33", "1 to 32"]),
        (lambda: generate.rmat(2.5), ["scale=2.5", "whole number"]),
        (lambda: generate.rmat(4, seed=-1), ["seed=-1", "at least 0"]),
        (lambda: generate.rmat(4, npartitions=0), ["npartitions=0"]),
        (lambda: generate.rmat(9, dtype="uint8"), ["uint8", "511", "int64"]),
        (lambda: generate.grid(4, 4, dtype="float64"), ["float64", "int64"]),
        (lambda: generate.path(0), ["n=0", "at least 1"]),
    ],
)
def test_bad_arguments_are_named(make, words):
    with pytest.raises(OptionError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
