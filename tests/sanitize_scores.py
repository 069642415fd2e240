"""Cases for compute-sanitizer: sums of neighbors, and ranks."""

from __future__ import annotations

import numpy as np
from sanitize_cases import VERTICES, hub_rows, launches, load_kernels

from dask_graphflow.kernels.fixed_point import CHANGES, SUM, units
from dask_graphflow.kernels.pull import host as host_pull


@launches(
    "sum_contributions",
    "row_totals",
    "shares",
    "apply_sums",
    "sum_batch",
    "apply_batch",
)
def ranked(kernels, parents, ids):
    pagerank, scores = load_kernels(kernels, "pull"), load_kernels(kernels, "scores")
    there, rng = kernels.namespace.asarray, np.random.default_rng(4)
    for precision in ("float32", "float64"):
        _, into = hub_rows(kernels, ids, "float32" if parents == "int32" else "float64")
        given = (2.0**40 * rng.random(VERTICES)).astype(precision)
        owners = np.repeat(np.arange(VERTICES), np.diff(kernels.to_host(into.offsets)))
        near = given[kernels.to_host(into.ends)].astype("float64")
        for one, terms in (
            (into._replace(weights=None), near),
            (into, near * kernels.to_host(into.weights)),
        ):
            wanted = np.zeros(VERTICES, "int64")
            np.add.at(wanted, owners, terms.astype("int64"))
            sums, totals = kernels.namespace.zeros(VERTICES, "int64"), scores.new_totals()
            pagerank.sum_contributions(one, there(given), sums, totals)
            np.testing.assert_array_equal(kernels.to_host(sums), wanted)
            assert totals.read()[SUM] == wanted.sum()
            for width in (1, 5, 16):
                told = np.stack([given.astype("float64")] * width, axis=1)
                several = kernels.namespace.zeros((VERTICES, width), "int64")
                pagerank.sum_batch(one, there(told), several)
                for column in kernels.to_host(several).T:
                    np.testing.assert_array_equal(column, wanted)
        parts = {name: kernels.to_host(getattr(into, name)) for name in ("offsets", "weights")}
        totals = host_pull.row_totals(into._replace(**parts))
        np.testing.assert_allclose(
            totals, np.bincount(owners, parts["weights"], VERTICES), rtol=1e-12
        )
        np.testing.assert_array_equal(kernels.to_host(pagerank.row_totals(into)), totals)
        rank = kernels.namespace.zeros(VERTICES, precision)
        shares = there(rng.integers(0, 2, VERTICES).astype(precision))
        part = 2.0**-12  # a rank; they are to sum to 1 at most
        restart = there(np.array([part]))
        for leaving in (rng.integers(0, 3, VERTICES), 1e-300 * rng.integers(0, 3, VERTICES)):
            share = kernels.namespace.empty(VERTICES, precision)
            counts = pagerank.shares(there(leaving), 1e-20, share)
            ends = np.count_nonzero(leaving == 0)
            fits = leaving.dtype.kind == "i"
            assert counts == (0 if fits else VERTICES - ends, ends)
            with np.errstate(divide="ignore"):
                wanted = np.where(leaving > 0, 2.0**62 / leaving if fits else np.nan, 0)
            np.testing.assert_array_equal(kernels.to_host(share), wanted.astype(precision))
        totals = scores.new_totals()
        none = into._replace(offsets=into.offsets * 0, ends=into.ends[:0], weights=None)
        ranks = pagerank.new_ranks(rank, shares, kernels.namespace.zeros(VERTICES, rank.dtype))
        ranks = pagerank.iterate(none, ranks, restart, None, 0.75, lambda: 1 / 3, totals)
        assert (totals.read()[CHANGES] / pagerank.CHANGE).tolist() == [
            part / 2 * VERTICES,
            part / 2 * (VERTICES - float(shares.sum())),
        ]
        np.testing.assert_array_equal(
            kernels.to_host(ranks.contribution), kernels.to_host(shares) * rank.dtype.type(part / 2)
        )
        several, told = (kernels.namespace.zeros((VERTICES, 5), "float64") for _ in range(2))
        at, base = np.array([-1, 7, 0, -1, VERTICES - 1]), np.array([1, 0.5, 0.25, 1, 1])
        wide = shares.astype("float64")
        nothing = kernels.namespace.zeros((VERTICES, 5), "int64")
        totals = pagerank.apply_batch(nothing, several, wide, told, there(at), base, 0.85)
        wanted = np.zeros((VERTICES, 5))
        wanted[at, range(5)] = base * (at >= 0)
        np.testing.assert_array_equal(kernels.to_host(several), wanted)
        owned = kernels.to_host(wide)[:, None]
        np.testing.assert_array_equal(kernels.to_host(told), wanted * owned)
        sinks = wanted * (owned == 0)
        np.testing.assert_array_equal(
            totals / pagerank.CHANGE, [wanted.sum(axis=0), sinks.sum(axis=0)]
        )


@launches("total", "combine", "scale")
def scored(kernels, parents, ids):
    """New scores from sums, divided by their norm or their total, and the sum of any values."""
    scores, there = load_kernels(kernels, "scores"), kernels.namespace.asarray
    whole = np.random.default_rng(4).integers(0, 2**40, VERTICES)
    high, low, wrong = scores.total(there(whole / 2.0), 2.0**39, VERTICES)
    coarse, fine = units(2.0**39, VERTICES)
    assert (high * coarse + low * fine, wrong) == (whole.sum() / 2, 0)
    for precision in ("float32", "float64"):
        for sums in (whole, whole / 1.0):
            old, new, wide = (kernels.namespace.ones(VERTICES, "float64") for _ in range(3))
            totals, squares = scores.new_totals(), units(2.0**82, VERTICES)
            scores.combine(there(sums.copy()), old, 3.0, 2.0, new, squares, totals)
            wanted = 3 + 2.0 * whole
            np.testing.assert_array_equal(kernels.to_host(new), wanted)
            wide = wide.astype(precision)
            scores.scale(new, old, wide, squares, 7.0, 0.0, 1.0, VERTICES, totals)
            wanted /= np.linalg.norm(wanted)
            np.testing.assert_allclose(kernels.to_host(old), wanted, rtol=1e-13)
            unit = 2.0 ** (np.frexp(7 * wanted.max())[1] - 61)
            np.testing.assert_allclose(kernels.to_host(wide), wanted / unit, rtol=1e-6)
            high, low = totals.read()[CHANGES].tolist()
            coarse, fine = units(1.0, VERTICES)
            np.testing.assert_allclose(high * coarse + low * fine, (1 - wanted).sum(), rtol=1e-12)
        totals.write(np.array([int(whole.sum()), *[0] * 6]))
        scores.scale(there(whole.copy()), old, wide, squares, 0.0, 1.0, 1.0, VERTICES, totals)
        np.testing.assert_array_equal(kernels.to_host(old), whole / whole.sum())
        now = totals.read()
        totals.turn()
        np.testing.assert_array_equal(totals.read_before(), now)
