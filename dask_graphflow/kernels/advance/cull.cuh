// The culling filter, which removes duplicates from the next frontier.
#pragma once

// Stages of the filter (Gunrock). Each stage drops vertices that were let through before, for the reason given here.
// The first three are cheap and miss some duplicates; the last one misses none.
constexpr u32 BITMASK = 1;     // a plain read sees that the vertex's bit is set
constexpr u32 BLOCK_HASH = 2;  // the vertex was the last one in its slot of the block's table
constexpr u32 WARP_HASH = 4;   // a lower lane of the warp has the same vertex
constexpr u32 EXACT = 8;       // the atomic that sets the vertex's bit returns that it was set
constexpr u32 SLOTS = 1024;    // slots of a block's table

__device__ __forceinline__ int exchange(int* at, int value) { return atomicExch(at, value); }
__device__ __forceinline__ i64 exchange(i64* at, i64 value)
{
    return i64(atomicExch(reinterpret_cast<u64*>(at), u64(value)));
}

template <typename Index>
struct Culling {
    u32 stages;
    u32* words;    // one bit per vertex; with any stages, the bits of all vertices given to the filter get set
    Index* slots;  // in shared memory, initially -1

    // Return whether to let a vertex through. All lanes of a warp call this together.
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
