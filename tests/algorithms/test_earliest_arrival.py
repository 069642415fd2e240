"""Earliest arrivals: as by brute force, with times of every type, and the same on any number of members."""

from __future__ import annotations

from random import Random

import numpy as np
import pandas as pd
import pytest
from conftest import GRAPHS, frame, partitioned, to_host
from oracles import confirm
from oracles.journeys import timed
from oracles.verify import network_of

import dask_graphflow as gf
from dask_graphflow.exceptions import (
    EdgeListError,
    NullVertexError,
    OptionError,
    UnknownColumnError,
    UnknownVertexError,
)

pytestmark = pytest.mark.usefixtures("backend")
ENDS = {"source": "a", "target": "b"}
COLUMNS = {"departure": "leaves", "arrival": "arrives"}


def table(rows):
    return pd.DataFrame(rows, columns=["a", "b", "leaves", "arrives"]).astype("int64")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("directed", [True, False])
def test_arrivals_are_those_of_brute_force(built, graph, directed, reverse):
    network = network_of(graph, directed)
    g = built(graph, directed=directed)
    for seed in range(3):
        rng = Random(seed)
        rows = timed(rng, network)
        sources = rng.choices(network.vertices, k=2) if network.vertices else []
        if not sources:
            continue
        options = {
            "sources": sources,
            "reverse": reverse,
            "start": rng.choice([None, 2]),
            **COLUMNS,
        }
        timetable = partitioned(table(rows), 1 + seed)
        found = g.earliest_arrival(timetable=timetable, **options).compute()
        options["timetable"] = rows
        confirm("earliest_arrival", found, graph, options, directed=directed)


def test_edges_without_duration_follow_each_other_at_the_same_time(built):
    rows = [(4, 5, 7, 7), (3, 4, 7, 7), (1, 3, 7, 7), (5, 6, 7, 9), (1, 2, 3, 7), (2, 4, 7, 7)]
    g, options = built([row[:2] for row in rows]), {"sources": [1], "start": 2, **COLUMNS}
    found = g.earliest_arrival(timetable=table(rows), **options).compute()
    confirm("earliest_arrival", found, [row[:2] for row in rows], options | {"timetable": rows})
    # Both 2 and 3 are reached at 7, but no edge without duration leads to 2.
    assert found["predecessor"].tolist()[1:] == [1, 1, 2, 4, 5]
    contacts = g.earliest_arrival([1], departure="leaves", timetable=table(rows)).compute()
    options = {"sources": [1], "departure": "leaves", "timetable": rows}
    confirm("earliest_arrival", contacts, [row[:2] for row in rows], options)


def test_parallel_edges_stay_apart(backend):
    rows = [(1, 2, 1, 9), (1, 2, 4, 6), (1, 2, 5, 6), (1, 2, 7, 8), (2, 3, 6, 7), (2, 3, 5, 6)]
    edges = table(rows)
    for order in (slice(None), slice(None, None, -1)):
        found = gf.earliest_arrival(edges[order], **ENDS, **COLUMNS, sources=1).compute()
        assert found.to_numpy("float64", na_value=-1).tolist() == [
            [1, 1, -1, 1], [2, 6, 1, 5], [3, 7, 2, 6],
        ]  # fmt: skip


STARTED = pd.Timestamp("2026-03-01 06:00:00")
UNITS = {"leaves": "datetime64[s]", "arrives": "datetime64[ms]"}


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("kind", ["naive", "zone", "arrow", "nullable"])
def test_times_have_their_own_type(kind, partitions):
    rows = [(1, 2, 60, 120), (2, 3, 120, 180), (2, 4, 119, 121), (1, 4, 100, 500)]
    edges = table(rows)
    expected = gf.earliest_arrival(edges, **ENDS, **COLUMNS, sources=1, start=30).compute()
    if kind == "nullable":
        edges = edges.astype({"leaves": "Int32", "arrives": "int16"})
        start, back = np.int8(30), lambda times: times
    else:
        for name, dtype in UNITS.items():
            edges[name] = (STARTED + pd.to_timedelta(edges[name], unit="s")).astype(dtype)
        start = STARTED + pd.Timedelta(seconds=30)
        if kind == "zone":
            zones = {"leaves": "Europe/Berlin", "arrives": "Asia/Tokyo"}
            for name, zone in zones.items():
                edges[name] = edges[name].dt.tz_localize("UTC").dt.tz_convert(zone)
            start = start.tz_localize("UTC").tz_convert("America/New_York")
        if kind == "arrow":
            edges = edges.convert_dtypes(dtype_backend="pyarrow")
            start = str(start)
        began = STARTED.tz_localize("UTC") if kind == "zone" else STARTED

        def back(times):
            return (times - began) // pd.Timedelta(seconds=1)

    lazy = gf.earliest_arrival(
        partitioned(edges, partitions), **ENDS, **COLUMNS, sources=1, start=start
    )
    found = lazy.compute()
    announced = lazy._meta.dtypes
    for name in ("arrival", "departure"):
        assert found[name].dtype == announced[name]
        assert back(found[name]).tolist() == expected[name].tolist()
    if kind in ("naive", "zone"):
        assert found["arrival"].dt.unit == "ms"
    if kind == "zone":
        assert str(found["arrival"].dt.tz) == "Europe/Berlin"
    durations = edges.assign(takes=edges["arrives"] - edges["leaves"]).drop(columns="arrives")
    found = gf.earliest_arrival(
        durations, **ENDS, departure="leaves", duration="takes", sources=1, start=start
    )
    assert back(found.compute()["arrival"]).tolist() == expected["arrival"].tolist()


def test_ids_of_several_columns_and_of_text(backend):
    rows = table([(1, 2, 60, 120), (2, 3, 120, 180)])
    ids = {c: rows[c].map("v{}".format) for c in "ab"}
    text = rows.assign(**ids)
    found = gf.earliest_arrival(text, **ENDS, **COLUMNS, sources="v1").compute()
    assert found["vertex"].tolist() == ["v1", "v2", "v3"]
    both = text.assign(a2=rows["a"], b2=rows["b"])
    found = gf.earliest_arrival(
        both, source=["a", "a2"], target=["b", "b2"], **COLUMNS, sources=[("v1", 1)]
    ).compute()
    assert found["vertex_1"].tolist() == [1, 2, 3]
    assert found["predecessor_1"].tolist()[1:] == [1, 2]


def test_members_threads_and_order_change_no_bit(built):
    rng = np.random.default_rng(5)
    pairs = rng.integers(0, 300, (3000, 2))
    leaves = rng.integers(0, 200, 3000)
    edges = pd.DataFrame(pairs, columns=["a", "b"]).assign(
        leaves=leaves, arrives=leaves + rng.integers(0, 4, 3000)
    )
    options = {"sources": [int(pairs[0, 0])], **COLUMNS}
    expected = gf.earliest_arrival(edges, **ENDS, **options).compute()
    assert len(expected) > 200
    shuffled = edges.sample(frac=1, random_state=1)
    for timetable in (edges, shuffled, partitioned(shuffled, 4)):
        found = to_host(
            built(edges[["a", "b"]]).earliest_arrival(timetable=timetable, **options).compute()
        )
        pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_dtype=False)


def test_times_at_the_limits_of_integers():
    low, high = -(2**63) + 1, 2**63 - 2
    rows = [(1, 2, low, low + 1), (2, 3, high - 1, high)]
    for reverse, at in ((False, 1), (True, 3)):
        options = {"sources": [at], "reverse": reverse, **COLUMNS}
        found = gf.earliest_arrival(table(rows), **ENDS, **options).compute()
        confirm("earliest_arrival", found, [(1, 2), (2, 3)], options | {"timetable": rows})
    for wrong in (-(2**63), 2**63 - 1):
        with pytest.raises(EdgeListError, match="times lie between"):
            gf.earliest_arrival(
                table([(1, 2, wrong, wrong)]), **ENDS, departure="leaves", sources=1
            ).compute()
    with pytest.raises(EdgeListError, match="add up to more than"):
        gf.earliest_arrival(
            table([(1, 2, high, 2)]), **ENDS, departure="leaves", duration="arrives", sources=1
        ).compute()


GOOD = table([(1, 2, 3, 4), (2, 3, 4, 5)])
STAMPS = GOOD.assign(leaves=pd.Timestamp("2026-01-01"), arrives=pd.Timestamp("2026-01-02"))


@pytest.mark.parametrize(
    ("edges", "options", "error", "match"),
    [
        (GOOD, {"departure": "at"}, UnknownColumnError, "departure='at' is not a column"),
        (GOOD, {"departure": ["leaves"]}, OptionError, "departure is a list; give the name"),
        (GOOD, {"duration": "leaves"}, OptionError, "both given; give the one"),
        (GOOD.astype({"leaves": float}), {}, EdgeListError, "dtype float64; times are integers or"),
        (GOOD.astype({"leaves": str}), {}, EdgeListError, "departure='leaves' has dtype"),
        (STAMPS.assign(arrives=3), {}, EdgeListError, "need the same type"),
        (STAMPS.assign(arrives=3), {"arrival": None, "duration": "arrives"}, EdgeListError,
         "durations that are timedeltas"),
        (GOOD, {"start": 1.5}, OptionError, "start=1.5; .* whole number"),
        (GOOD, {"start": "2026-01-01"}, OptionError, "whole number"),
        (STAMPS, {"start": 5}, OptionError, "give one, such as '2026-03-01 08:00'"),
        (STAMPS, {"start": "soon"}, OptionError, "give one, such as '2026-03-01 08:00'"),
        (STAMPS, {"start": "2026-01-01T00:00Z"}, OptionError, "without a time zone"),
        (STAMPS.astype({"leaves": "datetime64[s]", "arrives": "datetime64[s]"}),
         {"start": "2026-01-01 00:00:00.5"}, OptionError, "cannot hold it; round it"),
    ],
)  # fmt: skip
def test_wrong_columns_and_options_are_refused_at_the_call(edges, options, error, match):
    with pytest.raises(error, match=match):
        gf.earliest_arrival(edges, **ENDS, **{**COLUMNS, "sources": 1, **options})


@pytest.mark.parametrize(
    ("edges", "options", "match"),
    [
        (table([(1, 2, 5, 4), (2, 3, 9, 1)]), {}, "2 edges of 2 arrive before .* row 0"),
        (GOOD.assign(arrives=-1), {"arrival": None, "duration": "arrives"}, "holds 2 negative values"),
        (GOOD.astype("Int64").replace({"leaves": {4: pd.NA}}), {}, "'leaves' has 1 null"),
        (STAMPS.assign(arrives=pd.NaT), {}, "'arrives' has 2 nulls"),
        (GOOD.astype({"leaves": "uint64"}).assign(leaves=np.array([2**63, 1], "uint64")), {},
         "holds 9223372036854775808, but it is read as int64, which cannot hold that"),
        (STAMPS.assign(leaves=np.array(["9999-01-01"] * 2, "datetime64[s]"),
                       arrives=np.array(["2026-01-02"] * 2, "datetime64[ns]")),
         {}, r"read as datetime64\[ns\], .* one unit in all columns"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_when_the_result_is_computed(edges, options, match):
    lazy = gf.earliest_arrival(edges, **ENDS, **{**COLUMNS, "sources": 1, **options})
    with pytest.raises(EdgeListError, match=match):
        lazy.compute()


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_the_example_in_the_error_about_a_start_is_allowed(zone):
    edges = STAMPS.assign(
        **{side: STAMPS[side].dt.tz_localize(zone) for side in ("leaves", "arrives")}
    )
    with pytest.raises(OptionError) as refused:
        gf.earliest_arrival(edges, **ENDS, **COLUMNS, sources=1, start="soon")
    example = str(refused.value).split("'")[-2]
    found = gf.earliest_arrival(edges, **ENDS, **COLUMNS, sources=1, start=example).compute()
    assert found.arrival[0] == pd.Timestamp(example)


def test_a_graph_needs_a_timetable_of_its_vertices(built):
    g = built(GRAPHS["two triangles"])
    with pytest.raises(OptionError, match="a Graph does not keep the times"):
        g.earliest_arrival([0], departure="leaves")
    with pytest.raises(OptionError, match="timetable has 2 columns"):
        g.earliest_arrival([0], departure="leaves", timetable=frame([(0, 1)]))
    with pytest.raises(UnknownVertexError, match="1 of 2 ids is not in the graph: 77"):
        g.earliest_arrival(
            [0], departure="leaves", timetable=table([(0, 1, 3, 4), (77, 2, 3, 4)])
        ).compute()
    with pytest.raises(EdgeListError, match="edges is a list, which has no times"):
        gf.earliest_arrival([(1, 2)], departure="t", sources=1)


def test_edges_with_a_missing_end_can_be_left_out(backend):
    edges = table([(1, 2, 3, 4), (2, 3, 4, 5)]).astype({"b": "Int64"})
    edges.loc[1, "b"] = pd.NA
    call = {**ENDS, **COLUMNS, "sources": 1}
    assert len(gf.earliest_arrival(edges, **call, dropna=True).compute()) == 2
    with pytest.raises(NullVertexError):
        gf.earliest_arrival(edges, **call).compute()
