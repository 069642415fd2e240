"""Cases for compute-sanitizer: advance, and expressions per vertex."""

from __future__ import annotations

from itertools import product

import numpy as np
from sanitize_cases import VERTICES, launches, load_kernels, make_rows, vertex_edges
from scipy import sparse

from dask_graphflow.kernels.fixed_point import units
from dask_graphflow.kernels.policies import KERNELS as POLICIES
from dask_graphflow.programs.after import After
from dask_graphflow.programs.edge_op import EdgeOp, with_after
from dask_graphflow.programs.vertex_expressions import VertexReader
from dask_graphflow.programs.vertex_program import compiled


@launches("gather_degrees", "uniquify")
def advanced(kernels, parents, ids):
    """A sum and a minimum by every policy; the minimum has conditions and may stop early."""
    advance = load_kernels(kernels, "advance")
    source, target = vertex_edges(ids)
    out, into = (make_rows(kernels, ids, *pair) for pair in ((source, target), (target, source)))
    add = EdgeOp("add", target="sum", signal=f"{parents}(src)", slot="add")
    taken = {"cond": "dst % 5 > 0", "first_hit": True}
    least = EdgeOp("least", target="low", signal=f"{parents}(src)", slot="min", **taken)
    frontier = np.arange(0, VERTICES, 3).astype(ids)
    sent = source % 3 == 0
    sums = np.zeros(VERTICES, "int64")
    np.add.at(sums, target[sent], source[sent])
    lows = np.full(VERTICES, 2**30)
    sent &= target % 5 > 0
    np.minimum.at(lows, target[sent], source[sent])
    given = kernels.namespace.asarray(frontier)
    words = advance.to_words(given, VERTICES)
    sizes = np.bincount(source, minlength=VERTICES)[:2000]  # the others are mirrors
    degrees = kernels.namespace.asarray(sizes)
    on_host = kernels.__name__.endswith(".host")
    for balance in ("",) if on_host else POLICIES:
        how = {} if on_host else {"balance": balance, "thresholds": (4, 16)}
        for op, start, wanted in ((add, 0, sums), (least, 2**30, lows)):
            bound = op.bind({op.target: parents}, index_dtype=ids)
            program = bound.host_program if on_host else bound.device_program
            wanted = wanted.astype(parents)
            column = kernels.namespace.full(VERTICES, start, parents)
            moved = advance.pull(program, into, (column,), words, degrees=degrees, **how)
            changed, owned = moved.changed, np.flatnonzero(wanted[: len(degrees)] != start)
            if not on_host:
                assert moved.found == (wanted != start).sum()
                assert (moved.owned, moved.leaving) == (len(owned), sizes[owned].sum())
            np.testing.assert_array_equal(kernels.to_host(column), wanted)
            if balance != "all_edges":
                column = kernels.namespace.full(VERTICES, start, parents)
                moved = advance.push(program, out, (column,), given, degrees=degrees, **how)
                listed = moved.changed
                if not on_host:
                    assert (moved.owned, moved.leaving) == (len(owned), sizes[owned].sum())
                np.testing.assert_array_equal(kernels.to_host(column), wanted)
                assert set(kernels.to_host(listed).tolist()) == set(np.flatnonzero(wanted != start))
            assert advance.tally(changed)[0] == (wanted != start).sum()


@launches()  # advance_run, advance_after and advance_after_words are compiled for each edge program
def pushed_on(kernels, parents, ids):
    """Levels in one call: with a copy of the column that messages read, and until `after` ends them."""
    advance = load_kernels(kernels, "advance")
    source, target = (side[::4] for side in vertex_edges(ids))  # few enough
    out, into = (make_rows(kernels, ids, *pair) for pair in ((source, target), (target, source)))
    whole = sparse.csr_array((np.ones(len(source)), (source, target)), (VERTICES, VERTICES))
    start = int(np.diff(whole.indptr).argmax())
    levels = sparse.csgraph.dijkstra(whole, indices=start, unweighted=True)
    levels = np.where(np.isfinite(levels), levels, 2**30).astype(parents)
    stop = After("step < 7", always={"when": "step"})
    degrees = out.offsets[1:] - out.offsets[:-1]
    size = int(degrees[start])
    first = kernels.namespace.array([start], ids)
    for reads, after in product(("low", "copy"), (None, stop)):
        signal = f"{reads}[src] + {parents}(1)"
        op = EdgeOp("hops", target="low", signal=signal, slot="min")
        op = op if after is None else with_after(op, after)
        bound = op.bind({"low": parents, "copy": parents, "when": "int64"}, index_dtype=ids)
        low = kernels.namespace.full(VERTICES, 2**30, parents)
        low[start] = 0
        columns = {"low": low, "copy": low.copy(), "when": kernels.namespace.zeros(VERTICES, int)}
        given = tuple(columns[name] for name in op.columns)
        program = bound.host_program if kernels.__name__.endswith(".host") else bound.device_program
        before = None if reads == "low" else columns["copy"]
        run = advance.new_run(program, out, given, before)
        following, sizes, done = run.push((), first, (1, size), 2, VERTICES, (0, 0, False))
        assert (len(following), *sizes) == (0, 0, 0)
        assert done[0].tolist() == [1, size]
        last = 5 if after else levels[levels < 2**30].max()
        if reads == "low":  # a vertex can change twice
            if not after:
                np.testing.assert_array_equal(kernels.to_host(low), levels)
            continue
        wanted = np.where(levels > last, 2**30, levels)
        np.testing.assert_array_equal(kernels.to_host(low), wanted)
        np.testing.assert_array_equal(done[:, 0], np.bincount(levels[levels < last + (not after)]))
        if after:  # the first two supersteps were before the call
            reached = (wanted > 0) & (wanted < 2**30)
            when = np.where(reached, wanted + 2, 0)
            np.testing.assert_array_equal(kernels.to_host(columns["when"]), when)
            listed = kernels.namespace.arange(0, VERTICES, 3).astype(ids)
            kept, leaving = advance.after(program, given, listed, 6, degrees)
            assert sorted(kernels.to_host(kept).tolist()) == list(range(0, VERTICES, 3))
            assert leaving == int(degrees[::3].sum())
            assert len(advance.after(program, given, listed, 7, degrees)[0]) == 0
            words = advance.to_words(listed, VERTICES)
            for step, counts in (6, (len(listed), leaving)), (7, (0, 0)):
                assert advance.after_words(program, given, words, step, degrees) == counts
                assert advance.tally(words)[0] == counts[0]
            for way, step in product(("push", "pull"), (6, 7)):
                columns["low"][:] = columns["copy"]
                move, side = getattr(advance, way), out if way == "push" else into
                moved = move(program, side, given, degrees=degrees, step=step)
                found = moved.changed
                found = advance.from_words(found, np.dtype(ids)) if way == "pull" else found
                further = np.flatnonzero((levels == last + 1) & (step < 7))
                np.testing.assert_array_equal(np.sort(kernels.to_host(found)), further)
                assert moved.leaving == int(kernels.to_host(degrees)[further].sum())


@launches()  # the kernels of vertices.cuh are compiled for each set of expressions
def computed_per_vertex(kernels, parents, ids):
    """Two columns that read each other, and reductions over some of the vertices."""
    vertices = load_kernels(kernels, "vertices")
    rng = np.random.default_rng(4)
    whole = rng.integers(-9, 9, VERTICES).astype(parents)
    real = rng.normal(size=VERTICES).astype("float32" if ids == "int32" else "float64")
    exists = rng.random(VERTICES) < 0.7
    dtypes = {"whole": whole.dtype.name, "real": real.dtype.name}

    def read(text):
        return VertexReader("value", text, dtypes, {"one": parents})

    def given(reads):
        return [
            np.dtype(parents).type(1) if kind == "parameter" else there[value[0]]
            for kind, value in reads
        ]

    there = {"whole": kernels.namespace.array(whole), "real": kernels.namespace.array(real)}
    there_exists = kernels.namespace.asarray(exists)
    for name, wanted in (("whole", whole), ("real", real)):
        dtype = wanted.dtype
        program, reads = compiled((read(name).begin(),))
        found = vertices.largest(program, given(reads), there_exists, dtype)
        assert found.tolist() == [wanted[exists].max()]
        none = kernels.namespace.zeros_like(there_exists)
        assert len(vertices.largest(program, given(reads), none, dtype)) == 0
    program, reads = compiled((read("int64(whole)").begin(),))
    total = vertices.integer_total(program, given(reads), there_exists)
    assert total == int(whole[exists].sum()) % 2**64
    program, reads = compiled(
        (read("float64(real) / 0.0 if whole == 3 else float64(real)").begin(),)
    )
    total = vertices.new_float_total(program, given(reads), there_exists)
    assert total.wrong == int((exists & (whole == 3)).sum())
    program, reads = compiled((read("float64(real)").begin(),))
    total = vertices.new_float_total(program, given(reads), there_exists)
    assert (total.wrong, total.largest) == (0, abs(real[exists]).max())
    exponent = int(np.frexp(total.largest)[1])
    high, low = total.parts(exponent, VERTICES)
    coarse, fine = units(1.0, VERTICES)
    np.testing.assert_allclose(
        (high * coarse + low * fine) * 2.0**exponent, real[exists].astype(float).sum(), rtol=1e-12
    )
    trees = read(f"{parents}(real * 4.0) + one").begin(), read(f"{real.dtype}(whole)").begin()
    program, reads = compiled(trees, assigns=True)
    vertices.assign(program, given(reads), [there["whole"], there["real"]])
    wanted = (real * real.dtype.type(4)).astype(parents) + 1
    np.testing.assert_array_equal(kernels.to_host(there["whole"]), wanted)
    np.testing.assert_array_equal(kernels.to_host(there["real"]), whole.astype(real.dtype))
