"""Random edge programs, and their correct results computed in plain NumPy."""

from __future__ import annotations

import ast
import math
import warnings
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from expressions import reference
from oracles.oracle import Outcome, Wrong

import dask_graphflow as gf
from dask_graphflow.exceptions import ExpressionError

VALUES: dict[str, list[Any]] = {
    "int64": [0, 1, -1, 7, -7, 2**62, -(2**63), 2**63 - 1, 2**53 + 1, 3],
    "int32": [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 5],
    "float64": [0.0, -0.0, 1.5, -7.0, math.inf, -math.inf, math.nan, 1e308, 5e-324, 2.0**53, 0.1],
    "float32": [0.0, -0.0, 1.5, -7.0, math.inf, math.nan, 3e38, 1e-45, 0.1, 16777217.0],
}
LEAVES = ["a[src]", "b[src]", "weight", "0", "1", "2", "-3", "0.5", "7", "inf", "1e300"]
QUESTIONS = ["<", "<=", "==", "!=", ">", ">="]
STEPS = 4


def run(rng: Random) -> Outcome:
    """Run a random program for a few supersteps, and compare every vertex.

    Raises
    ------
    Wrong
        The value of a vertex differs from the one that NumPy finds.
    """
    vertices = rng.choice([1, 3, 12])
    count = rng.choice([1, 5, 30])
    source, target = ([rng.randrange(vertices) for _ in range(count)] for _ in range(2))
    weights = [rng.choice(VALUES["float64"]) for _ in range(count)]
    weights = [0.0 if weight != weight else weight for weight in weights]
    dtypes = {name: rng.choice(list(VALUES)) for name in ("a", "b", "t")}
    slot = rng.choice(["min", "max"])
    # A signal that reads its own target may see values of the same superstep, so only the end is known.
    spreads = rng.random() < 0.3
    other = "max" if slot == "min" else "min"
    made = (
        rng.choice(["t[src]", f"{other}(t[src], a[src])", f"{other}(weight, t[src])"])
        if spreads
        else _expression(rng, rng.choice([1, 2]))
    )
    signal = f"{dtypes['t']}({made})"
    ids = rng.choice(
        [range(vertices), range(5, 5 + vertices), [7 + i * 2**40 for i in range(vertices)]]
    )
    used = sorted({*source, *target})
    start = {
        name: np.array([rng.choice(VALUES[kind]) for _ in used], kind)
        for name, kind in dtypes.items()
    }
    about = (
        f"{slot} {signal} {dtypes} {start} edges {list(zip(source, target, weights, strict=True))}"
    )
    try:
        op = gf.EdgeOp("fuzzed", target="t", signal=signal, slot=slot)
        frame = pd.DataFrame(
            {"s": [ids[i] for i in source], "d": [ids[i] for i in target], "w": weights}
        )
        begin = pd.DataFrame(
            {"vertex": [ids[i] for i in used], **{n: start[n] for n in op.columns}}
        )
        graph = gf.Graph(frame, source="s", target="d", weight="w")
        columns = {name: np.zeros(1, dtypes[name])[0] for name in op.columns}
        direction = rng.choice(["gemini", "push", "pull"])
        about += f" {direction}"
        found = graph.run(
            op,
            columns=columns,
            start=begin,
            max_iter=None if spreads else STEPS,
            direction=direction,
        ).compute()
    except ExpressionError as error:
        return Outcome("refused", f"{type(error).__name__}: {error}")
    except BaseException as error:
        error.add_note(about)
        raise
    place = {vertex: i for i, vertex in enumerate(used)}
    edges = [(place[s], place[d], w) for s, d, w in zip(source, target, weights, strict=True)]
    try:
        expected = _steps(
            ast.parse(signal, mode="eval").body,
            start,
            edges,
            dtypes["t"],
            slot,
            400 if spreads else STEPS,
        )
    except (OverflowError, ZeroDivisionError):
        return Outcome("unfit")  # an error in Python's own arithmetic
    got = found["t"].to_numpy()
    if not np.array_equal(got, expected, equal_nan=dtypes["t"].startswith("float")):
        raise Wrong(f"{about}\nfound {got}, expected {expected}")
    return Outcome("right program")


def _steps(tree: Any, start: dict[str, Any], edges: Any, dtype: str, slot: str, most: int) -> Any:
    """Return the target after a few supersteps in which the vertices that changed send messages."""
    target = start["t"].copy()
    active = set(range(len(target)))
    combine = np.minimum if slot == "min" else np.maximum
    for _ in range(most):
        before = target.copy()
        columns = start | {"t": before}
        for s, d, weight in edges:
            if s in active:
                with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                    value = reference(tree, {"src": s, "weight": np.float64(weight)}, columns)
                message = np.dtype(dtype).type(value)
                target[d] = combine(target[d], message)
        same = (target == before) | ((target != target) & (before != before))
        active = set(np.flatnonzero(~same).tolist())
        if not active:
            break
    return target


def _expression(rng: Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(LEAVES)
    left, right = _expression(rng, depth - 1), _expression(rng, depth - 1)
    kind = rng.random()
    if kind < 0.5:
        return f"({left} {rng.choice(['+', '-', '*', '/', '//', '%'])} {right})"
    if kind < 0.65:
        return f"{rng.choice(['min', 'max'])}({left}, {right})"
    if kind < 0.7:
        return f"abs({left})"
    if kind < 0.75:
        return f"({left}) ** {rng.choice([1, 2, 3])}"
    if kind < 0.88:
        return f"({left} if {right} {rng.choice(QUESTIONS)} {_expression(rng, depth - 1)} else {right})"
    return f"{rng.choice(list(VALUES))}({left})"
