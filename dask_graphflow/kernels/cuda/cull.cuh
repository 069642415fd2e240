// The culling filter and the list it appends to: what becomes of vertices that are to be in the next frontier.
#pragma once

// Stages, each of which leaves out some vertices that were let through before (Gunrock). The first three
// are cheap and miss some; the last one misses none.
constexpr u32 BITMASK = 1;     // its bit was set long enough ago to be seen
constexpr u32 BLOCK_HASH = 2;  // it was the last one in its slot of the block's table
constexpr u32 WARP_HASH = 4;   // a lower lane of the warp has it now
constexpr u32 EXACT = 8;       // its bit was set, as the atomic that sets it says
constexpr u32 SLOTS = 1024;    // of a block's table

__device__ __forceinline__ int exchange(int* at, int value) { return atomicExch(at, value); }
__device__ __forceinline__ i64 exchange(i64* at, i64 value)
{
    return i64(atomicExch(reinterpret_cast<u64*>(at), u64(value)));
}

template <typename Index>
struct Culling {
    u32 stages;
    u32* words;    // a bit for each vertex: whatever the stages, those of all that came are set
    Index* slots;  // in shared memory, -1 at first

    // Whether to let a vertex through. All lanes of a warp together.
    __device__ __forceinline__ bool keep(bool alive, Index vertex) const
    {
        const u64 at = u64(vertex) / 32;
        const u32 bit = 1u << (u64(vertex) % 32);
        if (alive && stages & BITMASK) alive = !(words[at] & bit);
        if (alive && stages & BLOCK_HASH) alive = exchange(slots + u64(vertex) % SLOTS, vertex) != vertex;
        if (stages & WARP_HASH) {
            const u32 lanes = __ballot_sync(ALL_LANES, alive);
            if (alive) alive = !(__match_any_sync(lanes, vertex) & lanes_before());
        }
        if (alive) {
            const u32 before = atomicOr(words + at, bit);
            if (stages & EXACT) alive = !(before & bit);
        }
        return alive;
    }
};

// Append the vertices of a warp's lanes by one atomic; returns how many atomics that took. All lanes together.
template <typename Index>
__device__ __forceinline__ u32 append(Index* list, u64* tail, bool alive, Index vertex)
{
    const u32 lanes = __ballot_sync(ALL_LANES, alive);
    if (!lanes) return 0;
    u64 at = 0;
    if (lane() == 0) at = atomicAdd(tail, u64(__popc(lanes)));
    at = __shfl_sync(ALL_LANES, at, 0);
    if (alive) list[at + __popc(lanes & lanes_before())] = vertex;
    return 1;
}

// What an advance tells the host: the numbers of its report.
enum Count : u32 { TAIL, EDGES, TILES, APPENDS, SMALL, MEDIUM, LARGE, COUNTS };
