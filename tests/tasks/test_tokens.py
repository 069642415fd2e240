"""Tokens of programs: equal for equal values in every process, and cheap enough for small calls."""

from __future__ import annotations

import itertools
import subprocess
import sys
from functools import partial
from typing import NamedTuple

import dask.tokenize
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from dask.base import tokenize

import dask_graphflow as gf
from dask_graphflow.declarations.option import Choice, Flag
from dask_graphflow.tasks import expr, gang_expr, progress
from dask_graphflow.tasks.tokens import token_of

EDGES = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]})
PAIRS = [("a", "b"), ("a", "c")]
TEXTS = [pd.DataFrame({"text": texts}, dtype="str") for texts in (["ab", "c"], ["a", "bc"])]


class Pair(NamedTuple):
    first: int
    second: int


VALUES = [
    1, True, 1.0, "1", b"1", None, (1,), [1], {"a": 1}, {"b": 1}, {"a": 2}, Pair(1, 2), Pair(2, 1),
    (1, 2), max, min, pd.concat, tokenize, Flag, Choice, Flag(), Flag(optional=True), Choice(("a",)),
    Choice(("b",)), Flag().check, Choice(("a",)).check, Choice(("b",)).check, partial(tokenize, 1),
    partial(tokenize, 2), partial(tokenize, a=1), partial(max, 1), np.dtype("int32"), np.dtype(">i4"),
    np.arange(4), np.arange(4.0), np.arange(4).reshape(2, 2), np.arange(8)[::2], np.array([1, "a"], object),
    np.array(["2020"], "M8[s]"), np.array(["2020"], "M8[ns]"), EDGES, EDGES + 1, EDGES[["source"]],
    EDGES.rename(columns={"source": "a"}), EDGES.set_axis([0, 1], axis=1), EDGES.astype("int32"),
    EDGES.astype("str"), EDGES[1:], EDGES.set_index("source"), EDGES["source"], pd.Index([1]),
    EDGES.rename_axis(columns="a"), EDGES.set_axis(pd.Index(PAIRS, tupleize_cols=False), axis=1),
    EDGES.set_axis(pd.MultiIndex.from_tuples(PAIRS), axis=1), EDGES.astype("Int64"),
    *(TEXTS[0].astype(dtype) for dtype in ("str", "string[pyarrow]", pd.ArrowDtype(pa.large_string()))),
    TEXTS[1], TEXTS[0].assign(text=None), TEXTS[0].astype("category"), TEXTS[0].assign(text=b"ab"),
    *(EDGES.astype(dtype) for dtype in ("datetime64[s, UTC]", "datetime64[s, Asia/Tokyo]")),
    EDGES.astype("Int64").replace(1, pd.NA),
]  # fmt: skip


def test_different_values_have_different_tokens():
    tokens = [token_of(value) for value in VALUES]
    for (i, left), (j, right) in itertools.combinations(enumerate(tokens), 2):
        assert left != right, (VALUES[i], VALUES[j])


def test_equal_values_have_equal_tokens():
    copies = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]}), Choice(tuple("ab"))
    assert token_of(partial(tokenize, *copies), {"b": 1, "a": 2}) == token_of(
        partial(tokenize, EDGES, Choice(("a", "b"))), {"a": 2, "b": 1}
    )


def test_a_part_of_a_column_of_text_has_the_token_of_its_texts():
    whole = pd.DataFrame({"text": ["first", "ab", "c", "last"]}, dtype="str")
    assert token_of(whole[1:3].reset_index(drop=True)) == token_of(TEXTS[0])


def test_functions_have_the_same_token_in_every_process():
    program = "from dask_graphflow.tasks.tokens import *; import dask_graphflow.algorithms.bfs as a"
    command = f"{program}; print(token_of(a.bfs, a.bfs.__class__, partial(a.bfs, 1)))"
    from dask_graphflow.algorithms import bfs as module

    printed = subprocess.check_output([sys.executable, "-c", command], text=True)
    bfs = module.bfs
    assert printed.strip() == token_of(bfs, type(bfs), partial(bfs, 1))


def test_functions_without_a_module_are_told_apart_by_what_they_do():
    def make(number):
        return lambda: number

    assert token_of(make(1)) == token_of(make(1)) != token_of(make(2))


CALLS = {
    "components": (lambda graph: gf.connected_components(graph), 2),
    "degrees": (lambda graph: gf.degrees(graph), 3),
    "pagerank": (lambda graph: gf.pagerank(graph), 3),
    "neighbors": (lambda graph: gf.neighbors(graph, sources=[1]), 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_a_frame_in_memory_has_few_tasks(name):
    call, tasks = CALLS[name]
    assert len(call(EDGES).optimize().__dask_graph__()) == tasks


def test_a_call_on_text_in_memory_has_as_few_tasks():
    assert len(gf.degrees(EDGES.astype("str")).optimize().__dask_graph__()) == CALLS["degrees"][1]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_names_each_expression_once_and_pickles_nothing(monkeypatch, name):
    pickled, described = [], []
    pickle = dask.tokenize._normalize_pickle

    def count(*values):
        described.append(token_of(*values))
        return described[-1]

    monkeypatch.setattr(
        dask.tokenize, "_normalize_pickle", lambda o: (pickled.append(o), pickle(o))[1]
    )
    for module in (expr, gang_expr, progress):
        monkeypatch.setattr(module, "token_of", count)
    CALLS[name][0](EDGES).compute(scheduler="sync")
    assert all(
        one.__module__ == "dask._expr" for one in pickled
    )  # the classes of its own expressions
    assert 0 < len(described) == len(set(described)) <= 7
