"""The forms of edges and names of columns that type checkers accept: test_typing.py has mypy check them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

import dask_graphflow as gf


class Exporter:
    """A table of any other library."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise NotImplementedError


def forms(
    lazy: dd.DataFrame,
    relation: duckdb.DuckDBPyRelation,
    pairs: Iterator[tuple[str, str]],
    graph: gf.Graph,
) -> None:
    """Hold one call per form of edges; nobody makes them."""
    frame = pd.DataFrame({"src": [1], "dst": [2]})
    gf.degrees(frame)
    gf.degrees(lazy)
    gf.degrees(pl.DataFrame({"src": [1], "dst": [2]}))
    gf.degrees(pl.LazyFrame({"src": [1], "dst": [2]}))
    gf.degrees(pa.table({"src": [1], "dst": [2]}))
    gf.degrees(relation)
    gf.degrees(Exporter())
    gf.degrees(sp.csr_array((3, 3)))
    gf.degrees(sp.coo_matrix((3, 3)))
    gf.degrees(np.array([[1, 2], [2, 3]]))
    gf.degrees([(1, 2), (2, 3)])
    gf.degrees([[1, 2], [2, 3]])
    gf.degrees({("a", "b")})
    gf.degrees((a, b) for a, b in [(1, 2)])
    gf.degrees(pairs)
    gf.degrees(list(np.array([[1, 2]])))
    gf.degrees(nx.path_graph(3))
    gf.degrees(nx.MultiDiGraph())
    gf.degrees(graph)
    gf.bfs(frame, sources=1, trace=True)
    gf.connected_components([(1, 2)])
    gf.estimate(graph, "pagerank")
    gf.Graph(pl.DataFrame({"src": [1], "dst": [2]}))
    gf.Graph(nx.path_graph(3))
    gf.Graph([(1, 2)])


def names(frame: pd.DataFrame, columns: list[str], untyped: Any) -> None:
    """Hold one call per kind of column names; nobody makes them."""
    gf.degrees(frame, source="a", target="b")
    gf.degrees(frame, source=0, target=np.int64(1))
    gf.degrees(frame, source=("a", "x"), target=("b", "x"))
    gf.degrees(frame, source=columns, target=columns)
    gf.degrees(frame, source=["a", 1], target=["b", ("c", "d")])
    gf.degrees(frame, source=datetime.date(2020, 1, 1), target=pd.Timestamp(2020, 1, 1))
    gf.degrees(untyped, source=untyped, target=untyped)
    gf.sssp(frame, source="a", target="b", weight=("km", 2), sources=1)
    gf.Graph(frame, source=["a", "b"], target=("c", "d"), weight=0, multi="sum", device="gpu")
    gf.Graph(frame, hybrid="auto").run(
        gf.EdgeOp("hops", target="level", signal="level[src] + 1", slot="min"),
        columns={"level": 1},
        direction="push",
        balance="thread",
    )


def refused(frame: pd.DataFrame, way: str, path: Path) -> None:
    """Hold calls that are refused. If one were accepted, mypy would report that its comment is not used."""
    gf.degrees(5)  # type: ignore[arg-type]
    gf.degrees(5, source=3.4)  # type: ignore[arg-type]
    gf.pagerank(5, source=3.4)  # type: ignore[call-overload]
    gf.degrees("edges.csv")  # type: ignore[arg-type]
    gf.degrees(path)  # type: ignore[arg-type]
    gf.degrees(["ab", "bc"])  # type: ignore[list-item]
    gf.degrees([1, 2])  # type: ignore[list-item]
    gf.degrees({"a": 1})  # type: ignore[dict-item]
    gf.degrees(None)  # type: ignore[arg-type]
    gf.degrees(frame, source=3.4, target="b")  # type: ignore[arg-type]
    gf.degrees(frame, source=["a", 3.4], target="b")  # type: ignore[list-item]
    gf.degrees(frame, source=frame.a, target="b")  # type: ignore[arg-type]
    gf.sssp(frame, weight=3.4, sources=1)  # type: ignore[call-overload]
    gf.pagerank(frame, multi="sumx")  # type: ignore[call-overload]
    gf.pagerank(frame, multi=way)  # type: ignore[call-overload]
    gf.pagerank(frame, precision="float16")  # type: ignore[call-overload]
    gf.pagerank(frame, device="cuda")  # type: ignore[call-overload]
    gf.bfs(frame, sources=1, direction="down")  # type: ignore[call-overload]
    gf.leiden(frame, objective="modular")  # type: ignore[call-overload]
    gf.similarity(frame, measure="jacard")  # type: ignore[call-overload]
    gf.connected_components(frame, merge="star")  # type: ignore[arg-type]
    gf.connected_components(frame, inputs="nearest")  # type: ignore[arg-type]
    gf.estimate(5)  # type: ignore[arg-type]
    gf.estimate(frame, merge="star")  # type: ignore[arg-type]
    gf.Graph(5, source=3.4)  # type: ignore[arg-type]
    gf.Graph(frame, source=3.4)  # type: ignore[arg-type]
    gf.Graph(frame, multi="sumx")  # type: ignore[arg-type]
    gf.Graph(frame, device="cpu")  # type: ignore[arg-type]
    gf.Graph(frame, hybrid="best")  # type: ignore[arg-type]
    gf.Graph(frame).bfs(1, direction="down")  # type: ignore[call-overload]
    gf.Graph(frame).leiden(objective="modular")  # type: ignore[call-overload]
    gf.Hybrid("auto", placement="best")  # type: ignore[arg-type]
    gf.EdgeOp("hops", target="level", signal="level[src]", slot="sum")  # type: ignore[arg-type]
