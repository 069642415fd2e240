// Make rows from an edge list; host.py has the twins. Times are predictions for 2^30 edges of int between 2^26
// vertices on one H200, assuming 4 TB/s of its memory bandwidth. All kernels but two are limited by sequential memory
// reads and writes.
//
// Rows are made block by block. A block is a range of consecutive rows that have an eighth of the edges. Its edges are
// selected from the whole list as keys, which consist of a row within the block and a column. Then they are sorted and
// written. So in addition to the edge list and the rows, memory is needed only for an eighth of the keys and for their
// copy. All keys at once would take twice as much memory as the edge list.
#include "common.cuh"
#include "edge_op.cuh"
#include "search.cuh"

constexpr int EACH = 16;        // edges or keys that a lane processes at a time
constexpr u64 RUN = 32 * EACH;  // edges or keys that a warp processes at a time
constexpr u32 BINS = 4096;      // most bins

// Edges, and the rows that are wanted. The host writes this struct.
template <typename I>
struct Edges {
    const I* source;
    const I* target;
    u64 count;
    const I* labels;  // null: a vertex is its own label
    i64 first;        // the first row
    u64 rows;
    u64 both;  // whether an edge is in the rows of both of its ends

    // Return the row of an end; `rows` or more if the row is not wanted. The type is as wide as ids, because there are
    // no more rows than ids.
    __device__ __forceinline__ typename edge::Unsigned<I>::type row(I end) const
    {
        using U = typename edge::Unsigned<I>::type;
        return U(labels ? labels[end] : end) - U(first);
    }
};

// Count how often each id occurs. Limited by 2^30 atomics on memory that does not fit in L2: 20 ms.
template <typename I>
__global__ void count_ids(const I* ids, u64 count, i64 first, u32* counts, u64 size)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 at = u64(i64(__ldcs(ids + i))) - u64(first);
        if (at < size) atomicAdd(counts + at, 1u);
    }
}

// Count the entries of every 2^shift rows. Reading one end of each edge takes 1.2 ms; both ends take 2.4 ms.
template <typename I>
__global__ void row_bins(Edges<I> edges, u32 shift, u64* bins)
{
    __shared__ u32 counts[BINS];  // a block sees fewer than 2^32 edges
    for (u32 i = threadIdx.x; i < BINS; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (u64 edge = thread_index(); edge < edges.count; edge += thread_count()) {
        const I u = __ldcs(edges.source + edge);
        const u64 row = edges.row(u);
        if (row < edges.rows) atomicAdd(counts + (row >> shift), 1u);
        if (!edges.both) continue;
        const I v = __ldcs(edges.target + edge);
        const u64 other = edges.row(v);
        if (v != u && other < edges.rows) atomicAdd(counts + (other >> shift), 1u);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < BINS; i += blockDim.x)
        if (counts[i]) atomicAdd(bins + i, u64(counts[i]));
}

// The edges that a warp processes at a time: RUN edges from `first` on, in chunks. Each lane has consecutive edges of a
// chunk, 16 bytes that are read at once.
template <typename I>
struct Look {
    static constexpr int NEAR = 16 / sizeof(I), CHUNKS = EACH / NEAR;
    static constexpr int BITS = 64 / CHUNKS;  // enough to count the entries of a chunk
    I u[EACH], v[EACH];
    u32 out = 0, into = 0;  // one bit per edge: whether it is in the row of its source, and of its target
    u64 before, total;      // one field per chunk: number of entries in the lanes before this one, and in all lanes

    static __device__ __forceinline__ u64 edge(u64 first, int i)
    {
        return first + i / NEAR * (32 * NEAR) + lane() * NEAR + i % NEAR;
    }

    static __device__ __forceinline__ u32 field(u64 fields, int chunk)
    {
        return u32(fields >> chunk * BITS) & ((1u << BITS) - 1);
    }

    static __device__ __forceinline__ void read(const I* ends, u64 first, u64 count, I (&into)[EACH])
    {
        if (first + RUN <= count) {
            const bool aligned = reinterpret_cast<u64>(ends) % 16 == 0;
#pragma unroll
            for (int i = 0; i < EACH; i += NEAR)
                load_streaming(ends + edge(first, i), aligned, reinterpret_cast<I(&)[NEAR]>(into[i]));
        } else {
#pragma unroll
            for (int i = 0; i < EACH; ++i) into[i] = edge(first, i) < count ? __ldcs(ends + edge(first, i)) : I(0);
        }
    }

    // Read the edges and return the number of entries that the warp has found. All lanes call this together.
    __device__ __forceinline__ u32 take(const Edges<I>& edges, u64 first)
    {
        read(edges.source, first, edges.count, u);
        if (edges.both) read(edges.target, first, edges.count, v);
        u64 mine = 0;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const bool there = edge(first, i) < edges.count;
            const bool leaves = there && edges.row(u[i]) < edges.rows;
            const bool enters = edges.both && there && u[i] != v[i] && edges.row(v[i]) < edges.rows;
            out |= u32(leaves) << i;
            into |= u32(enters) << i;
            mine += u64(leaves + enters) << i / NEAR * BITS;
        }
        before = running_sum(mine);
        total = __shfl_sync(ALL_LANES, before, 31);
        before -= mine;
        u32 all = 0;
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; ++chunk) all += field(total, chunk);
        return all;
    }
};

// Count the entries of each run of edges, so that `select` can write them in the order of the edges.
template <typename I>
__global__ void __launch_bounds__(THREADS) count_selected(Edges<I> edges, i64* counts)
{
    for (u64 run = thread_index() / 32; run * RUN < edges.count; run += thread_count() / 32) {
        Look<I> look;
        const u32 total = look.take(edges, run * RUN);
        if (lane() == 0) counts[run] = total;
    }
}

// Write the entries of the wanted rows as keys, and the index of each entry's edge. Without `places`, their order is
// arbitrary; this is allowed if equal keys are equal entries. Reads the whole list and writes an eighth: 2.4 ms per
// block of rows, 4.3 ms measured. All warps of a block share one atomic on the cursor. With one atomic per warp, and
// ends read 4 bytes at a time, it took 10.6 ms.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    select(Edges<I> edges, u32 width, const i64* places, u64* cursor, u64* keys, i64* picked)
{
    constexpr u32 WARPS = THREADS / 32;
    __shared__ u32 found[WARPS];
    __shared__ u64 begin;
    const u32 warp = threadIdx.x / 32;
    for (u64 base = u64(blockIdx.x) * WARPS; base * RUN < edges.count; base += u64(gridDim.x) * WARPS) {
        const u64 run = base + warp;
        Look<I> look;
        const u32 total = look.take(edges, run * RUN);
        u64 at;
        if (places) {
            if (!total) continue;
            at = u64(places[run]) - total;  // `places` is the host's running sum of the counts, where each run ends
        } else {
            if (lane() == 0) found[warp] = total;
            __syncthreads();
            if (threadIdx.x == 0) {
                u32 all = 0;
                for (u32 i = 0; i < WARPS; ++i) all += found[i];
                begin = atomicAdd(cursor, u64(all));
            }
            __syncthreads();
            at = begin;
            for (u32 i = 0; i < warp; ++i) at += found[i];
            __syncthreads();  // needed before `found` and `begin` are overwritten
            if (!total) continue;
        }
        if (!edges.both) {
#pragma unroll
            for (int i = 0; i < EACH; ++i)
                if (look.out >> i & 1) look.v[i] = __ldcs(edges.target + look.edge(run * RUN, i));
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int chunk = i / look.NEAR;
            if (i % look.NEAR == 0 && i) at += look.field(look.total, chunk - 1);
            // The bits of this lane's earlier edges in the chunk.
            const u32 earlier = ((1u << i % look.NEAR) - 1) << (i - i % look.NEAR);
            u64 to = at + look.field(look.before, chunk) + __popc(look.out & earlier) + __popc(look.into & earlier);
            if (look.out >> i & 1) {
                keys[to] = u64(edges.row(look.u[i])) << width | u64(look.v[i]);
                if (picked) picked[to] = i64(look.edge(run * RUN, i));
                ++to;
            }
            if (look.into >> i & 1) {
                keys[to] = u64(edges.row(look.v[i])) << width | u64(look.u[i]);
                if (picked) picked[to] = i64(look.edge(run * RUN, i));
            }
        }
    }
}

// Return whether a sorted key is the first of its value.
__device__ __forceinline__ bool is_head(const u64* keys, u64 at) { return at == 0 || keys[at] != keys[at - 1]; }

// Count the distinct keys in each run of sorted keys.
__global__ void count_heads(const u64* keys, u64 count, i64* counts)
{
    for (u64 run = thread_index() / 32; run * RUN < count; run += thread_count() / 32) {
        u32 total = 0;
        for (int i = 0; i < EACH; ++i) {
            const u64 at = run * RUN + i * 32 + lane();
            total += __popc(__ballot_sync(ALL_LANES, at < count && is_head(keys, at)));
        }
        if (lane() == 0) counts[run] = total;
    }
}

// Write sorted keys as ends, and count the edges of each row. With `heads`, the running sum of the number of distinct
// keys in each run, only one of several equal keys is written. Reads 8 bytes per key and writes 4: 3.3 ms for all
// blocks together.
template <typename E>
__global__ void write_rows(const u64* keys, u64 count, u32 width, const i64* heads, const E* labels, E* ends,
                           u64* degrees)
{
    const u64 mask = (1ull << width) - 1;
    for (u64 run = thread_index() / 32; run * RUN < count; run += thread_count() / 32) {
        u64 before = !heads ? run * RUN : run ? u64(heads[run - 1]) : 0;
#pragma unroll 4
        for (int i = 0; i < EACH; ++i) {
            const u64 at = run * RUN + i * 32 + lane();
            const bool there = at < count;
            const bool kept = there && (!heads || is_head(keys, at));
            const u32 lanes = __ballot_sync(ALL_LANES, kept);
            const u64 upto = before + __popc(lanes & (lanes_before() << 1 | 1));
            before += __popc(lanes);
            if (!there) continue;
            const u64 row = keys[at] >> width, end = keys[at] & mask;
            if (kept) ends[upto - 1] = labels ? labels[end] : E(end);
            // The first key of a row subtracts the number of ends before it from the row's degree. The last key adds
            // the number of ends up to itself.
            if (at == 0 || keys[at - 1] >> width != row) atomicAdd(degrees + row, ~(upto - 1) + 1);
            if (at + 1 == count || keys[at + 1] >> width != row) atomicAdd(degrees + row, upto);
        }
    }
}

// Combine the weights of equal keys to one weight: their sum in the order of the edges, the smallest, or the first. Set
// `wrong` if a sum of integers does not fit W. Wraparounds are counted, because only the final value has to fit.
template <typename W>
__global__ void write_weights(const u64* keys, u64 count, const i64* heads, const W* sorted, u32 policy,
                              W* weights, u32* wrong)
{
    constexpr bool INTEGERS = W(1) / W(2) == W(0);
    for (u64 run = thread_index() / 32; run * RUN < count; run += thread_count() / 32) {
        u64 before = run ? u64(heads[run - 1]) : 0;
        for (int i = 0; i < EACH; ++i) {
            const u64 at = run * RUN + i * 32 + lane();
            const bool kept = at < count && is_head(keys, at);
            const u32 lanes = __ballot_sync(ALL_LANES, kept);
            if (kept) {
                W weight = sorted[at];
                i64 wraps = 0;
                for (u64 next = at + 1; policy != 3 && next < count && keys[next] == keys[at]; ++next) {
                    const W other = sorted[next];
                    if (policy == 1) {
                        const W sum = edge::add(weight, other);
                        if (INTEGERS && (other >= W(0)) != (sum >= weight)) wraps += other >= W(0) ? 1 : -1;
                        weight = sum;
                    } else if (other < weight)
                        weight = other;
                }
                if (wraps) *wrong = 1;
                weights[before + __popc(lanes & lanes_before())] = weight;
            }
            before += __popc(lanes);
        }
    }
}

// Write the vertex of each edge's row. Writes 4 bytes per edge, and searches for the row in L1: 4 ms.
template <typename E>
__global__ void __launch_bounds__(THREADS) owners(const i64* offsets, u64 rows, i64 first, E* out)
{
    const u64 edges = offsets[rows];
    for (u64 tile = u64(blockIdx.x) * TILE; tile < edges; tile += u64(gridDim.x) * TILE)
        each_of_tile(offsets, rows, tile, min(tile + TILE, edges), [&](u64 row, u64 edge, bool valid) {
            if (valid) out[edge] = E(first + i64(row));
        });
}

// Copy rows of ids as rows of labels. `names` contains the old row of each new row. Limited by reading 2^30 labels,
// most of them from L2, because most reads are for hubs: 12 ms.
template <typename E>
__global__ void __launch_bounds__(THREADS)
    relabel(const i64* old_offsets, const E* old_ends, const void* old_weights, u64 bytes, i64 old_first,
            const E* labels, const E* names, const i64* offsets, u64 rows, E* ends, void* weights)
{
    const u64 edges = offsets[rows];
    for (u64 tile = u64(blockIdx.x) * TILE; tile < edges; tile += u64(gridDim.x) * TILE)
        each_of_tile(offsets, rows, tile, min(tile + TILE, edges), [&](u64 row, u64 edge, bool valid) {
            if (!valid) return;
            const u64 from = u64(old_offsets[i64(names[row]) - old_first]) + (edge - u64(offsets[row]));
            ends[edge] = labels[old_ends[from]];
            if (bytes == 4) static_cast<u32*>(weights)[edge] = static_cast<const u32*>(old_weights)[from];
            if (bytes == 8) static_cast<u64*>(weights)[edge] = static_cast<const u64*>(old_weights)[from];
        });
}
