// Search for the row of an edge, and a loop over all edges of all rows.
#pragma once

constexpr u32 TILE = 8 * THREADS;  // edges that a block takes at a time

// Return the last index from low to high whose number is at most `wanted`. The number at `low` must not be larger.
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

// Call f(row, edge, valid) for the edges from `first` to before `stop`, at most TILE of them. Adjacent lanes get
// consecutive edges, and all lanes of a warp call f together. The block searches for the rows of its first and last
// edge. Each thread then searches only between those two rows, so that all it reads is in L1.
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
    __syncthreads();  // needed before the ends of the next tile are written
}
