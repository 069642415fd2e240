"""Plans are computed from the graph's size: Groute's table, and this library's."""

from __future__ import annotations

import pytest

from dask_graphflow.components.plan import Plan


@pytest.mark.parametrize(
    ("vertices", "edges", "workers", "chunk", "merge_chunk", "rounds", "segments"),
    [
        (1000, 8000, 1, 1000, 500, 0, 1),  # dense from E/V = 8 on
        (1000, 7999, 1, 7999, 125, 1, 15),  # min(1.5 * 7999, E)
        (1000, 4000, 4, 1500, 125, 1, 8),  # 1.5 * 1000
        (1 << 20, 1 << 24, 2, 1 << 20, 1 << 19, 0, 1),
        (264_346, 365_050, 8, 68_448, 33_043, 1, 2),
        (10, 3, 8, 2, 1, 1, 1),  # fewer edges than workers
        (0, 0, 1, 1, 1, 1, 1),
    ],
)
def test_chunks_rounds_and_segments(vertices, edges, workers, chunk, merge_chunk, rounds, segments):
    plan = Plan.groute(vertices, edges, workers)
    assert (plan.chunk, plan.merge_chunk) == (chunk, merge_chunk)
    assert (plan.rounds, plan.segments) == (rounds, segments)


@pytest.mark.parametrize(
    ("vertices", "edges", "workers", "buffers", "merge_buffers"),
    [
        (1000, 8000, 1, 7, 2),  # 8 chunks * 0.88
        (1000, 100_000, 1, 88, 2),
        (1000, 100_000, 4, 22, 2),
        (1000, 16_000, 8, 2, 2),  # never fewer than two
        (1000, 2000, 1, 2, 8),  # sparse: 8 for the reduction
    ],
)
def test_buffers(vertices, edges, workers, buffers, merge_buffers):
    plan = Plan.groute(vertices, edges, workers)
    assert (plan.buffers, plan.merge_buffers) == (buffers, merge_buffers)


def test_the_default_samples_and_takes_a_partition_whole():
    plan = Plan.for_graph(1000, 50_000)
    assert plan.chunk == 50_000
    assert plan.step > 1
    assert plan.rounds == 0
