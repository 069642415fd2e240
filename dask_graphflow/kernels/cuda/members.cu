// A search over the members of a gang: what a member has found among its own vertices and its mirrors, and
// what others have found for it. Those of its own are numbered from 0, and mirrors from `owned` on.
#include "common.cuh"
#include "edges.cuh"

// Append `vertex` where `mine` is set to a list of `count` so far; all lanes of a warp call it together.
template <typename I>
__device__ __forceinline__ void append(bool mine, I vertex, I* list, u64* count)
{
    const u32 all = __ballot_sync(ALL_LANES, mine);
    if (!all) return;
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(count, u64(__popc(all)));
    place = __shfl_sync(ALL_LANES, place, 0);
    if (mine) list[place + __popc(all & lanes_before())] = vertex;
}

// Sort what a push found into own vertices and mirrors. `counts`: found, own, mirrors, edges of own.
template <typename I>
__global__ void part_found(const I* found, u64* counts, u64 owned, I low, const i64* offsets, u32* seen, I* predecessor,
                           I* own, I* mirrors)
{
    const u64 count = counts[0], end = (count + 31) / 32 * 32;
    for (u64 i = thread_index(); i < end; i += thread_count()) {
        const bool valid = i < count;
        const I vertex = valid ? found[i] : I(0);
        const bool mine = valid && u64(vertex) < owned;
        if (valid) {
            predecessor[vertex] += low;  // its number among all vertices
            atomicOr(seen + u64(vertex) / 32, 1u << (u64(vertex) % 32));
        }
        append(mine, vertex, own, counts + 1);
        append(valid && !mine, vertex, mirrors, counts + 2);
        const u64 edges = warp_sum(mine ? offsets[u64(vertex) + 1] - offsets[vertex] : i64(0));
        if (lane() == 0 && edges) atomicAdd(counts + 3, edges);
    }
}

// Take the predecessors that another member offers to vertices, each once. `counts`: new ones, their edges.
template <typename I>
__global__ void take_offers(const I* vertices, const I* offers, u64 count, int depth, const i64* offsets, u32* seen,
                            I* predecessor, int* level, I* list, u64* counts)
{
    const u64 end = (count + 31) / 32 * 32;
    for (u64 i = thread_index(); i < end; i += thread_count()) {
        bool fresh = false;
        I vertex = 0;
        if (i < count) {
            vertex = vertices[i];
            fresh = level[vertex] < 0;
            if (fresh) {
                level[vertex] = depth;
                atomicOr(seen + u64(vertex) / 32, 1u << (u64(vertex) % 32));
            }
            if (level[vertex] == depth) predecessor[vertex] = min(predecessor[vertex], offers[i]);
        }
        append(fresh, vertex, list, counts);
        const u64 edges = warp_sum(fresh ? offsets[u64(vertex) + 1] - offsets[vertex] : i64(0));
        if (lane() == 0 && edges) atomicAdd(counts + 1, edges);
    }
}

// Count the vertices of a bitmap, and the edges of their rows; a warp takes a word.
__global__ void tally(const u64* words, u64 size, const i64* offsets, u64* counts)
{
    u64 vertices = 0;
    i64 edges = 0;
    for (u64 i = thread_index() / 32; i < size; i += thread_count() / 32) {
        const u64 word = words[i];
        if (lane() == 0) vertices += __popcll(word);
        for (u32 bit = lane(); bit < 64; bit += 32)
            if (word >> bit & 1) edges += offsets[i * 64 + bit + 1] - offsets[i * 64 + bit];
    }
    const u64 all = warp_sum(edges);
    if (lane() == 0 && vertices) atomicAdd(counts, vertices);
    if (lane() == 0 && all) atomicAdd(counts + 1, all);
}
