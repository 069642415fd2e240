// Components of a graph whose edges are in rows. A few edges of each row are hooked first. Then most vertices of most
// graphs are in one tree, and the edges inside it are skipped.
#include "common.cuh"
#include "unite.cuh"
#include "edges.cuh"

constexpr u32 VOTERS = THREADS;

template <typename P>
__device__ __forceinline__ void hook_edge(P* parent, P u, P v)
{
    const P a = parent[u], b = parent[v];
    if (a != b) unite(parent, a, b);
}

// Hook the first `count` edges of each row. The first row is that of vertex `first`.
template <typename P>
__global__ void hook_first(P* parent, const i64* offsets, const P* ends, i64 first, u64 rows, i64 count)
{
    for (u64 row = thread_index(); row < rows; row += thread_count()) {
        const i64 begin = offsets[row], end = min(begin + count, offsets[row + 1]);
        for (i64 edge = begin; edge < end; ++edge) hook_edge(parent, P(first + i64(row)), ends[edge]);
    }
}

// Find the root that most of some vertices have as their parent. Run by one block of VOTERS threads.
template <typename P>
__global__ void choose_tree(const P* parent, u64 size, i64* root)
{
    __shared__ P votes[VOTERS];
    __shared__ u32 best;
    const u32 me = threadIdx.x;
    votes[me] = parent[size * me / VOTERS];
    if (me == 0) best = 0;
    __syncthreads();
    u32 count = 0;
    for (u32 i = 0; i < VOTERS; ++i) count += votes[i] == votes[me];
    atomicMax(&best, count * VOTERS + me);
    __syncthreads();
    if (me == 0) *root = i64(votes[best % VOTERS]);
}

// Hook the edges of all rows whose vertex has another parent than `vertex`, if each edge is in the rows of both its ends.
// The edges of a row are read by a warp.
template <typename P>
__global__ void hook_rest(P* parent, const i64* offsets, const P* ends, i64 first, u64 rows, const i64* vertex)
{
    const P skipped = parent[*vertex];
    visit_edges(offsets, rows, [&](const Span& span) {
        const bool open = span.begin < span.end && parent[first + i64(span.row)] != skipped;
        for (u32 left = __ballot_sync(ALL_LANES, open); left; left &= left - 1) {
            const u32 at = __ffs(left) - 1;
            const P row = P(first + i64(__shfl_sync(ALL_LANES, span.row, at)));
            const i64 begin = __shfl_sync(ALL_LANES, span.begin, at), end = __shfl_sync(ALL_LANES, span.end, at);
            for (i64 edge = begin + lane(); edge < end; edge += 32) hook_edge(parent, row, ends[edge]);
            __syncwarp();
        }
    });
}

// Set the bits of the vertices that have the same parent as `vertex`.
template <typename P>
__global__ void mark_tree(const P* parent, u64 size, const i64* vertex, u32* inside)
{
    const P root = parent[*vertex];
    for (u64 first = thread_index() - lane(); first < size; first += thread_count()) {
        const u32 word = __ballot_sync(ALL_LANES, first + lane() < size && parent[first + lane()] == root);
        if (lane() == 0) inside[first / 32] = word;
    }
}

// Hook all edges that have an end outside of the tree whose vertices are `inside`.
template <typename P>
__global__ void hook_outside_tree(P* parent, const i64* offsets, const P* ends, i64 first, u64 rows, const u32* inside)
{
    visit_edges(offsets, rows, [&](const Span& span) {
        visit_span(span, span.row, 0, [&](bool valid, u64 row, i64 edge) {
            if (!valid) return;
            const P near = P(first + i64(row)), far = ends[edge];
            if (!has(inside, u64(far)) || !has(inside, u64(near))) hook_edge(parent, near, far);
        });
    });
}
