// Definitions for every kernel file: short integer names, grid-stride loops, streaming loads, lanes.
//
// sources.py pastes this file in place of its #include, because CuPy caches compiled code by its source text and
// would not notice a changed header.
#pragma once

#ifndef THREADS
#define THREADS 256  // threads per block
#endif

using i64 = long long;
using u64 = unsigned long long;
using u32 = unsigned int;

constexpr u32 ALL_LANES = 0xffffffffu;

// Grid-stride loops: a grid of any size processes any number of items. Thread t takes items t, t + threads, ...
__device__ __forceinline__ u64 thread_index() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 thread_count() { return u64(gridDim.x) * blockDim.x; }

// Call `use(i, load(i))` for every `step`-th i from `first` to before `count`. N items are loaded before the first of them
// is used: the compiler moves no load ahead of a store to the same array, so each item would wait for memory alone.
template <int N, typename Load, typename Use>
__device__ __forceinline__ void in_batches(u64 first, u64 count, u64 step, Load load, Use use)
{
    for (; first < count; first += N * step) {
        decltype(load(first)) loaded[N];
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (first + i * step < count) loaded[i] = load(first + i * step);
#pragma unroll
        for (int i = 0; i < N; ++i)
            if (first + i * step < count) use(first + i * step, loaded[i]);
    }
}
template <int N, typename Load, typename Use>
__device__ __forceinline__ void in_batches(u64 count, Load load, Use use)
{
    in_batches<N>(thread_index(), count, thread_count(), load, use);
}

// Return the number of items before the first one at a 16-byte boundary.
template <typename T>
__device__ __forceinline__ u64 items_to_boundary(const T* items)
{
    return (16 - reinterpret_cast<u64>(items) % 16) % 16 / sizeof(T);
}

// Read N items, 16 bytes at a time if `aligned`. The loads bypass the caches, since each item is used only once.
template <int N, typename T>
__device__ __forceinline__ void load_streaming(const T* from, bool aligned, T (&into)[N])
{
    constexpr int EACH = 16 / sizeof(T);
    static_assert(N % EACH == 0, "whole 16-byte words");
    if (aligned) {
#pragma unroll
        for (int i = 0; i < N; i += EACH) {
            const uint4 word = __ldcs(reinterpret_cast<const uint4*>(from + i));
            memcpy(into + i, &word, 16);
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; ++i) into[i] = __ldcs(from + i);
    }
}

__device__ __forceinline__ u32 lane() { return threadIdx.x % 32; }
__device__ __forceinline__ u32 lanes_before() { return (1u << lane()) - 1; }

// The predecessor of a vertex that has none yet: the largest number of the type.
template <typename I>
__device__ __forceinline__ I never();
template <>
__device__ __forceinline__ int never<int>() { return 0x7fffffff; }
template <>
__device__ __forceinline__ i64 never<i64>() { return 0x7fffffffffffffffll; }
