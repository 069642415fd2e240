// Blocks of a spanning tree: edges outside of the tree join the tree edges of their cycles. host.py has the
// twin, and says why threads can join at the same time.
#include "common.cuh"
#include "edges.cuh"
#include "unite.cuh"

// Join the tree edges between two vertices.
template <typename I>
__device__ __forceinline__ void join_cycle(const I* above, I* block, I u, I v)
{
    I of_u = -1, of_v = -1;
    while (u != v) {
        // The vertex with the larger label is not above the other one, so the edge above it is on the cycle.
        I& end = u > v ? u : v;
        I& last = u > v ? of_u : of_v;
        const I edge = find(block, end);
        if (last >= 0 && last != edge) unite(block, last, edge);
        last = edge;
        end = above[edge];
    }
    if (of_u >= 0 && of_v >= 0 && of_u != of_v) unite(block, of_u, of_v);
}

// Join the tree edges of each cycle that consists of an edge of some rows, and of tree edges.
template <typename I>
__global__ void __launch_bounds__(THREADS) join_cycles(const i64* offsets, const I* ends, u64 rows, u64 first,
                                                       const I* label, const I* above, I* block)
{
    visit_edges(offsets, rows, [&](const Span& span) {
        visit_span(span, span.row < rows ? label[first + span.row] : I(0), 0, [&](bool valid, I own, i64 edge) {
            const I other = valid ? label[ends[edge]] : own;
            // Each edge is also in the row of its other end. Most have both ends in the same block.
            if (own < other && block[own] != block[other]) join_cycle(above, block, other, own);
        });
    });
}
