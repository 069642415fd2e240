"""Every policy compiles with edge programs, for every GPU generation. This takes no GPU."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import numpy as np
import pytest
import test_cuda_compile
from expressions import CUDA, above_three, add_one
from test_cuda_compile import FOLDER, GENERATIONS, options_for

from dask_graphflow import EdgeOp
from dask_graphflow.algorithms.betweenness_centrality import generations, level_sums, tight_edges
from dask_graphflow.algorithms.topological_order import NEXT, REMOVE
from dask_graphflow.kernels import policies, sources
from dask_graphflow.operators.advance import float_sums
from dask_graphflow.operators.search import multi_search
from dask_graphflow.programs.edge_op import with_after
from dask_graphflow.programs.vertex_expressions import VertexReader
from dask_graphflow.programs.vertex_program import compiled, without_reductions

nvrtc = test_cuda_compile.nvrtc

BY_HAND = EdgeOp.from_code(
    "by_hand", target="level", slot="or", columns=[], signal=add_one, cond=above_three, cuda=CUDA
)


def each(name):
    return EdgeOp("each", target=name, signal=f"{name}[dst]", slot="max")


# The columns of the programs that follow tight edges.
TIGHT = dict.fromkeys(("waits", "exponent", "largest", "whole", "unit", "sums", "asked"), "int64")
TIGHT |= {"distance": "float64", "level": "int32"}


def tight(op, otherwise, weight_dtype, *, after=None, backward=False):
    op = tight_edges.only_tight(op, otherwise, backward=backward)
    op = op if after is None else with_after(op, after)
    columns = {name: TIGHT[name] for name in op.columns}
    return op.bind(columns, index_dtype="int32", weight_dtype=weight_dtype)


PROGRAMS = [
    tight(generations.COUNT, 0, "float64"),
    tight(generations.RELEASE, 0, "float32", after=generations.READY),
    tight(tight_edges.ASK, 0, "int64", backward=True),
    tight(level_sums.LARGEST, level_sums.LOWEST, "float32"),
    tight(level_sums.SUM, 0, "float64", backward=True),
    EdgeOp(
        "hops",
        target="level",
        signal="level[src] + 1",
        slot="min",
        cond="level[dst] > 9",
        first_hit=True,
    ).bind({"level": "int32"}, index_dtype="int32"),
    EdgeOp("cost", target="cost", signal="cost[src] + weight", slot="min").bind(
        {"cost": "float64"}, index_dtype="int64", weight_dtype="float32"
    ),
    EdgeOp("top", target="top", signal="top[src] * weight", slot="max").bind(
        {"top": "float32"}, index_dtype="int32", weight_dtype="float32"
    ),
    EdgeOp("most", target="most", signal="src", slot="max", cond="not seen[dst]").bind(
        {"most": "int64", "seen": "bool"}, index_dtype="int64"
    ),
    EdgeOp(
        "bits",
        target="seen",
        signal="seen[src] & open[dst] << shift",
        slot="or",
        params={"shift": np.uint64(3)},
    ).bind({"seen": "uint64", "open": "uint64"}, index_dtype="int32"),
    EdgeOp("total", target="total", signal="share[src]", slot="add").bind(
        {"total": "int64", "share": "int32"}, index_dtype="int32"
    ),
    BY_HAND.bind({"level": "int32"}, index_dtype="int32"),
    with_after(REMOVE, NEXT).bind(
        {"entering": "int64", "generation": "int32"}, index_dtype="int32"
    ),
    with_after(multi_search.REACH, multi_search._pass_on(multi_search.INVERSES)).bind(
        {"seen": "uint64", "visit": "uint64", "visit_next": "uint64", "harmonic": "float64"},
        index_dtype="int64",
    ),
    with_after(replace(multi_search.REACH, name="reach_only"), multi_search._pass_on({})).bind(
        {"seen": "uint64", "visit": "uint64", "visit_next": "uint64"}, index_dtype="int32"
    ),
    with_after(each("largest"), float_sums.UNIT).bind(
        {"largest": "float64", "scale": "float64", "spare": "int32"}, index_dtype="int32"
    ),
    with_after(each("target"), float_sums._apply_sums("float32")).bind(
        {"target": "float32", "scale": "float64", "sums": "int64"}, index_dtype="int32"
    ),
]


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("bound", PROGRAMS, ids=lambda bound: bound.op.name)
def test_policies_compile_for_every_generation(nvrtc, bound, generation):
    program = bound.device_program
    names = {
        policies.expression(program, balance, pulls=pulls)
        for balance in policies.KERNELS
        for pulls in (False, True)
    }
    # The policies share four kernels. Each can pull and push, and two also push with the filter.
    assert len(names) == 10
    names |= {
        policies.other_expression(kernel, program)
        for kernel in ("advance_run", "advance_after", "advance_after_words")
    }
    names |= {
        policies.other_expression("advance_deliver", program, ids) for ids in ("int32", "int64")
    }
    lowered, size, log = nvrtc.compile(
        policies.text(program), "advance.cu", options_for(generation), tuple(sorted(names))
    )
    assert len(set(lowered)) == len(names)
    assert size > 0
    assert not log, f"the compiler warns:\n{log}"


VALUES = {
    "a": "a / max(degree, 1) + share * total(b if degree == 0 else 0)",
    "b": "float32(a // b % 3.0 if c >> 2 > int(d) else b)",
    "c": "-c // largest(before(c) * 2)",
    "d": "d & ~uint64(c) | 7",
    "e": "not e or a < before(a)",
}


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("assigns", [True, False], ids=["assign", "reduce"])
def test_expressions_per_vertex_compile_for_every_generation(nvrtc, assigns, generation):
    dtypes = dict(zip(VALUES, ("float64", "float32", "int64", "uint64", "bool"), strict=True))
    trees = [
        VertexReader(name, text, dtypes, {"share": "float64"}).value(name)
        for name, text in VALUES.items()
    ]
    reductions, roots = without_reductions(trees)
    assert [reduction.kind for reduction in reductions] == ["total", "largest"]
    arguments = [(reduction.argument,) for reduction in reductions]
    for step in [roots] if assigns else [*((root,) for root in roots[:4]), *arguments]:
        program, _ = compiled(step, assigns=assigns)
        dtype = step[0].dtype
        kernels = ["assign_values"] if assigns else ["largest_value"]
        if dtype == "float64" and not assigns:
            kernels += ["largest_magnitude", "sum_floats"]
        if dtype in ("int64", "uint64") and not assigns:
            kernels.append("sum_integers")
        names = tuple(f"{kernel}<Values>" for kernel in kernels)
        code = sources.source("vertices.cuh") + program.struct
        lowered, size, log = nvrtc.compile(code, "vertices.cu", options_for(generation), names)
        assert len(set(lowered)) == len(names)
        assert size > 0
        assert not log, f"the compiler warns:\n{log}"


def constants(file):
    found = re.findall(r"constexpr \w+ (\w+) = (\d+);", sources.source(file))
    return {name: int(value) for name, value in found}


def assigned(module):
    """Return the numbers, and the names in a row, that a module assigns."""
    found = {}
    for node in ast.parse((FOLDER / module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0]).strip("()")] = ast.unparse(node.value)
    return found


def test_numbers_that_python_and_the_kernels_share_are_the_same():
    rows, cull = constants("rows.cu"), constants("advance.cu")
    python = assigned("rows/device.py")
    assert python["EACH, BINS"] == f"({rows['EACH']}, {rows['BINS']})"
    assert "constexpr u64 RUN = 32 * EACH;" in sources.source("rows.cu")
    assert python["RUN"] == "32 * EACH"
    assert f"constexpr u32 TILE = {python['TILE_LANES']} * THREADS;" in sources.source("rows.cu")
    stages = {"bitmask": "BITMASK", "block": "BLOCK_HASH", "warp": "WARP_HASH", "exact": "EXACT"}
    assert {name: cull[constant] for name, constant in stages.items()} == policies.STAGES
    (enumerated,) = re.findall(r"enum Count : u32 \{ (.*?) \};", sources.source("advance.cu"))
    assert assigned("device_bitmap.py")[enumerated] == "range(10)"
    assert assigned("common/giant.py")["FILTERED"] == str(constants("giant.cu")["FILTERED"])
    rounds = constants("forest.cu")["ROUNDS"]
    assert assigned("common/device.py")["ROUNDS, RUN"] == str((rounds, 32 * rounds))
    assert "constexpr u64 RUN = 32 * ROUNDS;" in sources.source("forest.cu")


def test_the_task_that_the_host_writes_has_the_members_of_the_kernels():
    """By their order; each has 8 bytes."""

    def members(name):
        given = re.findall(
            rf"struct {name} \{{\n(.*?)\n\}};", sources.source("advance.cuh"), re.DOTALL
        )
        return [
            name.strip(" *").split()[-1].strip("*")
            for line in re.sub(r"//.*", "", given[0]).split(";")
            if line.strip()
            for name in line.split(",")
        ]

    (edges,) = re.findall(r"struct Edges \{\n(.*?)\n\n", sources.source("rows.cu"), re.DOTALL)
    ends = [line.split(";")[0].split()[-1].strip("*") for line in edges.splitlines()]
    for module, variable, wanted in (
        ("advance/device.py", "_TASK", members("Task")),
        ("advance/device.py", "_RUN", members("Run")),
        ("rows/device.py", "_EDGES", ends),
    ):
        value = assigned(module)[variable]
        words = " ".join(re.findall(r"'([^']*)'", value)).split()
        named = [name for name in words if not re.fullmatch("[ui]8", name)]
        assert named == wanted
