// Which row an edge belongs to, and the walk over all edges of all rows.
#pragma once

constexpr u32 TILE = 8 * THREADS;  // edges that a block takes at a time

// The last of the places from low to high whose number is at most `wanted`. That of `low` is.
__device__ __forceinline__ u64 last_at_most(const i64* numbers, u64 low, u64 high, i64 wanted)
{
    while (low < high) {
        const u64 middle = high - (high - low) / 2;
        if (numbers[middle] <= wanted)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Call f(row, edge, valid) for the edges from `edge` to before `stop`, at most TILE of them: neighbouring
// lanes have neighbouring edges, and all lanes of a warp call together. The block searches the rows of its
// first and last edge; a thread searches only between those two, where all it reads is in L1.
template <typename F>
__device__ __forceinline__ void each_of_tile(const i64* offsets, u64 rows, u64 first, u64 stop, F f)
{
    __shared__ u64 ends[2];
    if (threadIdx.x < 2) ends[threadIdx.x] = last_at_most(offsets, 0, rows - 1, threadIdx.x ? stop - 1 : first);
    __syncthreads();
    const u64 low = ends[0], high = ends[1];
    for (u64 base = first + threadIdx.x / 32 * 32; base < stop; base += blockDim.x) {
        const u64 edge = base + lane();
        const bool valid = edge < stop;
        f(valid ? last_at_most(offsets, low, high, edge) : ~0ull, edge, valid);
    }
    __syncthreads();  // before the next tile's ends are written
}
