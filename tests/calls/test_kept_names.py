"""Components that keep the names of a seed: the same components, and no name changes without a merge."""

from __future__ import annotations

import random
import uuid

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from conftest import ENDS, Reader, as_dict, frame, is_as_announced, oracle, partitioned

import dask_graphflow as gf
from dask_graphflow.exceptions import OptionError
from dask_graphflow.plot.plan import _find_reduction

pytestmark = pytest.mark.usefixtures("backend")

STABLE = {**ENDS, "ids": "stable"}
KINDS = {"int64": int, "uint8": int, "str": lambda v: f"v{v}", "string[pyarrow]": lambda v: f"v{v}"}


def keep(names, pairs, seen):
    """Return {vertex: name} of all components, with the names that earlier ones had."""
    found = oracle(pairs, seen)
    kept = {}
    for v, name in names.items():
        kept[found[v]] = min(name, kept.get(found[v], name))
    return {v: kept.get(smallest, smallest) for v, smallest in found.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("partitions", [1, 4])
def test_names_are_kept_day_by_day(kind, partitions, scheduler):
    rng, make = random.Random(kind), KINDS[kind]
    names, pairs, seed = {}, [], None
    for day in range(4):
        # Later days have smaller ids too.
        ids = range(120 - 30 * day, 240)
        new = [(make(rng.choice(ids)), make(rng.choice(ids))) for _ in range(25)]
        pairs += new
        edges = partitioned(frame(new, kind), partitions)
        result = gf.connected_components(edges, **STABLE, seed=seed)
        found = result.compute()
        names = keep(names, pairs, ())
        assert as_dict(found) == names
        assert is_as_announced(found, result)
        seed = found if day % 2 else partitioned(found, 3)


def test_names_are_kept_at_each_threshold():
    then = pd.DataFrame({"a": [5, 6, 8], "b": [6, 7, 9], "w": [0.9, 0.5, 0.9]})
    now = pd.DataFrame({"a": [1, 7], "b": [5, 8], "w": [0.9, 0.5]})
    options = {**STABLE, "weight": "w", "thresholds": [0.5, 0.9]}
    seed = gf.connected_components(then, **options).compute()
    found = gf.connected_components(now, **options, seed=seed).compute()
    assert found["vertex"].tolist() == [1, 5, 6, 7, 8, 9]
    assert found["component_0.5"].tolist() == [5] * 6
    assert found["component_0.9"].tolist() == [5, 5, 5, 7, 8, 8]


def test_names_of_several_columns_are_kept():
    ends = {"source": ["a", "b"], "target": ["c", "d"], "ids": "stable"}
    then = pd.DataFrame({"a": ["m"], "b": [2], "c": ["m"], "d": [3]})
    now = pd.DataFrame({"a": ["a", "x"], "b": [9, 1], "c": ["m", "y"], "d": [3, 1]})
    seed = gf.connected_components(then, **ends)
    found = gf.connected_components(now, **ends, seed=seed.compute()).compute()
    assert [*zip(found["component_0"], found["component_1"], strict=True)] == [("m", 2)] * 3 + [
        ("x", 1)
    ] * 2


def test_a_new_record_in_each_cluster_renames_none():
    rng = random.Random(1)
    old = [tuple(str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(2)) for _ in range(300)]
    new = [(a, str(uuid.UUID(int=rng.getrandbits(128)))) for a, _ in old]
    seed = gf.connected_components(frame(old, "str"), **ENDS).compute()

    def renamed(**options):
        labels = gf.connected_components(frame(new, "str"), **ENDS, seed=seed, **options).compute()
        both = seed.merge(labels, on="vertex", suffixes=("_old", "_new"))
        return both[both["component_old"] != both["component_new"]]["component_old"].nunique()

    assert renamed() == 107
    assert renamed(ids="stable") == 0


def test_progress_is_reported_once_per_part():
    seen = []
    edges = partitioned(frame([(1, 2), (3, 4)]), 2)
    seed = gf.connected_components(frame([(2, 3)]), **ENDS).compute()
    labels = gf.connected_components(edges, **STABLE, seed=seed, progress=seen.append)
    with dask.config.set(scheduler="sync"):
        labels.compute()
    assert seen[-1]["done"] == seen[-1]["total"] == len(seen)


def test_edges_are_read_once_and_the_plan_can_be_drawn():
    rows = frame([(1, 5), (2, 6), (3, 4)])
    reader = Reader([rows[:1], rows[1:2], rows[2:]])
    edges = dd.from_map(reader, range(3), meta=rows[:0])
    seed = gf.connected_components(frame([(5, 6), (8, 9)]), **ENDS).compute()
    labels = gf.connected_components(edges, **STABLE, seed=seed)
    assert _find_reduction(labels).npartitions == labels.npartitions
    with dask.config.set(scheduler="sync"):
        assert as_dict(labels.compute()) == {1: 5, 2: 5, 3: 3, 4: 3, 5: 5, 6: 5, 8: 8, 9: 8}
    assert sorted(reader.read) == [0, 1, 2]


def test_other_ways_to_name_components_are_refused():
    with pytest.raises(OptionError, match=r"^ids='oldest'; give 'smallest', 'stable'"):
        gf.connected_components(frame([(1, 2)]), **ENDS, ids="oldest")
