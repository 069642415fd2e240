// Edges in equal shares: a warp takes a tile of consecutive edges, regardless of their rows.
//
// `offsets` describes the rows: row i has the edges from offsets[i] to before offsets[i + 1], and offsets[0] is 0. For
// a list of rows, the running sum of their sizes serves as `offsets`; the edges are then numbered in the order of the
// list. All lanes of a warp call these functions together.
#pragma once

constexpr u32 SMALLEST_TILE = 256, LARGEST_TILE = 4096;  // edges

__device__ __forceinline__ u64 warp_index() { return thread_index() / 32; }
__device__ __forceinline__ u64 warp_count() { return thread_count() / 32; }

// Return how many edges a warp takes at a time: enough to pay for finding their rows, and few enough that all warps get
// some.
__device__ __forceinline__ i64 tile_size(i64 edges)
{
    const i64 even = i64(edges / i64(warp_count() * 4)) / 32 * 32;
    return min(max(even, i64(SMALLEST_TILE)), i64(LARGEST_TILE));
}

// Return the row of an edge. The 32 lanes try 32 rows at a time.
__device__ __forceinline__ u64 row_of(const i64* offsets, u64 rows, i64 edge)
{
    u64 low = 0, size = rows;
    while (size > 1) {
        const u64 step = (size + 31) / 32, at = lane() * step;
        const bool before = at < size && offsets[low + at] <= edge;
        const u32 last = __popc(__ballot_sync(ALL_LANES, before)) - 1;
        low += last * step;
        size = min(step, size - last * step);
    }
    return low;
}

// 32 rows of a tile, one per lane, and their edges in the tile.
struct Span {
    u64 row;         // the lane's row
    i64 first, last;  // the edges of all lanes, from first to before last
    i64 begin, end;   // the edges of the lane's row, from begin to before end
    bool whole;      // whether these are all edges of the row
};

// Call visit(Span) for the rows of a tile's edges, 32 at a time.
template <typename Visit>
__device__ __forceinline__ void visit_tile(const i64* offsets, u64 rows, i64 edge, i64 stop, Visit visit)
{
    u64 row = row_of(offsets, rows, edge);
    while (edge < stop) {
        Span span;
        span.row = row + lane();
        const i64 begin = offsets[min(span.row, rows)], end = offsets[min(span.row + 1, rows)];
        span.first = edge;
        span.last = min(stop, __shfl_sync(ALL_LANES, end, 31));
        if (span.last <= edge) {  // 32 rows without edges, maybe followed by many more
            row = row_of(offsets, rows, edge);
            continue;
        }
        span.begin = min(max(begin, edge), span.last);
        span.end = min(max(end, edge), span.last);
        span.whole = begin == span.begin && end == span.end;
        visit(span);
        edge = span.last;
        row += 32;
    }
}

// Call visit(Span) for the rows of all edges. The warps of the grid share the edges.
template <typename Visit>
__device__ __forceinline__ void visit_edges(const i64* offsets, u64 rows, Visit visit)
{
    const i64 edges = offsets[rows], tile = tile_size(edges);
    for (i64 first = i64(warp_index()) * tile; first < edges; first += i64(warp_count()) * tile)
        visit_tile(offsets, rows, first, min(first + tile, edges), visit);
}

// Return the lane whose row has an edge of a span.
__device__ __forceinline__ u32 owner_of(const Span& span, i64 edge)
{
    const int begin = int(span.begin - span.first), place = int(edge - span.first);
    u32 at = 0;
#pragma unroll
    for (u32 step = 16; step; step /= 2)
        if (__shfl_sync(ALL_LANES, begin, at + step) <= place) at += step;
    return at;
}

// Call visit(valid, own, edge) for the edges of a span. `own` and `shift` are the lane's: what its row has, and what is
// added to the number of an edge of its row. All lanes of a warp call `visit` together.
template <typename T, typename Visit>
__device__ __forceinline__ void visit_span(const Span& span, T own, i64 shift, Visit visit)
{
    for (i64 base = span.first; base < span.last; base += 32) {
        const i64 at = base + lane();
        const u32 owner = owner_of(span, min(at, span.last - 1));
        const i64 edge = at + __shfl_sync(ALL_LANES, shift, owner);
        visit(at < span.last, __shfl_sync(ALL_LANES, own, owner), edge);
    }
}

__device__ __forceinline__ void add_to(i64* total, i64 value)
{
    atomicAdd(reinterpret_cast<u64*>(total), u64(value));
}

// Return whether a vertex is in a bitmap.
__device__ __forceinline__ bool has(const u32* words, u64 vertex) { return words[vertex / 32] >> (vertex % 32) & 1; }

// Statistics of a list of vertices: its length, the sum of the sizes of their rows, and the size of the largest row.
struct Listed {
    i64 count, edges, largest;
};
