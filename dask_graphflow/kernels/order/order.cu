// Vertices that take values one after another, in an order. host.py has the twin.
//
// A group of threads, a warp or a block, takes the next vertex in the order, and waits for the values of those neighbors
// that come before it. These vertices were taken before, so their groups run already, and none waits forever. The group
// lists the neighbors that it has to wait for while it reads the row, and waits at the end. So it goes on at once when
// the last of them gets its value.
#include "common.cuh"

constexpr u32 WARP = 32, BLOCK = THREADS;  // threads of a group
constexpr u32 BITS = 32;                   // of a word
constexpr u32 ROOM = 4;                    // neighbors to wait for, per thread, that a group can list

template <u32 GROUP>
__device__ __forceinline__ void meet()
{
    if (GROUP == WARP)
        __syncwarp(ALL_LANES);
    else
        __syncthreads();
}

// Give each vertex of the order, from the index `turn` on, the smallest number that no neighbor before it has. Until
// then, the value of the vertex at index i is -1 - i. A group has a bit for each number in `words` words of shared memory.
template <typename I, u32 GROUP>
__global__ void __launch_bounds__(THREADS)
    first_free(const i64* offsets, const I* ends, const I* order, i64 count, I* values, u64* turn, u32 words)
{
    extern __shared__ u32 all_taken[];
    __shared__ I all_listed[THREADS * ROOM];
    __shared__ u32 lengths[THREADS / GROUP], least[THREADS / GROUP];
    __shared__ i64 turns[THREADS / GROUP];
    const u32 group = threadIdx.x / GROUP, own = threadIdx.x % GROUP;
    u32* const taken = all_taken + group * words;
    I* const listed = all_listed + group * GROUP * ROOM;
    for (;;) {
        if (own == 0) {
            turns[group] = i64(atomicAdd(turn, 1ull));
            least[group] = words * BITS;
            lengths[group] = 0;
        }
        for (u32 word = own; word < words; word += GROUP) taken[word] = 0;
        meet<GROUP>();
        const i64 at = turns[group];
        if (at >= count) return;
        const u64 vertex = u64(order[at]);
        const i64 end = offsets[vertex + 1];
        const auto read = [&](I near) { return *const_cast<const volatile I*>(values + near); };
        const auto missing = [&](I seen) { return seen < 0 && i64(-1 - seen) < at; };
        const auto mark = [&](I seen) {
            // A vertex with fewer edges than there are bits does not need the larger numbers.
            if (seen >= 0 && u64(seen) < words * BITS) atomicOr(taken + seen / BITS, 1u << seen % BITS);
        };
        const auto wait = [&](I near) {
            I seen = read(near);
            while (missing(seen)) seen = read(near);
            mark(seen);
        };
        for (i64 k = offsets[vertex] + own; k < end; k += GROUP) {
            const I near = ends[k], seen = read(near);
            if (!missing(seen)) {
                mark(seen);
                continue;
            }
            const u32 place = atomicAdd(lengths + group, 1u);
            if (place < GROUP * ROOM)
                listed[place] = near;
            else
                wait(near);
        }
        meet<GROUP>();
        const u32 length = min(lengths[group], GROUP * ROOM);
        for (u32 i = own; i < length; i += GROUP) wait(listed[i]);
        meet<GROUP>();
        for (u32 word = own; word < words; word += GROUP) {
            const u32 left = ~taken[word];
            if (!left) continue;
            atomicMin(least + group, word * BITS + u32(__ffs(int(left))) - 1);
            break;
        }
        meet<GROUP>();
        if (own == 0) *const_cast<volatile I*>(values + vertex) = I(least[group]);
        meet<GROUP>();  // the number is read before the next vertex begins
    }
}
