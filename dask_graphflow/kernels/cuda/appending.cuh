// A list that many warps append to.
#pragma once

constexpr u32 QUEUED = 128;

// A warp appends through a queue in shared memory, so that one atomic reserves places for about a hundred vertices. All
// lanes call these functions together.
template <typename I>
struct Appending {
    I* queue;  // room for QUEUED vertices of this warp
    I* list;
    i64* count;  // length of the list; vertices are appended from there on
    bool shared = false;  // whether other members append to the list too
    u32 waiting = 0;

    __device__ __forceinline__ void add(bool mine, I vertex)
    {
        const u32 all = __ballot_sync(ALL_LANES, mine);
        if (mine) queue[waiting + __popc(all & lanes_before())] = vertex;
        waiting += __popc(all);
        if (waiting > QUEUED - 32) flush();
    }

    __device__ __forceinline__ void flush()
    {
        __syncwarp();
        if (!waiting) return;
        u64 place = 0;
        u64* length = reinterpret_cast<u64*>(count);
        if (lane() == 0) place = shared ? atomicAdd_system(length, u64(waiting)) : atomicAdd(length, u64(waiting));
        place = __shfl_sync(ALL_LANES, place, 0);
        for (u32 i = lane(); i < waiting; i += 32) list[place + i] = queue[i];
        __syncwarp();
        waiting = 0;
    }
};
