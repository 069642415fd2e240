// Choose which members get each edge. Each member owns a range of the vertices.
#include "common.cuh"

// Write one bitmap per member of the edges that it gets: those whose source it owns or, with `target`, either end.
// `owners` contains the owner of every 2^shift vertices. A warp writes 32 bits at once.
template <typename I>
__global__ void choose(const I* source, const I* target, u64 count, u32 shift, const short* owners, u32 members,
                       u64 stride, u32* halves)
{
    const u64 end = (count + 63) / 64 * 64;  // the last word is written completely
    for (u64 i = thread_index(); i < end; i += thread_count()) {
        u32 own = members, other = members;
        if (i < count) {
            own = u32(owners[u64(__ldcs(source + i)) >> shift]);
            other = target ? u32(owners[u64(__ldcs(target + i)) >> shift]) : own;
        }
        for (u32 member = 0; member < members; ++member) {
            const u32 bits = __ballot_sync(ALL_LANES, own == member || other == member);
            if (lane() == 0) halves[member * stride + i / 32] = bits;
        }
    }
}

// Count the ids in each grain of 2^shift ids, using counters in shared memory.
template <typename I>
__global__ void count_grains(const I* ids, u64 count, u32 shift, u32 grains, u64* total)
{
    extern __shared__ u32 counts[];  // a block sees fewer than 2^32 ids
    for (u32 i = threadIdx.x; i < grains; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 grain = u64(__ldcs(ids + i)) >> shift;
        if (grain < grains) atomicAdd(counts + grain, 1u);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < grains; i += blockDim.x)
        if (counts[i]) atomicAdd(total + i, u64(counts[i]));
}
