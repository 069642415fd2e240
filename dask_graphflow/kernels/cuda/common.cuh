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
struct None {};  // the type of weights if there are none; their pointer is null

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

// Merge the values of LANES neighboring lanes, which all get the result. All lanes of a warp call these functions together.
template <u32 LANES, typename T, typename Merge>
__device__ __forceinline__ T warp_merge(T value, Merge merge)
{
#pragma unroll
    for (u32 d = LANES / 2; d; d /= 2) value = merge(value, __shfl_xor_sync(ALL_LANES, value, d));
    return value;
}
template <u32 LANES = 32, typename T>
__device__ __forceinline__ T warp_sum(T value) { return warp_merge<LANES>(value, [](T a, T b) { return a + b; }); }
template <u32 LANES = 32, typename T>
__device__ __forceinline__ T warp_max(T value) { return warp_merge<LANES>(value, [](T a, T b) { return max(a, b); }); }
template <u32 LANES = 32, typename T>
__device__ __forceinline__ T warp_min(T value) { return warp_merge<LANES>(value, [](T a, T b) { return min(a, b); }); }

// Return the sum of the values of the lanes up to this one. All lanes of a warp call it together.
template <typename T>
__device__ __forceinline__ T running_sum(T value)
{
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(ALL_LANES, value, step);
        if (lane() >= step) value += other;
    }
    return value;
}

// Return the place for a lane's item after the end of a list. The warp reserves its places with one atomic. All lanes
// call it together.
__device__ __forceinline__ i64 place_for(bool mine, i64* count)
{
    const u32 all = __ballot_sync(ALL_LANES, mine);
    if (!all) return 0;
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(reinterpret_cast<u64*>(count), u64(__popc(all)));
    return i64(__shfl_sync(ALL_LANES, place, 0)) + __popc(all & lanes_before());
}

// Set a number if it is the expected one; return what it was.
__device__ __forceinline__ int compare_and_swap(int* at, int expected, int desired)
{
    return atomicCAS(at, expected, desired);
}
__device__ __forceinline__ i64 compare_and_swap(i64* at, i64 expected, i64 desired)
{
    return i64(atomicCAS(reinterpret_cast<u64*>(at), u64(expected), u64(desired)));
}

// Return the index of the first entry of a sorted row that is not less than a value.
template <typename T>
__device__ __forceinline__ i64 first_of(const T* entries, i64 low, i64 high, i64 value)
{
    while (low < high) {
        const i64 middle = (low + high) >> 1;
        if (entries[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// SplitMix64: a random number for each counter of a key.
__device__ __forceinline__ u64 hash_of(u64 key, u64 counter)
{
    u64 mixed = key + counter * 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return mixed ^ (mixed >> 31);
}

// Return the exponent e of a number m * 2^e, with m from 0.5 to below 1.
__device__ __forceinline__ int exponent_of(double value)
{
    int exponent;
    frexp(value, &exponent);
    return exponent;
}

// The predecessor of a vertex that has none yet: the largest number of the type.
template <typename I>
__device__ __forceinline__ I never();
template <>
__device__ __forceinline__ int never<int>() { return 0x7fffffff; }
template <>
__device__ __forceinline__ i64 never<i64>() { return 0x7fffffffffffffffll; }
